//! Launches on GPUs, whatever driver takes them: grids as they are given, loops as grids of our own, checked ones on the interpreter, and
//! those with arrays of the host by way of copies.

use std::ops::Deref;

use weft_ir::Module;

use crate::hosts::{Carrier, Either, Staged};
use crate::{CallOptions, GridShape, Launch, Limits, Outcome, Prepared, RunError, Stream, checked, patience};

/// Slots of a loop's extents and arguments that are put together on the stack.
const STACK_SLOTS: usize = 96;

/// A launch whose place and shape are settled.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a, S> {
    pub stream: &'a S,
    pub shape: GridShape,
    pub shared_bytes: u32,
    pub cooperative: bool,
}

/// Code that runs as a grid of threads, on a device that does not address the host's memory.
pub trait Grids {
    type Stream: Carrier;
    type Facts;
    /// The device is the thread's current one for as long as there is one of these.
    type Current<'a>
    where
        Self: 'a;

    fn prepared(&self) -> &Prepared<Self::Facts>;

    fn limits(&self) -> &Limits;

    /// The stream of a call, or the default one.
    fn stream<'a>(&'a self, given: Option<&'a dyn Stream>) -> Result<impl Deref<Target = Self::Stream> + 'a, RunError>;

    fn enter(&self) -> Result<Self::Current<'_>, RunError>;

    /// The blocks that take so many points, each thread every so many.
    fn loop_shape(&self, points: u64) -> GridShape;

    /// Queues a launch. `slots` are a loop's extents and the argument block; `threads` are those of the grid along each axis, or a loop's
    /// points.
    fn start(&self, plan: &Plan<'_, Self::Stream>, slots: &[u64], threads: &[u64]) -> Result<(), RunError>;

    /// Waits for all work so far.
    fn synchronize(&self, stream: &Self::Stream) -> Result<(), RunError>;

    /// As the front end made it.
    fn module(&self) -> &Module {
        &self.prepared().module
    }

    /// Runs the entry: on the device, or on the interpreter where it was compiled so.
    fn run_entry(&self, launch: &Launch, args: &[u64], results: &[u64], options: &CallOptions<'_>) -> Result<Outcome, RunError> {
        let prepared = self.prepared();
        prepared.signature.check(self.module().entry_function(), launch, args, results)?;
        let stream = self.stream(options.stream)?;
        if prepared.settings.options.checked {
            return self.run_checked(launch, args, &stream, options);
        }
        self.run_on(launch, args, &stream, options)?;
        Ok(Outcome::default())
    }

    /// Queues a launch; with arrays of the host it is complete when this returns, and the host language can end the wait for that.
    fn run_on(&self, launch: &Launch, args: &[u64], stream: &Self::Stream, options: &CallOptions<'_>) -> Result<(), RunError> {
        if options.host_arrays.is_empty() {
            return self.queue_on(launch, args, stream, options);
        }
        let mut args = args.to_vec();
        let staged = Staged::upload(stream, options.host_arrays, &mut args)?;
        self.queue_on(launch, &args, stream, options)?;
        patience::lend(options.hooks, || staged.download(stream))
    }

    fn queue_on(&self, launch: &Launch, args: &[u64], stream: &Self::Stream, options: &CallOptions<'_>) -> Result<(), RunError> {
        let plan = |shape| Plan {
            stream,
            shape,
            shared_bytes: options.shared_bytes,
            cooperative: options.cooperative,
        };
        let _current = self.enter()?;
        match launch {
            Launch::Grid(shape) => self.run_grid(&plan(*shape), args),
            Launch::Loop(extents) => {
                // Points in linear order.
                let points = extents.iter().fold(1u64, |product, &n| product.saturating_mul(n));
                if points == 0 {
                    return Ok(());
                }
                let plan = plan(self.loop_shape(points));
                joined(extents, args, |slots| self.start(&plan, slots, &[points]))
            }
            Launch::Call => Ok(()),
        }
    }

    fn run_grid(&self, plan: &Plan<'_, Self::Stream>, args: &[u64]) -> Result<(), RunError> {
        self.limits().check(self.module().entry_function(), plan.shape)?;
        let GridShape { block, grid } = plan.shape;
        let threads: [u64; 3] = std::array::from_fn(|axis| u64::from(block[axis]) * u64::from(grid[axis]));
        self.start(plan, args, &threads)
    }

    /// On the interpreter, with copies of the arrays; complete when it returns.
    fn run_checked(&self, launch: &Launch, args: &[u64], stream: &Self::Stream, options: &CallOptions<'_>) -> Result<Outcome, RunError> {
        if let Launch::Grid(shape) = launch {
            self.limits().check(self.module().entry_function(), *shape)?;
        }
        self.synchronize(stream)?;
        let memory = Either {
            stream,
            hosts: options.host_arrays,
        };
        let outcome = checked::run(self.module(), launch, args, &mut [], options, &memory)?;
        self.synchronize(stream)?;
        Ok(outcome)
    }
}

/// Two lists as one, without memory from the heap where they are short.
pub fn joined<T>(first: &[u64], second: &[u64], work: impl FnOnce(&[u64]) -> T) -> T {
    let mut stack = [0; STACK_SLOTS];
    let Some(slots) = stack.get_mut(..first.len() + second.len()) else {
        return work(&[first, second].concat());
    };
    let (start, rest) = slots.split_at_mut(first.len());
    start.copy_from_slice(first);
    rest.copy_from_slice(second);
    work(slots)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::hosts::Scratch;
    use crate::{Buffer, CompileOptions, DeviceId, Hooks, HostArray, Settings, Signature};

    /// A device whose work never ends: waits for it last until the host language ends them.
    struct Stuck(Prepared<()>);

    #[derive(Debug)]
    struct NoMemory;

    impl Buffer for NoMemory {
        fn device(&self) -> DeviceId {
            DeviceId::CPU
        }

        fn address(&self) -> u64 {
            0
        }

        fn bytes(&self) -> usize {
            0
        }

        fn read(&self, _offset: usize, _into: &mut [u8]) -> Result<(), RunError> {
            Ok(())
        }

        fn write(&self, _offset: usize, _from: &[u8]) -> Result<(), RunError> {
            Ok(())
        }

        fn used_on(&self, _stream: Option<&Arc<dyn Stream>>) {}
    }

    struct StuckStream;

    impl Carrier for StuckStream {
        type Buffer = NoMemory;

        fn captures(&self) -> Result<bool, RunError> {
            Ok(false)
        }

        fn allocate(&self, _bytes: usize) -> Result<NoMemory, RunError> {
            Ok(NoMemory)
        }

        fn scratch(&self, _bytes: usize) -> Result<Option<Scratch<NoMemory>>, RunError> {
            Ok(Some(Scratch::Own(NoMemory)))
        }

        fn upload(&self, _to: u64, _from: u64, _bytes: usize) -> Result<(), RunError> {
            Ok(())
        }

        fn download(&self, _to: u64, _from: u64, _bytes: usize) -> Result<(), RunError> {
            Ok(())
        }

        fn finish(&self) -> Result<(), RunError> {
            assert!(patience::can_end(), "nothing can end this wait");
            patience::look_until(|| false)
        }
    }

    impl Grids for Stuck {
        type Stream = StuckStream;
        type Facts = ();
        type Current<'a> = ();

        fn prepared(&self) -> &Prepared<()> {
            &self.0
        }

        fn limits(&self) -> &Limits {
            &Limits::COMMON
        }

        fn stream<'a>(&'a self, _given: Option<&'a dyn Stream>) -> Result<impl Deref<Target = StuckStream> + 'a, RunError> {
            Ok(&StuckStream)
        }

        fn enter(&self) -> Result<(), RunError> {
            Ok(())
        }

        fn loop_shape(&self, _points: u64) -> GridShape {
            GridShape {
                block: [1; 3],
                grid: [1; 3],
            }
        }

        fn start(&self, _plan: &Plan<'_, StuckStream>, _slots: &[u64], _threads: &[u64]) -> Result<(), RunError> {
            Ok(())
        }

        fn synchronize(&self, _stream: &StuckStream) -> Result<(), RunError> {
            Ok(())
        }
    }

    #[test]
    fn the_wait_for_arrays_of_the_host_can_be_ended() {
        let module = weft_ir::text::parse("entry kernel @nothing() {\n}\n").unwrap();
        let stuck = Stuck(Prepared {
            signature: Signature::of(module.entry_function(), DeviceId::CPU).unwrap(),
            lowered: module.clone(),
            module: Arc::new(module),
            settings: Settings {
                options: CompileOptions::default(),
                most: (),
            },
            views: Vec::new(),
            ints: Vec::new(),
        });
        let options = CallOptions {
            hooks: Hooks {
                interrupted: Some(|| true),
            },
            host_arrays: &[HostArray {
                slot: 0,
                address: 64,
                bytes: 8,
                writable: true,
            }],
            ..CallOptions::default()
        };
        let launch = Launch::Grid(GridShape {
            block: [1; 3],
            grid: [1; 3],
        });
        let ended = stuck.run_on(&launch, &[64], &StuckStream, &options);
        assert_eq!(ended, Err(RunError::Interrupted));
        assert!(!patience::can_end());
    }

    #[test]
    fn extents_come_before_the_arguments() {
        joined(&[1, 2], &[3], |slots| assert_eq!(slots, [1, 2, 3]));
        joined(&[], &[], |slots| assert_eq!(slots, []));
        let many = [7; STACK_SLOTS];
        joined(&[1], &many, |slots| {
            assert_eq!((slots.len(), slots[0], slots[1]), (STACK_SLOTS + 1, 1, 7))
        });
    }
}
