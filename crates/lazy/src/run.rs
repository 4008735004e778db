//! Running programs: what depends on fewer axes is computed first, then the rest by the tier that is ready.

use crate::compiled;
use crate::error::Result;
use crate::hoist;
use crate::program::Program;
use crate::tiles::{self, Target};
use crate::trace;

/// Computes a program's result at every point and stores it.
pub fn run(program: Program, target: &Target) -> Result<()> {
    if program.extents.contains(&0) {
        return Ok(());
    }
    trace::kernel(trace::kind(&program), &program, target, || {
        let hoisted = hoist::hoist(&program)?;
        let program = hoisted.as_ref().unwrap_or(&program);
        match compiled::run(program, target)? {
            true => Ok("compiled"),
            false => tiles::run(program, target).map(|()| "tiles"),
        }
    })
}
