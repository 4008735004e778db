//! Cases of folds: arrays of many layouts, and what they are folded to in other ways.

#![allow(clippy::unwrap_used)]

use std::fmt;

use weft_array::loops::{load, store};
use weft_array::{AlongAxes, Axes, Emit, Space, State, Walk, fold_axes};
use weft_ir::interp::{Machine, Options};
use weft_ir::order::{BLOCK, CHAINS, CHUNKS, LEAST, ROW};
use weft_ir::{
    BinOp, Builder, Const, FuncId, FuncKind, Function, Label, Layout as Strides, Module, Op, ReduceOp, Scalar, Space as Memory, Spread,
    StmtKind, Type, UnOp, ViewType, eval,
};
use weft_tile::fold::{Axis, Fold, FoldOp, Outer, Types};

/// How an array lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    C,
    Fortran,
    /// Every axis runs backwards.
    Backwards,
    /// With room between the elements.
    Spread,
    /// The first axis is the same all over.
    Repeated,
    /// The last axis but one runs fastest; elements are not aligned.
    Odd,
}

pub struct Sample(u64);

impl Sample {
    pub fn new(seed: u64) -> Sample {
        Sample(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 20
    }

    /// Mostly numbers of like size, whose sums round; now and then zeros, and where nothing but extremes is wanted NaNs and infinities.
    fn number(&mut self, scalar: Scalar, wild: bool) -> Const {
        let (n, kind) = (self.next(), self.next() % 97);
        let x = match kind {
            0..4 => 0.0,
            4..8 => -0.0,
            8 if wild && n.is_multiple_of(20) => f64::NAN,
            9 if wild => f64::INFINITY,
            10 if wild => f64::NEG_INFINITY,
            _ => ((n % 2001) as f64 - 1000.0) / 997.0 * (1.0 + (n % 7) as f64),
        };
        let number = match scalar {
            Scalar::Bool => Const::Bool(n.is_multiple_of(2)),
            int if int.is_int() => Const::Int(int, int.wrap(n as i64 - (1 << 30))),
            Scalar::C64 => Const::C64((x as f32).to_bits(), ((n % 13) as f32 / 6.0 - 1.0).to_bits()),
            Scalar::C128 => Const::C128(x.to_bits(), ((n % 13) as f64 / 6.0 - 1.0).to_bits()),
            float => eval::cast(Const::f64(x), float).unwrap(),
        };
        assert_eq!(number.scalar(), scalar);
        number
    }
}

pub struct Case {
    op: FoldOp,
    types: Types,
    shape: Vec<u64>,
    folded: Vec<usize>,
    layout: Layout,
    memory: Vec<u8>,
    first: i64,
    strides: Vec<i64>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case {
            op, types, shape, folded, ..
        } = self;
        write!(f, "{op:?} of {types:?}, {shape:?} along {folded:?}, {:?}", self.layout)
    }
}

pub fn is_defined(op: FoldOp, types: Types) -> bool {
    Fold::new(op, types, &[], &[]).is_some()
}

/// The IR's name of an operator.
pub fn reduction(op: FoldOp) -> Option<ReduceOp> {
    Some(match op {
        FoldOp::Add => ReduceOp::Add,
        FoldOp::Multiply => ReduceOp::Mul,
        FoldOp::Maximum => ReduceOp::Max,
        FoldOp::Minimum => ReduceOp::Min,
        FoldOp::And => ReduceOp::And,
        FoldOp::Or => ReduceOp::Or,
        FoldOp::Xor => ReduceOp::Xor,
        FoldOp::Fmax | FoldOp::Fmin => return None,
    })
}

fn is_nan(c: Const) -> bool {
    eval::unary(UnOp::IsNan, c) == Some(Const::Bool(true))
}

/// The same bits; NaNs are alike, and so are zeros where the greatest or the least is wanted.
pub fn same(op: FoldOp, a: &Const, b: &Const) -> bool {
    let extreme = matches!(op, FoldOp::Maximum | FoldOp::Minimum | FoldOp::Fmax | FoldOp::Fmin);
    let equal = || eval::compare(weft_ir::CmpOp::Eq, *a, *b) == Some(true);
    a == b || is_nan(*a) && is_nan(*b) || extreme && equal()
}

impl Case {
    pub fn new(op: FoldOp, types: Types, shape: &[u64], folded: &[usize], layout: Layout, sample: &mut Sample) -> Case {
        let size = types.elem.size() as i64;
        let mut axes: Vec<usize> = (0..shape.len()).collect();
        match layout {
            Layout::Fortran => axes.reverse(),
            Layout::Odd if axes.len() > 1 => axes.swap(shape.len() - 2, shape.len() - 1),
            _ => {}
        }
        let mut strides = vec![0; shape.len()];
        let mut bytes = if layout == Layout::Spread { 3 * size } else { size };
        for &axis in axes.iter().rev() {
            if layout == Layout::Repeated && axis == 0 {
                continue;
            }
            strides[axis] = bytes;
            bytes *= shape[axis].max(1) as i64;
        }
        let mut first = if layout == Layout::Odd { 1 } else { 0 };
        if layout == Layout::Backwards {
            for (stride, &extent) in strides.iter_mut().zip(shape) {
                first += *stride * (extent.max(1) as i64 - 1);
                *stride = -*stride;
            }
        }
        let wild = !matches!(op, FoldOp::Add | FoldOp::Multiply);
        let mut memory = vec![0; 1];
        while (memory.len() as i64) < bytes + 2 * size {
            memory.extend(sample.number(types.elem, wild).to_bytes());
        }
        if layout != Layout::Odd {
            memory.remove(0);
        }
        Case {
            op,
            types,
            shape: shape.to_vec(),
            folded: folded.to_vec(),
            layout,
            memory,
            first,
            strides,
        }
    }

    fn kept(&self) -> Vec<usize> {
        (0..self.shape.len()).filter(|axis| !self.folded.contains(axis)).collect()
    }

    fn results(&self) -> usize {
        self.kept().iter().map(|&axis| self.shape[axis]).product::<u64>() as usize
    }

    fn made(&self) -> Fold {
        let mut step = self.types.result.size() as i64;
        let mut outer: Vec<Outer> = Vec::new();
        for &axis in self.kept().iter().rev() {
            let (extent, input) = (self.shape[axis], self.strides[axis]);
            let output = step;
            outer.insert(0, Outer { extent, input, output });
            step *= extent as i64;
        }
        let inner = self.folded.iter().map(|&axis| Axis {
            extent: self.shape[axis],
            stride: self.strides[axis],
        });
        Fold::new(self.op, self.types, &outer, &inner.collect::<Vec<_>>()).unwrap()
    }

    fn consts(&self, out: &[u8]) -> Vec<Const> {
        let size = self.types.result.size();
        let read = |bytes: &[u8]| Const::from_bytes(self.types.result, bytes).unwrap();
        out.chunks_exact(size).take(self.results()).map(read).collect()
    }

    fn input(&self) -> *const u8 {
        self.memory.as_ptr().wrapping_offset(self.first as isize)
    }

    pub fn fold(&self) -> Vec<Const> {
        let fold = self.made();
        let mut out = vec![0x55; self.results() * self.types.result.size()];
        // SAFETY: the arrays are as large as extents and strides say.
        unsafe { fold.run(self.input(), out.as_mut_ptr(), 0..fold.units()) };
        self.consts(&out)
    }

    /// Chunk by chunk, as threads would share it.
    pub fn in_parts(&self) -> Vec<Const> {
        let fold = self.made();
        let mut out = vec![0x55; self.results() * self.types.result.size()];
        for unit in 0..fold.units() {
            let size = fold.part_size();
            let mut parts = vec![0u128; (size * fold.chunks() as usize).div_ceil(16) + 1];
            let memory = parts.as_mut_ptr().cast::<u8>();
            for chunk in (0..fold.chunks()).rev() {
                // SAFETY: the arrays are as large as extents and strides say.
                unsafe { fold.part(self.input(), unit, chunk, memory.add(size * chunk as usize)) };
            }
            // SAFETY: the arrays are as large as extents and strides say.
            unsafe { fold.join(unit, memory, size, out.as_mut_ptr()) };
        }
        self.consts(&out)
    }

    fn element(&self, point: &[u64]) -> Const {
        let offset: i64 = point.iter().zip(&self.strides).map(|(&i, stride)| i as i64 * stride).sum();
        let at = (self.first + offset) as usize;
        let elem = Const::from_bytes(self.types.elem, &self.memory[at..at + self.types.elem.size()]).unwrap();
        eval::cast(elem, self.types.compute).unwrap()
    }

    /// By the order's documentation, word for word.
    pub fn reference(&self) -> Vec<Const> {
        let extents: Vec<u64> = self.folded.iter().map(|&axis| self.shape[axis]).collect();
        let kept = self.kept();
        let outer: Vec<u64> = kept.iter().map(|&axis| self.shape[axis]).collect();
        let value = |at: &[u64]| {
            let of = |inner: &[u64]| {
                let mut point = vec![0; self.shape.len()];
                kept.iter().zip(at).for_each(|(&axis, &i)| point[axis] = i);
                self.folded.iter().zip(inner).for_each(|(&axis, &i)| point[axis] = i);
                self.element(&point)
            };
            let all = ordered(self.op, self.types.compute, &extents, &of);
            eval::cast(all, self.types.result).unwrap()
        };
        points(&outer).iter().map(|at| value(at)).collect()
    }

    /// By the loops that compiled code is made of.
    pub fn interpreted(&self) -> Vec<Const> {
        let module = module(self.op, self.types, self.shape.len(), &self.folded);
        let mut machine = Machine::new(&module, Options::default()).unwrap();
        let extents = |axes: &[usize]| axes.iter().map(|&axis| self.shape[axis] as i64).collect::<Vec<_>>();
        let all: Vec<usize> = (0..self.shape.len()).collect();
        let input = machine.buffer(self.memory.clone());
        let a = machine.view(input, self.types.elem, &extents(&all));
        let output = machine.buffer(vec![0; self.results() * self.types.result.size()]);
        let out = machine.view(output, self.types.result, &extents(&self.kept()));
        machine.call(&[a, out]).unwrap();
        self.consts(machine.bytes(output))
    }
}

fn points(extents: &[u64]) -> Vec<Vec<u64>> {
    extents.iter().fold(vec![vec![]], |points, &extent| {
        let with = |point: &Vec<u64>| {
            let point = point.clone();
            (0..extent).map(move |i| [point.clone(), vec![i]].concat())
        };
        points.iter().flat_map(with).collect()
    })
}

fn join(op: FoldOp, a: Const, b: Const) -> Const {
    if let Some(op) = reduction(op) {
        return eval::binary(op.binary(), a, b).unwrap();
    }
    let binary = if op == FoldOp::Fmax { BinOp::Max } else { BinOp::Min };
    match (is_nan(a), is_nan(b)) {
        (true, _) => b,
        (_, true) => a,
        _ => eval::binary(binary, a, b).unwrap(),
    }
}

/// What changes nothing, and what a fold starts from.
fn first(op: FoldOp, scalar: Scalar) -> (Const, Const) {
    let Some(reduce) = reduction(op) else {
        let nan = eval::cast(Const::f64(f64::NAN), scalar).unwrap();
        return (nan, nan);
    };
    // Devices have no products of complex numbers.
    let one = || eval::cast(Const::i64(1), scalar).unwrap();
    let identity = reduce.identity(scalar).unwrap_or_else(one);
    let start = if op == FoldOp::Add { eval::zero(scalar) } else { identity };
    (identity, start)
}

fn ordered(op: FoldOp, scalar: Scalar, extents: &[u64], element: &dyn Fn(&[u64]) -> Const) -> Const {
    let (identity, start) = first(op, scalar);
    let all = points(extents);
    if op == FoldOp::Multiply && scalar.is_complex() {
        return all.iter().fold(start, |so_far, point| join(op, so_far, element(point)));
    }
    let columns = extents.last().copied().unwrap_or(1);
    let rows_per_block = match columns {
        0 => 1,
        _ if columns < ROW => BLOCK / columns,
        _ => 1,
    };
    let mut blocks: Vec<Vec<Const>> = Vec::new();
    let mut last = None;
    for (n, point) in all.iter().enumerate() {
        let (row, column) = (n as u64 / columns, n as u64 % columns);
        let place = (row / rows_per_block, column / BLOCK);
        if last != Some(place) {
            blocks.push(vec![identity; CHAINS as usize]);
            last = Some(place);
        }
        let chain = &mut blocks.last_mut().unwrap()[(column % CHAINS) as usize];
        *chain = join(op, *chain, element(point));
    }
    let tree = |mut chains: Vec<Const>| {
        while chains.len() > 1 {
            let second = chains.split_off(chains.len() / 2);
            chains.iter_mut().zip(second).for_each(|(a, b)| *a = join(op, *a, b));
        }
        chains[0]
    };
    let per_row = columns.div_ceil(BLOCK).max(1);
    let mut per_chunk = (blocks.len() as u64).div_ceil(CHUNKS).max(LEAST);
    if extents.len() > 1 {
        per_chunk = per_chunk.next_multiple_of(per_row);
    }
    let in_order = |parts: Vec<Const>| parts.into_iter().fold(identity, |a, b| join(op, a, b));
    let chunks = blocks.chunks(per_chunk as usize);
    let chunks = chunks.map(|chunk| in_order(chunk.iter().cloned().map(tree).collect()));
    join(op, start, in_order(chunks.collect()))
}

struct Writer(Builder);

impl Emit for Writer {
    fn builder(&mut self) -> &mut Builder {
        &mut self.0
    }

    fn label(&mut self) -> Label {
        Label(0)
    }
}

fn module(op: FoldOp, types: Types, rank: usize, folded: &[usize]) -> Module {
    let axes = Axes::new(rank, folded);
    let view = |elem, rank: usize, writable| ViewType {
        elem,
        rank: rank as u8,
        layout: Strides::C,
        space: Memory::Global,
        writable,
    };
    let (a, out) = (view(types.elem, rank, false), view(types.result, rank - folded.len(), true));
    let mut func = Function::new("f", FuncKind::Host);
    let array = (func.new_param(Type::View(a), "a"), a);
    let result = (func.new_param(Type::View(out), "out"), out);
    let mut writer = Writer(Builder::new(func));
    let extents: Vec<_> = (0..rank)
        .map(|axis| writer.0.emit(Type::I64, Op::Dim(array.0, axis as u8)))
        .collect();
    let (outer, inner) = axes.split(&extents);
    let in_order = op == FoldOp::Multiply && types.compute.is_complex();
    let walk = if in_order { Walk::InOrder } else { Walk::Spread(Spread::Lanes) };
    let along = AlongAxes {
        axes: &axes,
        outer: Space {
            walk: Walk::InOrder,
            extents: &outer,
        },
        inner: Space { walk, extents: &inner },
        states: &[State {
            scalar: types.compute,
            op: reduction(op).unwrap(),
        }],
    };
    let (_, start) = first(op, types.compute);
    let written: Result<(), std::convert::Infallible> = fold_axes(
        &mut writer,
        &along,
        &mut |e| vec![e.0.constant(start)],
        &mut |e, at| {
            let x = load(&mut e.0, array, at);
            Ok(vec![e.0.cast(x, types.compute)])
        },
        &mut |e, at, results| {
            let value = e.0.cast(results[0], types.result);
            store(&mut e.0, result, at, value);
            Ok(())
        },
    );
    written.unwrap();
    writer.0.push(StmtKind::Return(None));
    Module {
        sources: vec![],
        constants: vec![],
        functions: vec![writer.0.finish()],
        entry: FuncId(0),
    }
}
