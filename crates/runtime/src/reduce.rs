//! Loops with reductions of their own on devices that run kernels only: folds of one point, whose results come to the host.

use std::sync::Arc;

use weft_ir::{Const, FuncKind, Function, Scalar};

use crate::{
    Buffer, CallOptions, CompileError, Device, Executable, Inspect, Launch, Outcome, Place, Resources, RunError, Stream, patience, slots,
};

/// A loop with reductions. Its result is there when `run` returns, so that a call waits for its stream.
#[derive(Debug)]
pub struct ReducingLoop {
    device: Arc<dyn Device>,
    /// A loop over one point. Behind the loop's arguments it takes the extents, and a view of one element for each reduction.
    fold: Arc<dyn Executable>,
    rank: usize,
    /// Slots of the argument block.
    slots: usize,
    scalars: Vec<Scalar>,
}

impl ReducingLoop {
    /// `entry` is the loop.
    pub fn new(device: Arc<dyn Device>, entry: &Function, fold: Arc<dyn Executable>) -> Result<ReducingLoop, CompileError> {
        let FuncKind::Loop { rank, reductions } = &entry.kind else {
            return Err(CompileError::Internal(format!("{} is no loop", entry.name)));
        };
        let rank = usize::from(*rank);
        let no_scalar = || CompileError::Internal(format!("a reduction of {} is no scalar", entry.name));
        let scalars = reductions.iter().map(|r| entry.local_ty(r.local).scalar().ok_or_else(no_scalar));
        Ok(ReducingLoop {
            device,
            fold,
            rank,
            slots: entry.params[rank..].iter().map(|&p| entry.ty(p).slots()).sum(),
            scalars: scalars.collect::<Result<_, _>>()?,
        })
    }

    fn check(&self, launch: Launch, args: &[u64], results: &[u64]) -> Result<Vec<u64>, RunError> {
        let Launch::Loop(extents) = launch else {
            return Err(RunError::Invalid(format!("a loop cannot be launched as {launch:?}")));
        };
        let own = self.scalars.iter().map(|scalar| slots_of(*scalar)).sum();
        let (found, expected) = ([extents.len(), args.len(), results.len()], [self.rank, self.slots, own]);
        if found != expected {
            return Err(RunError::Invalid(format!(
                "a loop with reductions takes {expected:?} extents, argument slots and result slots, got {found:?}"
            )));
        }
        Ok(extents)
    }

    /// Runs the fold and brings what it leaves.
    fn reduce(&self, extents: &[u64], args: &[u64], options: &CallOptions<'_>) -> Result<Vec<Const>, RunError> {
        let default = self.device.default_stream()?;
        let stream = options.stream.unwrap_or(&*default);
        if stream.is_capturing()? {
            return Err(RunError::Invalid(
                "a reduction cannot be captured: its result comes to the host".into(),
            ));
        }
        let outs = self.scalars.iter().map(|scalar| self.device.allocate(scalar.size(), None));
        let outs: Vec<_> = outs.collect::<Result<_, _>>()?;
        if options.stream.is_some() {
            // The memory is ready in the default stream's order.
            let ready = self.device.new_event(false)?;
            default.record(&*ready)?;
            stream.wait(&*ready)?;
        }
        let views = outs.iter().zip(&self.scalars);
        let views: Vec<u64> = views.flat_map(|(out, scalar)| [out.address(), 1, scalar.size() as u64]).collect();
        let args = [args, extents, &views].concat();
        self.fold.run(Launch::Loop(vec![1]), &args, &mut [], options)?;
        patience::lend(options.hooks, || {
            // What is read last waits for all.
            let outs = self.scalars.iter().zip(&outs);
            outs.map(|(scalar, out)| first_element(stream, &**out, *scalar)).collect()
        })
    }
}

impl Executable for ReducingLoop {
    fn run(&self, launch: Launch, args: &[u64], results: &mut [u64], options: &CallOptions<'_>) -> Result<Outcome, RunError> {
        let extents = self.check(launch, args, results)?;
        let mut given = Vec::new();
        let totals = self.reduce(&extents, args, options)?;
        totals.into_iter().for_each(|total| slots::write(total, &mut given));
        results.iter_mut().zip(given).for_each(|(slot, value)| *slot = value);
        Ok(Outcome::default())
    }

    fn inspect(&self, what: Inspect) -> Result<String, CompileError> {
        self.fold.inspect(what)
    }

    fn resources(&self) -> Result<Resources, RunError> {
        self.fold.resources()
    }

    fn resident_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u64, RunError> {
        self.fold.resident_blocks(threads, shared_bytes)
    }
}

fn slots_of(scalar: Scalar) -> usize {
    if scalar.is_complex() { 2 } else { 1 }
}

fn first_element(stream: &dyn Stream, buffer: &dyn Buffer, scalar: Scalar) -> Result<Const, RunError> {
    let mut bytes = [0u8; 16];
    let bytes = &mut bytes[..scalar.size()];
    let from = Place::Device(buffer.device(), buffer.address());
    stream.copy(Place::Host(bytes.as_mut_ptr() as u64), from, bytes.len())?;
    Const::from_bytes(scalar, bytes).ok_or_else(|| RunError::Invalid("a bool that is neither 0 nor 1".into()))
}
