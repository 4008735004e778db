//! Loops with reductions, for devices that run kernels only: two kernels, whose order of combining depends on the extents and on nothing
//! else, so that every run gives the same bits.
//!
//! In the first, *parts*, each thread goes through the points as far as there are threads from one to the next and reduces what it meets
//! into locals of its own; each block combines those of its threads through shared memory, as a tree, and leaves one element per
//! reduction. The second, *whole*, does the same with what the blocks left, in one block.

use weft_ir::{
    ArrayDecl, ArrayId, Axis, BinOp, Block, Builder, CmpOp, FuncId, FuncKind, Function, Geometry, Index, Label, Layout, Local, Module, Op,
    Part, ReduceOp, Reduction, Scalar, Space, StmtKind, Type, Value, ViewType,
};

use crate::counted::counted;

/// Threads of each block of either kernel: what every device has.
pub const THREADS: u32 = 128;
/// Points that a thread goes through before there is a second block, and the most blocks.
const POINTS: u64 = 4;
const MOST_BLOCKS: u64 = 2048;

/// The kernels of a loop with reductions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reduced {
    /// Its parameters: those of the loop behind the indices, the extents (`i64`), and for each reduction a writable view of as many
    /// elements as there are blocks.
    pub parts: Module,
    /// Its parameters: how many blocks there were (`i64`), and the views. Leaves the result in the first element of each.
    pub whole: Module,
}

/// Blocks of the first kernel for this many points.
pub fn blocks(points: u64) -> u32 {
    points.div_ceil(u64::from(THREADS) * POINTS).clamp(1, MOST_BLOCKS) as u32
}

/// Nothing if the module's entry is no loop with reductions.
pub fn split(module: &Module) -> Option<Reduced> {
    let entry = module.entry_function();
    let FuncKind::Loop { rank, reductions } = &entry.kind else {
        return None;
    };
    let scalar = |r: &Reduction| Some((r.op, entry.local_ty(r.local).scalar()?));
    let scalars: Vec<_> = reductions.iter().map(scalar).collect::<Option<_>>()?;
    if scalars.is_empty() {
        return None;
    }
    let mut parts = module.clone();
    // Others may launch the loop itself.
    parts.functions.push(first(entry, usize::from(*rank), reductions));
    parts.entry = FuncId(module.functions.len() as u32);
    let whole = Module {
        sources: module.sources.clone(),
        constants: Vec::new(),
        functions: vec![second(entry, &scalars)],
        entry: FuncId(0),
    };
    Some(Reduced { parts, whole })
}

fn first(function: &Function, rank: usize, reductions: &[Reduction]) -> Function {
    let (indices, rest) = function.params.split_at(rank);
    let mut kernel = Function {
        kind: FuncKind::Kernel,
        params: rest.to_vec(),
        body: Block::default(),
        ..function.clone()
    };
    kernel.flags.max_threads = THREADS;
    let extents: Vec<Value> = (0..rank).map(|axis| kernel.new_param(Type::I64, format!("n{axis}"))).collect();
    let mut b = Builder::new(kernel);
    let totals: Vec<Total> = reductions.iter().map(|r| Total::new(&mut b, *r)).collect();
    let points = extents[1..].iter().fold(extents[0], |points, n| b.binary(BinOp::Mul, points, *n));
    let thread = geometry(&mut b, Geometry::ThreadIdx(Axis::X));
    let block = geometry(&mut b, Geometry::BlockIdx(Axis::X));
    let threads = b.i64(i64::from(THREADS));
    let before = b.binary(BinOp::Mul, block, threads);
    let start = b.binary(BinOp::Add, before, thread);
    let all_blocks = geometry(&mut b, Geometry::GridDim(Axis::X));
    let step = b.binary(BinOp::Mul, all_blocks, threads);
    for total in &totals {
        total.start(&mut b);
    }
    let number = match indices {
        [only] => *only,
        _ => b.func.new_value(Type::I64),
    };
    counted(&mut b, number, [start, points, step], |b| {
        point(b, indices, &extents, number);
        let label = free_label(&function.body);
        let mut body = function.body.clone();
        leave_instead_of_return(&mut body, label);
        b.push(StmtKind::Scope(label, body));
    });
    Tree::new(&mut b, thread).combine(&totals, block);
    b.finish()
}

fn second(function: &Function, scalars: &[(ReduceOp, Scalar)]) -> Function {
    let mut kernel = Function::new(format!("{}.whole", function.name), FuncKind::Kernel);
    kernel.flags.fastmath = function.flags.fastmath;
    kernel.flags.max_threads = THREADS;
    let blocks = kernel.new_param(Type::I64, "blocks");
    let locals = scalars.iter().map(|(op, scalar)| Reduction {
        local: kernel.new_local(Type::Scalar(*scalar), op.name()),
        op: *op,
    });
    let reductions: Vec<Reduction> = locals.collect();
    let mut b = Builder::new(kernel);
    let totals: Vec<Total> = reductions.into_iter().map(|r| Total::new(&mut b, r)).collect();
    let thread = geometry(&mut b, Geometry::ThreadIdx(Axis::X));
    let threads = b.i64(i64::from(THREADS));
    for total in &totals {
        total.start(&mut b);
    }
    let number = b.func.new_value(Type::I64);
    counted(&mut b, number, [thread, blocks, threads], |b| {
        for total in &totals {
            let part = load(b, total.out, number);
            total.add(b, part);
        }
    });
    let zero = b.i64(0);
    Tree::new(&mut b, thread).combine(&totals, zero);
    b.finish()
}

/// A reduction of a kernel: the thread's own part, and where the block's goes.
struct Total {
    local: Local,
    op: ReduceOp,
    scalar: Scalar,
    out: Value,
}

impl Total {
    fn new(b: &mut Builder, Reduction { local, op }: Reduction) -> Total {
        let scalar = b.func.local_ty(local).scalar().unwrap_or(Scalar::I64);
        let ty = Type::View(view(scalar, Space::Global));
        let out = b.func.new_param(ty, format!("{}_{}", op.name(), local.0));
        Total { local, op, scalar, out }
    }

    /// The verifier has seen that there is an identity.
    fn start(&self, b: &mut Builder) {
        if let Some(identity) = self.op.identity(self.scalar) {
            let value = b.constant(identity);
            b.set(self.local, value);
        }
    }

    fn add(&self, b: &mut Builder, value: Value) {
        let sum = b.get(self.local);
        let sum = b.binary(self.op.binary(), sum, value);
        b.set(self.local, sum);
    }
}

/// Combines what the threads of a block have, through one shared array per type.
struct Tree<'a> {
    b: &'a mut Builder,
    thread: Value,
    shared: Vec<(Scalar, ArrayId)>,
}

impl Tree<'_> {
    fn new(b: &mut Builder, thread: Value) -> Tree<'_> {
        let shared = Vec::new();
        Tree { b, thread, shared }
    }

    /// Leaves the totals of the block in an element of each `out`.
    fn combine(mut self, totals: &[Total], place: Value) {
        for total in totals {
            let (shared, used) = self.array(total.scalar);
            if used {
                self.b.push(StmtKind::Barrier);
            }
            let own = self.b.get(total.local);
            store(self.b, shared, self.thread, own);
            let mut half = THREADS / 2;
            while half > 0 {
                self.halve(total.op, shared, half);
                half /= 2;
            }
            self.when_below(1, |b, thread| {
                let sum = load(b, shared, thread);
                store(b, total.out, place, sum);
            });
        }
    }

    /// The array of a type, and whether it was used before.
    fn array(&mut self, elem: Scalar) -> (Value, bool) {
        let known = self.shared.iter().find(|(scalar, _)| *scalar == elem);
        let (id, used) = match known {
            Some((_, id)) => (*id, true),
            None => {
                let id = self.b.func.new_array(ArrayDecl {
                    name: "parts".into(),
                    elem,
                    shape: vec![u64::from(THREADS)],
                    space: Space::Shared,
                });
                self.shared.push((elem, id));
                (id, false)
            }
        };
        let ty = Type::View(view(elem, Space::Shared));
        (self.b.emit(ty, Op::Array(id)), used)
    }

    /// The first threads take what as many behind them have.
    fn halve(&mut self, op: ReduceOp, shared: Value, half: u32) {
        self.b.push(StmtKind::Barrier);
        self.when_below(half, |b, thread| {
            let away = b.i64(i64::from(half));
            let other = b.binary(BinOp::Add, thread, away);
            let (own, theirs) = (load(b, shared, thread), load(b, shared, other));
            let sum = b.binary(op.binary(), own, theirs);
            store(b, shared, thread, sum);
        });
    }

    fn when_below(&mut self, count: u32, then: impl FnOnce(&mut Builder, Value)) {
        let count = self.b.i64(i64::from(count));
        let cond = self.b.compare(CmpOp::Lt, self.thread, count);
        self.b.open();
        then(self.b, self.thread);
        let then = self.b.close();
        let other = Block::default();
        self.b.push(StmtKind::If { cond, then, other });
    }
}

/// The indices of a point from its number, which is the index where there is one axis; the last axis is the fastest.
fn point(b: &mut Builder, indices: &[Value], extents: &[Value], number: Value) {
    let mut rest = number;
    for axis in (1..indices.len()).rev() {
        b.push(StmtKind::Let(indices[axis], Op::Binary(BinOp::Mod, rest, extents[axis])));
        let before = match axis {
            1 => indices[0],
            _ => b.func.new_value(Type::I64),
        };
        b.push(StmtKind::Let(before, Op::Binary(BinOp::FloorDiv, rest, extents[axis])));
        rest = before;
    }
}

fn geometry(b: &mut Builder, what: Geometry) -> Value {
    b.emit(Type::I64, Op::Geometry(what))
}

fn view(elem: Scalar, space: Space) -> ViewType {
    ViewType {
        elem,
        rank: 1,
        layout: Layout::C,
        space,
        writable: true,
    }
}

fn load(b: &mut Builder, view: Value, at: Value) -> Value {
    let elem = b.func.ty(view).view().map_or(Scalar::I64, |view| view.elem);
    let indices = vec![Index { value: at, wrap: false }];
    let part = Part::Whole;
    b.emit(elem, Op::Load { view, indices, part })
}

fn store(b: &mut Builder, view: Value, at: Value, value: Value) {
    b.push(StmtKind::Store {
        view,
        indices: vec![Index { value: at, wrap: false }],
        value,
        part: Part::Whole,
    });
}

fn free_label(body: &Block) -> Label {
    let mut free = 0;
    body.walk(&mut |kind| {
        if let StmtKind::Scope(label, _) = kind {
            free = free.max(label.0 + 1);
        }
    });
    Label(free)
}

fn leave_instead_of_return(block: &mut Block, label: Label) {
    for stmt in &mut block.0 {
        if let StmtKind::Return(_) = stmt.kind {
            stmt.kind = StmtKind::Leave(label);
        }
        stmt.kind.blocks_mut().for_each(|inner| leave_instead_of_return(inner, label));
    }
}
