//! Checked mode: the interpreter runs the module as the front end made it, with every check.

use weft_ir::Module;
use weft_runtime::{Launch, Outcome, RunError};

/// Runs the entry on the interpreter.
pub fn run(_module: &Module, _launch: &Launch, _args: &[u64], _results: &mut [u64]) -> Result<Outcome, RunError> {
    Err(RunError::Invalid("checked mode is not there yet".into()))
}
