//! Test lines on a GPU: values of the text form as argument blocks and device memory, and back.

use weft_ir::testing::{Array, Placed, TestLaunch, TestLine, TestValue};
use weft_ir::{Const, Layout, Module, Scalar, Type};
use weft_runtime::{Buffer, CallOptions, Device, Executable, GridShape, Launch, RunError};

/// What a run left.
#[derive(Debug)]
pub struct Ran {
    pub ended: Result<(), RunError>,
    /// The scalar, or tuple of scalars, that a function in a kernel of its own gave.
    pub result: Option<TestValue>,
    /// As they are afterwards.
    pub args: Vec<TestValue>,
    pub output: String,
}

/// A view in device memory.
struct Held {
    buffer: Box<dyn Buffer>,
    placed: Placed,
}

/// Runs a line of a module's function, whose entry (as `suite::as_entry` made it) is compiled.
pub fn run(device: &dyn Device, exe: &dyn Executable, module: &Module, line: &TestLine) -> Ran {
    let (mut slots, mut memory) = (Vec::new(), Vec::new());
    for arg in &line.args {
        place(device, arg, &mut slots, &mut memory);
    }
    let results = match line.launch {
        TestLaunch::Call => result_arrays(&module.function(line.func).result),
        _ => Vec::new(),
    };
    for array in &results {
        place(device, &TestValue::Array(array.clone()), &mut slots, &mut memory);
    }
    let (launch, shared_bytes) = match &line.launch {
        TestLaunch::Call => (grid([1; 3], [1; 3]), 0),
        TestLaunch::Grid {
            grid: blocks,
            block,
            dynamic,
        } => (grid(*blocks, *block), *dynamic),
        TestLaunch::Loop(extents) => (Launch::Loop(extents.clone()), 0),
    };
    let options = CallOptions {
        shared_bytes,
        ..CallOptions::default()
    };
    let started = exe.run(launch, &slots, &mut [], &options).map(|_| ());
    let ended = started.and(device.synchronize());
    let mut held = memory.iter();
    let args = line.args.iter().map(|arg| read_back(arg, &mut held)).collect();
    let mut given: Vec<TestValue> = results.iter().map(|array| first(array, held.next().unwrap())).collect();
    let result = match module.function(line.func).result {
        Type::Tuple(_) if !given.is_empty() => Some(TestValue::Tuple(given)),
        _ => given.pop(),
    };
    Ran {
        ended,
        result,
        args,
        output: device.take_output(),
    }
}

fn grid(grid: [u32; 3], block: [u32; 3]) -> Launch {
    Launch::Grid(GridShape { block, grid })
}

/// An array of one element for each scalar of a result.
fn result_arrays(result: &Type) -> Vec<Array> {
    let items = match result {
        Type::Tuple(items) => items.clone(),
        other => vec![other.clone()],
    };
    let one = |elem: Scalar| Array {
        elem,
        shape: vec![1],
        layout: Layout::C,
        data: vec![weft_ir::eval::zero(elem)],
    };
    items.iter().filter_map(Type::scalar).map(one).collect()
}

fn place(device: &dyn Device, value: &TestValue, slots: &mut Vec<u64>, memory: &mut Vec<Held>) {
    match value {
        TestValue::Scalar(c) => push_scalar(*c, slots),
        TestValue::Tuple(items) => items.iter().for_each(|item| place(device, item, slots, memory)),
        TestValue::Array(array) => {
            let placed = array.place();
            let buffer = device.allocate(placed.bytes.len().max(1), None).unwrap();
            buffer.write(0, &placed.bytes).unwrap();
            slots.push(buffer.address() + placed.offset as u64);
            slots.extend(&array.shape);
            slots.extend(placed.strides.iter().map(|s| *s as u64));
            memory.push(Held { buffer, placed });
        }
    }
}

fn push_scalar(c: Const, slots: &mut Vec<u64>) {
    match c {
        Const::Bool(b) => slots.push(b.into()),
        Const::Int(_, v) => slots.push(v as u64),
        Const::F16(bits) | Const::BF16(bits) => slots.push(bits.into()),
        Const::F32(bits) => slots.push(bits.into()),
        Const::F64(bits) => slots.push(bits),
        Const::C64(re, im) => slots.extend([u64::from(re), u64::from(im)]),
        Const::C128(re, im) => slots.extend([re, im]),
    }
}

fn read_back<'a>(value: &TestValue, held: &mut impl Iterator<Item = &'a Held>) -> TestValue {
    match value {
        TestValue::Scalar(c) => TestValue::Scalar(*c),
        TestValue::Tuple(items) => TestValue::Tuple(items.iter().map(|item| read_back(item, held)).collect()),
        TestValue::Array(array) => TestValue::Array(array.read_back(&contents(held.next().unwrap()))),
    }
}

fn first(array: &Array, held: &Held) -> TestValue {
    TestValue::Scalar(array.read_back(&contents(held)).data[0])
}

/// What is there now. Memory of a lost device cannot be read; what was there before stands in.
fn contents(held: &Held) -> Placed {
    let mut bytes = vec![0; held.placed.bytes.len()];
    if held.buffer.read(0, &mut bytes).is_err() {
        bytes.clone_from(&held.placed.bytes);
    }
    Placed {
        bytes,
        offset: held.placed.offset,
        strides: held.placed.strides.clone(),
    }
}
