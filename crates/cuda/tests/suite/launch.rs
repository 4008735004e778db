//! Test lines on a GPU: values of the text form as argument blocks and device memory, and back.

use std::rc::Rc;

use weft_ir::testing::{Array, Placed, TestLaunch, TestLine, TestValue};
use weft_ir::{Const, FuncKind, Function, Layout, Module, Scalar, Type};
use weft_runtime::{Buffer, CallOptions, Device, Executable, GridShape, Launch, RunError, slots};

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

/// Where the arrays of a call lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrays {
    Apart,
    /// In one buffer, one right behind the other.
    Together,
}

/// A view in device memory.
struct Held {
    buffer: Rc<dyn Buffer>,
    start: usize,
    placed: Placed,
}

/// Device memory for the arrays of a call.
struct Memory<'d> {
    device: &'d dyn Device,
    /// The buffer they share, and how much of it is taken.
    shared: Option<(Rc<dyn Buffer>, usize)>,
    held: Vec<Held>,
}

/// Bytes of a buffer that arrays share.
const SHARED_BUFFER: usize = 1 << 16;

impl Memory<'_> {
    fn new(device: &dyn Device, arrays: Arrays) -> Memory<'_> {
        let buffer = |bytes| Rc::from(device.allocate(bytes, None).unwrap());
        Memory {
            device,
            shared: (arrays == Arrays::Together).then(|| (buffer(SHARED_BUFFER), 0)),
            held: Vec::new(),
        }
    }

    /// Gives the address of the first element.
    fn hold(&mut self, placed: Placed, align: usize) -> u64 {
        let bytes = placed.bytes.len().max(1);
        let (buffer, start) = match &mut self.shared {
            Some((buffer, taken)) if *taken + bytes + align <= SHARED_BUFFER => {
                let start = taken.next_multiple_of(align);
                *taken = start + bytes;
                (buffer.clone(), start)
            }
            _ => (Rc::from(self.device.allocate(bytes, None).unwrap()), 0),
        };
        buffer.write(start, &placed.bytes).unwrap();
        let address = buffer.address() + start as u64 + placed.offset as u64;
        self.held.push(Held { buffer, start, placed });
        address
    }
}

/// Runs a line of a module's function, whose entry (as `suite::as_entry` made it) is compiled.
pub fn run(device: &dyn Device, exe: &dyn Executable, module: &Module, line: &TestLine) -> Ran {
    run_with(device, exe, module, line, Arrays::Apart)
}

pub fn run_with(device: &dyn Device, exe: &dyn Executable, module: &Module, line: &TestLine, arrays: Arrays) -> Ran {
    let (mut slots, mut memory) = (Vec::new(), Memory::new(device, arrays));
    for arg in &line.args {
        place(arg, &mut slots, &mut memory);
    }
    let results = match line.launch {
        TestLaunch::Call => result_arrays(&module.function(line.func).result),
        _ => Vec::new(),
    };
    for array in &results {
        place(&TestValue::Array(array.clone()), &mut slots, &mut memory);
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
    let reduced = reductions(module.function(line.func));
    let mut totals = vec![0; reduced.iter().map(|scalar| Type::Scalar(*scalar).slots()).sum()];
    let started = exe.run(launch, &slots, &mut totals, &options).map(|_| ());
    let ended = started.and(device.synchronize());
    let mut held = memory.held.iter();
    let args = line.args.iter().map(|arg| read_back(arg, &mut held)).collect();
    let mut given: Vec<TestValue> = results.iter().map(|array| first(array, held.next().unwrap())).collect();
    let result = match module.function(line.func).result {
        _ if !reduced.is_empty() => {
            let mut totals = totals.into_iter();
            let read = |scalar: &Scalar| TestValue::Scalar(slots::read(*scalar, &mut totals));
            Some(TestValue::Tuple(reduced.iter().map(read).collect()))
        }
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

/// What a loop reduces.
fn reductions(function: &Function) -> Vec<Scalar> {
    match &function.kind {
        FuncKind::Loop { reductions, .. } => reductions.iter().filter_map(|r| function.local_ty(r.local).scalar()).collect(),
        _ => Vec::new(),
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

fn place(value: &TestValue, slots: &mut Vec<u64>, memory: &mut Memory) {
    match value {
        TestValue::Scalar(c) => push_scalar(*c, slots),
        TestValue::Tuple(items) => items.iter().for_each(|item| place(item, slots, memory)),
        TestValue::Array(array) => {
            let placed = array.place();
            let strides: Vec<u64> = placed.strides.iter().map(|s| *s as u64).collect();
            slots.push(memory.hold(placed, array.elem.part().size()));
            slots.extend(&array.shape);
            slots.extend(strides);
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
    if held.buffer.read(held.start, &mut bytes).is_err() {
        bytes.clone_from(&held.placed.bytes);
    }
    Placed {
        bytes,
        offset: held.placed.offset,
        strides: held.placed.strides.clone(),
    }
}
