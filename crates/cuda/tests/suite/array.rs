//! Kernels of array expressions (`weft_array`): folds with a pass or several, over axes at any place, with what is stored of them.

use weft_array::{Access, FoldKernel, FoldState, Input, Kind, Pass, State, Stores, fold_loop};
use weft_ir::testing::{Array, TestValue};
use weft_ir::{Const, FuncId, Layout, Module, ReduceOp, Scalar, eval, text};

/// A kernel, what it is launched over and what it is given: extents of the folded axes, then arrays.
pub struct Kernel {
    pub name: String,
    pub module: Module,
    pub outer: Vec<u64>,
    pub inner: u64,
    pub args: Vec<TestValue>,
}

const FUNCTIONS: &str = "
entry device @same(%0 x: f32) -> f32 {
  return %0
}

device @scaled(%0 weight: f32, %1 sum: f32) -> (f32, f64) {
  %2: f32 = mul %1, %0
  %3: f64 = cast %1
  %4: (f32, f64) = tuple(%2, %3)
  return %4
}

device @product(%0 x: f32, %1 v: f32) -> f32 {
  %2: f32 = mul %0, %1
  return %2
}

device @moments(%0 x: f32) -> (f32, f32, f32) {
  %1: f32 = mul %0, %0
  %2: (f32, f32, f32) = tuple(%0, %1, %0)
  return %2
}

device @spread(%0 sum: f64, %1 squares: f32, %2 most: f32) -> f64 {
  %3: f64 = cast %1
  %4: f64 = sub %3, %0
  %5: f64 = cast %2
  %6: f64 = mul %4, %5
  return %6
}

device @distance(%0 x: f32, %1 most: f32) -> f32 {
  %2: f32 = sub %0, %1
  %3: f32 = mul %2, %2
  return %3
}

device @share(%0 x: f32, %1 most: f32, %2 sum: f32) -> f32 {
  %3: f32 = sub %0, %1
  %4: f32 = div %3, %2
  return %4
}
";

const SAME: FuncId = FuncId(0);
const SCALED: FuncId = FuncId(1);
const PRODUCT: FuncId = FuncId(2);
const MOMENTS: FuncId = FuncId(3);
const SPREAD: FuncId = FuncId(4);
const DISTANCE: FuncId = FuncId(5);
const SHARE: FuncId = FuncId(6);

fn functions() -> Module {
    text::parse(FUNCTIONS).unwrap()
}

fn state(op: ReduceOp, scalar: Scalar, first: f64) -> FoldState {
    FoldState {
        state: State { scalar, op },
        first: eval::cast(Const::f64(first), scalar).unwrap(),
    }
}

fn access(elem: Scalar, axes: u32, layout: Layout) -> Access {
    Access { elem, axes, layout }
}

/// Numbers whose sums round.
fn array(access: Access, extents: &[u64]) -> TestValue {
    let moves = |axis: &usize| access.axes >> axis & 1 == 1;
    let shape: Vec<u64> = (0..extents.len()).filter(moves).map(|axis| extents[axis]).collect();
    let number = |at: u64| Const::f64(((at.wrapping_mul(7919) % 1009) as f64 - 400.0) / 7.0);
    TestValue::Array(Array {
        elem: access.elem,
        layout: access.layout,
        data: (0..shape.iter().product())
            .map(|at| eval::cast(number(at), access.elem).unwrap())
            .collect(),
        shape,
    })
}

/// One of which every second, third or so element is one along the last axis that it moves along.
fn wide(step: u8, access: Access, extents: &[u64]) -> TestValue {
    let mut extents = extents.to_vec();
    if let Some(last) = (0..extents.len()).rev().find(|axis| access.axes >> axis & 1 == 1) {
        extents[last] = extents[last].saturating_sub(1) * u64::from(step) + extents[last].min(1);
    }
    array(access, &extents)
}

/// The arrays in the order of the kernel's parameters.
fn kernel(name: &str, shape: &[u64], folds: &FoldKernel<'_>) -> Kernel {
    let split = |is: bool| {
        let axes = (0..shape.len()).filter(|axis| folds.folded.contains(axis) == is);
        axes.map(|axis| shape[axis]).collect::<Vec<u64>>()
    };
    let (outer, inner) = (split(false), split(true));
    let arrays = |outputs: &[Access], extents: &[u64]| outputs.iter().map(|&access| array(access, extents)).collect::<Vec<_>>();
    let given = |inputs: &[Input], extents: &[u64]| {
        let one = |input: &Input| match *input {
            Input::Element(access) => Some(array(access, extents)),
            Input::Every(step, access) => Some(wide(step, access, extents)),
            Input::Number(scalar) => Some(TestValue::Scalar(eval::cast(Const::f64(2.0), scalar).unwrap())),
            Input::Index(_) => None,
        };
        inputs.iter().filter_map(one).collect::<Vec<_>>()
    };
    let mut args: Vec<TestValue> = inner.iter().map(|&n| TestValue::Scalar(Const::i64(n as i64))).collect();
    folds.passes.iter().for_each(|pass| args.extend(given(pass.inputs, shape)));
    if let Some(stores) = folds.point {
        args.extend(given(stores.inputs, &outer));
        args.extend(arrays(stores.outputs, &outer));
    }
    if let Some(stores) = folds.all {
        args.extend(given(stores.inputs, shape));
        args.extend(arrays(stores.outputs, shape));
    }
    let mut launched = outer.clone();
    match folds.kind {
        Kind::Host(_) => args
            .splice(0..0, outer.iter().map(|&n| TestValue::Scalar(Const::i64(n as i64))))
            .for_each(drop),
        Kind::Loop if launched.is_empty() => launched.push(1),
        Kind::Loop => {}
    }
    Kernel {
        name: format!("{name} {shape:?} along {:?} {:?}", folds.folded, folds.kind),
        module: fold_loop(functions(), folds).unwrap(),
        outer: launched,
        inner: inner.iter().product(),
        args,
    }
}

/// All axes of a shape, and those that are not folded.
fn masks(rank: usize, folded: &[usize]) -> (u32, u32) {
    ((1 << rank) - 1, (1 << (rank - folded.len())) - 1)
}

pub fn kernels(kind: Kind) -> Vec<Kernel> {
    let mut kernels = Vec::new();
    let shapes: [(&[u64], &[usize]); 12] = [
        (&[7, 33], &[1]),
        (&[33, 7], &[0]),
        (&[130, 300], &[1]),
        (&[300, 130], &[0]),
        (&[3, 2049], &[1]),
        (&[2049, 3], &[0]),
        (&[5, 0], &[1]),
        (&[6, 70, 9], &[0, 2]),
        (&[6, 70, 9], &[1]),
        (&[5000], &[0]),
        (&[40, 70], &[0, 1]),
        (&[2, 3, 64, 5], &[2]),
    ];
    for (turn, (shape, folded)) in shapes.into_iter().enumerate() {
        let layout = [Layout::C, Layout::F, Layout::Any][turn % 3];
        let (all, outer) = masks(shape.len(), folded);
        let f32s = |axes| access(Scalar::F32, axes, Layout::C);
        let x = access(Scalar::F32, all, layout);
        let last = 1 << folded[folded.len() - 1];
        let add = state(ReduceOp::Add, Scalar::F32, 0.0);
        let sums = Pass {
            function: SAME,
            inputs: &[x.into()],
            states: &[add],
        };
        let base = FoldKernel {
            kind,
            rank: shape.len(),
            folded,
            passes: &[sums],
            point: None,
            all: None,
        };
        let scaled = Stores {
            function: SCALED,
            inputs: &[access(Scalar::I32, outer, Layout::C).into()],
            outputs: &[f32s(outer), access(Scalar::F32, outer, Layout::C)],
        };
        kernels.push(kernel(
            "sums",
            shape,
            &FoldKernel {
                point: Some(scaled),
                ..base
            },
        ));
        let products = Pass {
            function: PRODUCT,
            inputs: &[x.into(), f32s(last).into()],
            states: &[add],
        };
        let stored = Stores {
            function: SAME,
            inputs: &[],
            outputs: &[access(Scalar::F64, outer, Layout::C)],
        };
        kernels.push(kernel(
            "products",
            shape,
            &FoldKernel {
                passes: &[products],
                point: Some(stored),
                ..base
            },
        ));
        let every = Pass {
            inputs: &[
                Input::Every(2 + (turn % 3) as u8, access(Scalar::F32, all, Layout::C)),
                f32s(last).into(),
            ],
            ..products
        };
        kernels.push(kernel(
            "every second",
            shape,
            &FoldKernel {
                passes: &[every],
                point: Some(stored),
                ..base
            },
        ));
        let moments = Pass {
            function: MOMENTS,
            inputs: &[x.into()],
            states: &[state(ReduceOp::Add, Scalar::F64, 0.5), add, state(ReduceOp::Max, Scalar::F32, -1e3)],
        };
        let spread = Stores {
            function: SPREAD,
            inputs: &[],
            outputs: &[access(Scalar::F64, outer, Layout::C)],
        };
        kernels.push(kernel(
            "moments",
            shape,
            &FoldKernel {
                passes: &[moments],
                point: Some(spread),
                ..base
            },
        ));
        let places = Pass {
            function: PRODUCT,
            inputs: &[Input::Index(folded[0]), Input::Number(Scalar::F32)],
            states: &[add],
        };
        kernels.push(kernel(
            "places",
            shape,
            &FoldKernel {
                passes: &[places],
                point: Some(stored),
                ..base
            },
        ));
        let most = Pass {
            function: SAME,
            inputs: &[x.into()],
            states: &[state(ReduceOp::Max, Scalar::F32, f64::NEG_INFINITY)],
        };
        let distances = Pass {
            function: DISTANCE,
            inputs: &[x.into()],
            states: &[add],
        };
        let shares = Stores {
            function: SHARE,
            inputs: &[x.into()],
            outputs: &[access(Scalar::F32, all, layout)],
        };
        kernels.push(kernel(
            "shares",
            shape,
            &FoldKernel {
                passes: &[most, distances],
                all: Some(shares),
                ..base
            },
        ));
    }
    kernels
}
