//! Checked mode: the interpreter runs the module as the front end made it, with every check, on copies of the arrays.

use std::ops::Range;
use std::sync::Arc;

use weft_ir::interp::{BufferId, Fault, Machine, Options, RtValue, Trap, View};
use weft_ir::{FuncKind, Module, Op, StmtKind, ThreadState, Type, Value, ViewType};

use crate::{Buffer, CallOptions, CompileError, Launch, Outcome, Raised, RunError, slots, threads};

/// The memory that addresses among the arguments are of.
pub trait Memory {
    /// What lies at an address, when all earlier work is done.
    fn read(&self, address: u64, bytes: usize) -> Result<Vec<u8>, RunError>;

    /// Puts `new` where `old` was read. Bytes that are the same need not be written: they may belong to others.
    fn write(&self, address: u64, new: &[u8], old: &[u8]) -> Result<(), RunError>;

    /// New memory for a result.
    fn keep(&self, bytes: &[u8]) -> Result<Box<dyn Buffer>, RunError>;
}

/// Runs the entry on the interpreter. Arrays change only if the run succeeds.
pub fn run(
    module: &Module,
    launch: &Launch,
    args: &[u64],
    results: &mut [u64],
    call: &CallOptions<'_>,
    memory: &dyn Memory,
) -> Result<Outcome, RunError> {
    let options = Options {
        checked: true,
        interrupted: call.hooks.interrupted,
        ..Options::default()
    };
    let mut machine = Machine::new(module, options).map_err(|error| RunError::Compile(CompileError::Internal(error.to_string())))?;
    let function = module.entry_function();
    let skipped = match function.kind {
        FuncKind::Loop { rank, .. } => usize::from(rank),
        _ => 0,
    };
    let params = &function.params[skipped..];
    let arrays = Arrays::copy_in(&mut machine, module, params, args, memory)?;
    let mut slots = args.iter().copied();
    let values: Vec<RtValue> = params.iter().map(|&p| arrays.value(function.ty(p), &mut slots)).collect();
    let lent = lend(&mut machine, module);
    let done = match launch {
        Launch::Call => machine.call(&values).map(|value| vec![value]),
        Launch::Grid(shape) => machine.launch(shape.block, shape.grid, call.shared_bytes, &values).map(|()| vec![]),
        Launch::Loop(extents) => {
            let signed: Vec<i64> = extents.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
            machine.run_loop(&signed, &values)
        }
    };
    for state in lent {
        threads::write(state, machine.thread_state(state));
    }
    let returned = done.map_err(|trap| error_of(*trap, machine.output()))?;
    arrays.copy_back(&machine, memory)?;
    let mut giver = Giver {
        machine: &machine,
        arrays: &arrays,
        memory,
        slots: Vec::new(),
        owned: Vec::new(),
    };
    for value in &returned {
        giver.push(value)?;
    }
    let count = giver.slots.len().min(results.len());
    results[..count].copy_from_slice(&giver.slots[..count]);
    Ok(Outcome {
        output: machine.output().to_string(),
        owned: giver.owned,
    })
}

/// Lends what the module asks of the state of this thread, which stands for all.
fn lend(machine: &mut Machine<'_>, module: &Module) -> Vec<ThreadState> {
    let asks = |state: ThreadState| {
        let mut functions = module.functions.iter();
        functions.any(|f| {
            f.body
                .any(&mut |kind| matches!(kind, StmtKind::Let(_, Op::ThreadState(asked)) if *asked == state))
        })
    };
    let lent: Vec<ThreadState> = ThreadState::ALL.iter().copied().filter(|state| asks(*state)).collect();
    for state in &lent {
        machine.lend(*state, threads::read(*state));
    }
    lent
}

fn error_of(trap: Trap, output: &str) -> RunError {
    match &trap.fault {
        Fault::Interrupted => RunError::Interrupted,
        Fault::OutOfMemory { bytes } => RunError::host_memory(*bytes),
        Fault::Invalid(message) => RunError::Invalid(message.clone()),
        Fault::Malformed => RunError::Compile(CompileError::Internal(trap.to_string())),
        fault => {
            let point = if trap.point.is_empty() {
                String::new()
            } else {
                format!(" (point {:?})", trap.point)
            };
            Raised {
                kind: trap.error_kind(),
                message: format!("{fault}{point}"),
                span: trap.span,
                thread: trap.thread,
                output: output.to_string(),
                module: None,
            }
            .into()
        }
    }
}

/// Memory that arguments refer to, copied for the interpreter. Views that overlap share a copy.
struct Arrays {
    copies: Vec<Copy>,
}

struct Copy {
    addresses: Range<u64>,
    buffer: BufferId,
    /// What was read, if the run may change it.
    before: Option<Vec<u8>>,
}

impl Arrays {
    fn copy_in(
        machine: &mut Machine<'_>,
        module: &Module,
        params: &[Value],
        args: &[u64],
        memory: &dyn Memory,
    ) -> Result<Arrays, RunError> {
        let function = module.entry_function();
        let mut ranges = Vec::new();
        let mut slots = args.iter().copied();
        for &param in params {
            collect_ranges(function.ty(param), &mut slots, &mut ranges);
        }
        ranges.sort_by_key(|(range, _)| range.start);
        let mut merged: Vec<(Range<u64>, bool)> = Vec::new();
        for (range, writable) in ranges {
            match merged.last_mut() {
                Some((last, any)) if range.start < last.end => {
                    last.end = last.end.max(range.end);
                    *any |= writable;
                }
                _ => merged.push((range, writable)),
            }
        }
        let copies = merged.into_iter().map(|(addresses, writable)| {
            let bytes = memory.read(addresses.start, (addresses.end - addresses.start) as usize)?;
            Ok(Copy {
                before: writable.then(|| bytes.clone()),
                buffer: machine.buffer(bytes),
                addresses,
            })
        });
        Ok(Arrays {
            copies: copies.collect::<Result<_, RunError>>()?,
        })
    }

    /// The argument of a type that starts at the next slot.
    fn value(&self, ty: &Type, slots: &mut impl Iterator<Item = u64>) -> RtValue {
        match ty {
            Type::Scalar(scalar) => RtValue::Scalar(slots::read(*scalar, slots)),
            Type::Tuple(items) => RtValue::Tuple(items.iter().map(|item| self.value(item, slots)).collect()),
            Type::View(ty) => {
                let window = Window::read(ty, slots);
                let extent = window.addresses(ty);
                let copy = self
                    .copies
                    .iter()
                    .find(|copy| copy.addresses.contains(&extent.start) && !extent.is_empty());
                let (buffer, offset) = copy.map_or((BufferId::NONE, 0), |copy| {
                    (copy.buffer, (window.data - copy.addresses.start) as i64)
                });
                RtValue::View(Arc::new(View {
                    buffer,
                    offset,
                    shape: window.shape,
                    strides: window.strides,
                    name: None,
                }))
            }
        }
    }

    /// Writes what changed to where it came from.
    fn copy_back(&self, machine: &Machine<'_>, memory: &dyn Memory) -> Result<(), RunError> {
        for copy in &self.copies {
            if let Some(before) = &copy.before {
                memory.write(copy.addresses.start, machine.bytes(copy.buffer), before)?;
            }
        }
        Ok(())
    }
}

/// A view as an argument block holds it.
struct Window {
    data: u64,
    shape: Vec<i64>,
    strides: Vec<i64>,
}

impl Window {
    fn read(ty: &ViewType, slots: &mut impl Iterator<Item = u64>) -> Window {
        let rank = usize::from(ty.rank);
        let data = slots.next().unwrap_or(0);
        let mut list = || slots.by_ref().take(rank).map(|slot| slot as i64).collect();
        Window {
            data,
            shape: list(),
            strides: list(),
        }
    }

    /// The bytes between the lowest and the highest element.
    fn addresses(&self, ty: &ViewType) -> Range<u64> {
        if self.shape.iter().any(|&n| n <= 0) {
            return self.data..self.data;
        }
        let reach = |sign: i64| {
            let axes = self.shape.iter().zip(&self.strides);
            axes.map(|(n, stride)| (n - 1) * stride).filter(|d| d.signum() == sign).sum::<i64>()
        };
        self.data.wrapping_add_signed(reach(-1))..self.data.wrapping_add_signed(reach(1)) + ty.elem.size() as u64
    }
}

fn collect_ranges(ty: &Type, slots: &mut impl Iterator<Item = u64>, ranges: &mut Vec<(Range<u64>, bool)>) {
    match ty {
        Type::Scalar(_) => {
            slots.by_ref().take(ty.slots()).for_each(drop);
        }
        Type::Tuple(items) => items.iter().for_each(|item| collect_ranges(item, slots, ranges)),
        Type::View(view) => {
            let range = Window::read(view, slots).addresses(view);
            if !range.is_empty() {
                ranges.push((range, view.writable));
            }
        }
    }
}

/// Turns results into slots.
struct Giver<'a, 'm> {
    machine: &'a Machine<'m>,
    arrays: &'a Arrays,
    memory: &'a dyn Memory,
    slots: Vec<u64>,
    owned: Vec<Box<dyn Buffer>>,
}

impl Giver<'_, '_> {
    fn push(&mut self, value: &RtValue) -> Result<(), RunError> {
        match value {
            RtValue::Scalar(c) => slots::write(*c, &mut self.slots),
            RtValue::Tuple(items) => items.iter().try_for_each(|item| self.push(item))?,
            RtValue::View(view) => self.push_view(view)?,
            RtValue::Undefined => return Err(RunError::Invalid("a result is not set".into())),
        }
        Ok(())
    }

    /// A view of an argument points to the argument; any other gets memory of its own.
    fn push_view(&mut self, view: &View) -> Result<(), RunError> {
        let argument = self.arrays.copies.iter().find(|copy| copy.buffer == view.buffer);
        let base = match argument {
            Some(copy) => copy.addresses.start,
            None => self.keep(self.machine.bytes(view.buffer))?,
        };
        self.slots.push(base.wrapping_add_signed(view.offset));
        self.slots.extend(view.shape.iter().chain(&view.strides).map(|&n| n as u64));
        Ok(())
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<u64, RunError> {
        let buffer = self.memory.keep(bytes)?;
        let address = buffer.address();
        self.owned.push(buffer);
        Ok(address)
    }
}
