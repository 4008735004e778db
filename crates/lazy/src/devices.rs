//! Programs on devices that are not the CPU: compiled at once, and copies to them, from them and on them.

use weft_runtime::{Place, RunError};

use crate::error::{Error, Result};
use crate::memory::Piece;
use crate::program::Program;
use crate::tiles::Target;
use crate::{compiled, hosted, machine};

/// Queues a program's kernel; by which tier it is done. Elements that lie as no kernel takes them are computed by the host.
pub fn run(program: &Program, target: &Target) -> Result<&'static str> {
    match compiled::run(program, target)? {
        true => Ok("compiled"),
        false => hosted::run(program, target).map(|()| "host"),
    }
}

/// Memory that code of one device is given has to be that device's.
pub fn check(program: &Program, device: u8) -> Result<()> {
    match program.loads.iter().all(|load| load.piece.block.device() == device) {
        true => Ok(()),
        false => Err(Error::Internal("a kernel reads another device's memory".into())),
    }
}

/// Copies bytes on one device.
pub fn copy(to: &Piece, from: &Piece, bytes: u64) -> Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    let device = machine::device(to.block.device())?;
    let place = |piece: &Piece| Place::Device(device.id(), piece.address());
    Ok(device.default_stream()?.copy(place(to), place(from), bytes as usize)?)
}

/// Copies bytes from one device to another.
pub fn carry(to: &Piece, from: &Piece, bytes: u64) -> Result<()> {
    let (here, there) = (from.block.device(), to.block.device());
    if bytes == 0 {
        return Ok(());
    }
    if here == there {
        return copy(to, from, bytes);
    }
    let size = bytes as usize;
    if here == machine::CPU {
        let device = machine::device(there)?;
        let to = Place::Device(device.id(), to.address());
        return Ok(device.default_stream()?.copy(to, Place::Host(from.address()), size)?);
    }
    if there == machine::CPU {
        let device = machine::device(here)?;
        let from = Place::Device(device.id(), from.address());
        return Ok(device.default_stream()?.copy(Place::Host(to.address()), from, size)?);
    }
    let mut room = Vec::new();
    room.try_reserve_exact(size).map_err(|_| RunError::host_memory(bytes))?;
    room.resize(size, 0);
    from.block.buffer().read(from.offset as usize, &mut room)?;
    Ok(to.block.buffer().write(to.offset as usize, &room)?)
}
