//! Signatures: what launches on a GPU give to an entry: extents and an argument block.

use weft_ir::{FuncKind, Function};

use crate::{CompileError, DeviceId, Launch, RunError};

/// How much of each an entry takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// Slots of the argument block.
    slots: usize,
    /// A loop's extents; a kernel has none.
    extents: usize,
}

impl Signature {
    /// Of a kernel, or a loop without reductions; a device of this kind runs no other function.
    pub fn of(entry: &Function, device: DeviceId) -> Result<Signature, CompileError> {
        let extents = match &entry.kind {
            FuncKind::Kernel => 0,
            FuncKind::Loop { rank, reductions } if reductions.is_empty() => usize::from(*rank),
            kind => {
                return Err(CompileError::Internal(format!(
                    "{} is a {kind:?} function; {device} runs kernels and loops without reductions",
                    entry.name
                )));
            }
        };
        let slots = entry.params[extents..].iter().map(|&p| entry.ty(p).slots()).sum();
        Ok(Signature { slots, extents })
    }

    /// Refuses launches of another kind, and argument blocks of the wrong size, beyond whose end parameters would lie.
    pub fn check(&self, entry: &Function, launch: &Launch, args: &[u64], results: &[u64]) -> Result<(), RunError> {
        let given = match launch {
            Launch::Grid(_) if self.extents == 0 => 0,
            Launch::Loop(extents) if self.extents > 0 => extents.len(),
            _ => {
                let kind = &entry.kind;
                return Err(RunError::Invalid(format!("a {kind:?} function cannot be launched as {launch:?}")));
            }
        };
        if given != self.extents {
            return Err(RunError::Invalid(format!("a loop of rank {} got {given} extents", self.extents)));
        }
        if args.len() != self.slots || !results.is_empty() {
            return Err(RunError::Invalid(format!(
                "{} takes {} argument slots and gives no results, got {} and {}",
                entry.name,
                self.slots,
                args.len(),
                results.len()
            )));
        }
        Ok(())
    }
}
