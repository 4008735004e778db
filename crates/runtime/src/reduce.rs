//! Loops with reductions on devices that run kernels only: the two kernels that `weft_passes::reduce` makes of one, and what each leaves
//! for the next.

use std::sync::Arc;

use weft_ir::order::Stage;
use weft_ir::{Const, FuncKind, Function, ReduceOp, Reduction, Scalar};

use crate::{
    Buffer, CallOptions, CompileError, Device, Executable, GridShape, Inspect, Launch, Outcome, Place, Resources, RunError, Stream,
    patience, slots,
};

/// The kernels, compiled.
#[derive(Debug)]
pub struct Kernels {
    pub parts: Arc<dyn Executable>,
    pub whole: Arc<dyn Executable>,
    /// Threads of a block of either.
    pub threads: u32,
    /// What there is to launch for an index space of these extents.
    pub stage: fn(&[u64]) -> Stage,
}

/// A loop with reductions. Its result is there when `run` returns, so that a call waits for its stream.
#[derive(Debug)]
pub struct ReducingLoop {
    device: Arc<dyn Device>,
    kernels: Kernels,
    rank: usize,
    /// Slots of the argument block.
    slots: usize,
    scalars: Vec<(ReduceOp, Scalar)>,
}

impl ReducingLoop {
    /// `entry` is the loop.
    pub fn new(device: Arc<dyn Device>, entry: &Function, kernels: Kernels) -> Result<ReducingLoop, CompileError> {
        let FuncKind::Loop { rank, reductions } = &entry.kind else {
            return Err(CompileError::Internal(format!("{} is no loop", entry.name)));
        };
        let rank = usize::from(*rank);
        let scalar = |r: &Reduction| Some((r.op, entry.local_ty(r.local).scalar()?));
        Ok(ReducingLoop {
            device,
            kernels,
            rank,
            slots: entry.params[rank..].iter().map(|&p| entry.ty(p).slots()).sum(),
            scalars: reductions.iter().filter_map(scalar).collect(),
        })
    }

    fn check(&self, launch: Launch, args: &[u64], results: &[u64]) -> Result<Vec<u64>, RunError> {
        let Launch::Loop(extents) = launch else {
            return Err(RunError::Invalid(format!("a loop cannot be launched as {launch:?}")));
        };
        let own = self.scalars.iter().map(|(_, scalar)| slots_of(*scalar)).sum();
        let (found, expected) = ([extents.len(), args.len(), results.len()], [self.rank, self.slots, own]);
        if found != expected {
            return Err(RunError::Invalid(format!(
                "a loop with reductions takes {expected:?} extents, argument slots and result slots, got {found:?}"
            )));
        }
        Ok(extents)
    }

    /// Runs both kernels and brings what they leave.
    fn reduce(&self, extents: &[u64], args: &[u64], options: &CallOptions<'_>) -> Result<Vec<Const>, RunError> {
        let default = self.device.default_stream()?;
        let stream = options.stream.unwrap_or(&*default);
        if stream.is_capturing()? {
            return Err(RunError::Invalid(
                "a reduction cannot be captured: its result comes to the host".into(),
            ));
        }
        let Stage { blocks, partials, chunk } = (self.kernels.stage)(extents);
        let mut parts = Vec::new();
        for (_, scalar) in &self.scalars {
            let bytes = usize::try_from(partials).ok().and_then(|n| n.checked_mul(scalar.size()));
            let bytes = bytes.ok_or_else(|| RunError::Invalid("an index space of too many points".into()))?;
            parts.push(self.device.allocate(bytes, None)?);
        }
        if options.stream.is_some() {
            // The memory is ready in the default stream's order.
            let ready = self.device.new_event(false)?;
            default.record(&*ready)?;
            stream.wait(&*ready)?;
        }
        let grid = |blocks| {
            Launch::Grid(GridShape {
                block: [self.kernels.threads, 1, 1],
                grid: [blocks, 1, 1],
            })
        };
        let views = parts
            .iter()
            .zip(&self.scalars)
            .flat_map(|(buffer, (_, scalar))| [buffer.address(), partials, scalar.size() as u64]);
        let views: Vec<u64> = views.collect();
        let first = [args, extents, &views].concat();
        self.kernels.parts.run(grid(blocks), &first, &mut [], options)?;
        if partials > 1 {
            let second = [&[partials, chunk], &views[..]].concat();
            let options = CallOptions {
                host_arrays: &[],
                ..*options
            };
            self.kernels.whole.run(grid(1), &second, &mut [], &options)?;
        }
        patience::lend(options.hooks, || {
            // What is read last waits for all.
            self.scalars
                .iter()
                .zip(&parts)
                .map(|((_, scalar), part)| first_element(stream, &**part, *scalar))
                .collect()
        })
    }
}

impl Executable for ReducingLoop {
    fn run(&self, launch: Launch, args: &[u64], results: &mut [u64], options: &CallOptions<'_>) -> Result<Outcome, RunError> {
        let extents = self.check(launch, args, results)?;
        let points = extents.iter().fold(1u64, |product, &n| product.saturating_mul(n));
        let totals = match points {
            0 => self.scalars.iter().filter_map(|(op, scalar)| op.identity(*scalar)).collect(),
            _ => self.reduce(&extents, args, options)?,
        };
        let mut given = Vec::new();
        totals.into_iter().for_each(|total| slots::write(total, &mut given));
        results.iter_mut().zip(given).for_each(|(slot, value)| *slot = value);
        Ok(Outcome::default())
    }

    /// Both kernels, one behind the other.
    fn inspect(&self, what: Inspect) -> Result<String, CompileError> {
        Ok(format!(
            "{}\n{}",
            self.kernels.parts.inspect(what)?,
            self.kernels.whole.inspect(what)?
        ))
    }

    fn resources(&self) -> Result<Resources, RunError> {
        self.kernels.parts.resources()
    }

    fn resident_blocks(&self, threads: u32, shared_bytes: u32) -> Result<u64, RunError> {
        self.kernels.parts.resident_blocks(threads, shared_bytes)
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
