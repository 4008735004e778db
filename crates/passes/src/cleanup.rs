//! Cleanup: constants are folded, gets of a local whose value is known become that value, and what nobody reads goes.
//!
//! Everything is linear in the size of the function (times its depth). Loads stay even if nobody reads them: only operations without
//! effect are dropped.

mod dead;
mod known;

use weft_ir::Module;

use crate::compact;
use crate::error::PassError;

/// Cleans every function of a module.
pub fn run(module: &mut Module) -> Result<(), PassError> {
    for func in &mut module.functions {
        known::simplify(func);
        dead::drop_sets(func);
        dead::drop_values(func);
        compact::function(func);
    }
    Ok(())
}
