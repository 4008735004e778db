//! Running programs: what depends on fewer axes is computed first, then the rest by the tier that is ready.

use crate::error::Result;
use crate::hoist;
use crate::program::Program;
use crate::tiles::{self, Target};
use crate::{compiled, devices, machine, planned, trace};

/// Computes a program's result at every point and stores it.
pub fn run(program: &Program, target: &Target) -> Result<()> {
    if program.extents.contains(&0) {
        return Ok(());
    }
    let device = target.device();
    devices::check(program, device)?;
    trace::kernel(trace::kind(program), program, target, || {
        let hoisted = hoist::hoist(program, device)?;
        let program = hoisted.as_ref().unwrap_or(program);
        if device != machine::CPU {
            planned::fail();
            return devices::run(program, target);
        }
        planned::map(program, target, None);
        match compiled::run(program, target)? {
            true => Ok("compiled"),
            false => tiles::run(program, target).map(|()| "tiles"),
        }
    })
}
