//! Test lines on the CPU: values of the text form as argument blocks, and back.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use weft_cpu::CpuDevice;
use weft_cpu::emit::Target;
use weft_ir::testing::{Array, Placed, TestLaunch, TestLine, TestValue};
use weft_ir::{Const, FuncId, FuncKind, Function, Layout, Module, Scalar, StmtKind, Type};
use weft_runtime::{Buffer, CallOptions, CompileError, CompileOptions, Executable, GridShape, Launch, RunError};

/// What a run that succeeded left.
#[derive(Debug)]
#[allow(dead_code)]
pub struct Ran {
    pub result: TestValue,
    pub output: String,
}

/// Does jobs on all cores: a failure of one is the caller's.
#[allow(dead_code)]
pub fn in_parallel<J: Sync>(jobs: &[J], work: impl Fn(&J) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                while let Some(job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    work(job);
                }
            });
        }
    });
}

/// Every way the emitter is asked to write a function: lanes of its gangs, how masks are kept, what the hardware lacks.
#[allow(dead_code)]
pub fn targets(module: &Module, func: FuncId) -> Vec<Target> {
    let host = CpuDevice.target();
    let mut targets = vec![host.clone()];
    if matches!(module.function(func).kind, FuncKind::Host | FuncKind::Device) && !has_loops(module) {
        return vec![
            host.clone(),
            Target {
                fma: false,
                rounding: false,
                ..host
            },
        ];
    }
    for gang in [4, 8, 16, 32, 64] {
        for mask_registers in [false, true] {
            targets.push(Target {
                gang: Some(gang),
                mask_registers,
                gathers: mask_registers == (gang.ilog2() % 2 == 0),
                ..host.clone()
            });
        }
    }
    targets.push(Target {
        fma: false,
        rounding: false,
        ..host
    });
    targets
}

fn has_loops(module: &Module) -> bool {
    let mut is_loop = |kind: &StmtKind| matches!(kind, StmtKind::ParFor { .. } | StmtKind::Launch { .. });
    module.functions.iter().any(|function| function.body.any(&mut is_loop))
}

/// A function of a module as the entry, compiled for `target`.
pub fn compile(module: &Module, func: FuncId, target: &Target) -> Result<Arc<dyn Executable>, CompileError> {
    let mut module = module.clone();
    module.entry = func;
    if module.function(func).kind == FuncKind::Device {
        let host = Function {
            kind: FuncKind::Host,
            ..module.function(func).clone()
        };
        module.functions.push(host);
        module.entry = FuncId(module.functions.len() as u32 - 1);
    }
    CpuDevice.compile_for(Arc::new(module), CompileOptions::default(), target.clone())
}

/// Runs one line. The arrays are as they were left even when it fails.
pub fn run(exe: &dyn Executable, module: &Module, line: &TestLine) -> (Result<Ran, RunError>, Vec<TestValue>) {
    let entry = module.function(line.func);
    let (launch, results) = shape(line, entry);
    let types: Vec<Type> = entry.params.iter().map(|p| entry.ty(*p).clone()).collect();
    let skip = types.len() - line.args.len();
    let mut memory = Vec::new();
    let mut slots = Vec::new();
    for arg in &line.args {
        place(arg, &mut slots, &mut memory);
    }
    for (param, arg) in types[skip..].iter().zip(&line.args) {
        assert!(matches!(arg, TestValue::Scalar(_)) == param.scalar().is_some());
    }
    let mut out = vec![0u64; results.slots()];
    let options = CallOptions {
        shared_bytes: if let TestLaunch::Grid { dynamic, .. } = line.launch {
            dynamic
        } else {
            0
        },
        ..CallOptions::default()
    };
    let outcome = exe.run(launch, &slots, &mut out, &options);
    let mut placed = memory.iter();
    let args: Vec<TestValue> = line.args.iter().map(|arg| read_back(arg, &mut placed)).collect();
    let ran = outcome.map(|outcome| Ran {
        result: read(&results, &out, &mut 0, &memory, &outcome.owned),
        output: outcome.output,
    });
    (ran, args)
}

fn shape(line: &TestLine, entry: &Function) -> (Launch, Type) {
    match &line.launch {
        TestLaunch::Call => (Launch::Call, entry.result.clone()),
        TestLaunch::Grid { grid, block, .. } => (
            Launch::Grid(GridShape {
                grid: *grid,
                block: *block,
            }),
            Type::unit(),
        ),
        TestLaunch::Loop(extents) => {
            let FuncKind::Loop { reductions, .. } = &entry.kind else {
                panic!("{} is no loop", entry.name);
            };
            let types = reductions.iter().map(|r| entry.local_ty(r.local).clone()).collect();
            (Launch::Loop(extents.clone()), Type::Tuple(types))
        }
    }
}

fn place(value: &TestValue, slots: &mut Vec<u64>, memory: &mut Vec<Placed>) {
    match value {
        TestValue::Scalar(c) => push_scalar(*c, slots),
        TestValue::Tuple(items) => items.iter().for_each(|item| place(item, slots, memory)),
        TestValue::Array(array) => {
            let at = array.place();
            slots.push((at.bytes.as_ptr() as u64).wrapping_add(at.offset as u64));
            slots.extend(&array.shape);
            slots.extend(at.strides.iter().map(|s| *s as u64));
            memory.push(at);
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

fn read_back<'a>(value: &TestValue, memory: &mut impl Iterator<Item = &'a Placed>) -> TestValue {
    match value {
        TestValue::Scalar(c) => TestValue::Scalar(*c),
        TestValue::Tuple(items) => TestValue::Tuple(items.iter().map(|item| read_back(item, memory)).collect()),
        TestValue::Array(array) => TestValue::Array(array.read_back(memory.next().unwrap())),
    }
}

fn read(ty: &Type, slots: &[u64], at: &mut usize, memory: &[Placed], owned: &[Box<dyn Buffer>]) -> TestValue {
    let first = *at;
    *at += if matches!(ty, Type::Tuple(_)) { 0 } else { ty.slots() };
    match ty {
        Type::Scalar(s) => TestValue::Scalar(scalar(*s, &slots[first..])),
        Type::Tuple(items) => TestValue::Tuple(items.iter().map(|item| read(item, slots, at, memory, owned)).collect()),
        Type::View(v) => {
            let rank = v.rank as usize;
            let shape = slots[first + 1..first + 1 + rank].to_vec();
            let strides: Vec<i64> = slots[first + 1 + rank..first + 1 + 2 * rank].iter().map(|s| *s as i64).collect();
            let (bytes, start) = find(slots[first], memory, owned);
            let offset = (slots[first] - start) as i64;
            let array = Array {
                elem: v.elem,
                shape,
                layout: Layout::C,
                data: Vec::new(),
            };
            TestValue::Array(array.read_back(&Placed { bytes, offset, strides }))
        }
    }
}

/// The memory an address lies in, and where that starts.
fn find(address: u64, memory: &[Placed], owned: &[Box<dyn Buffer>]) -> (Vec<u8>, u64) {
    for buffer in owned {
        if (buffer.address()..=buffer.address() + buffer.bytes() as u64).contains(&address) {
            let mut bytes = vec![0; buffer.bytes()];
            buffer.read(0, &mut bytes).unwrap();
            return (bytes, buffer.address());
        }
    }
    for placed in memory {
        let start = placed.bytes.as_ptr() as u64;
        if (start..=start + placed.bytes.len() as u64).contains(&address) {
            return (placed.bytes.clone(), start);
        }
    }
    panic!("a result view points nowhere");
}

fn scalar(s: Scalar, slots: &[u64]) -> Const {
    match s {
        Scalar::Bool => Const::Bool(slots[0] & 1 == 1),
        Scalar::F16 => Const::F16(slots[0] as u16),
        Scalar::BF16 => Const::BF16(slots[0] as u16),
        Scalar::F32 => Const::F32(slots[0] as u32),
        Scalar::F64 => Const::F64(slots[0]),
        Scalar::C64 => Const::C64(slots[0] as u32, slots[1] as u32),
        Scalar::C128 => Const::C128(slots[0], slots[1]),
        int => Const::Int(int, slots[0] as i64),
    }
}
