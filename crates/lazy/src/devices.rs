//! Programs on devices that are not the CPU: compiled at once, and copies to them, from them and on them.

use smallvec::{SmallVec, smallvec};
use weft_ir::Scalar;
use weft_runtime::{Place, RunError};

use crate::dims::{self, Dims, Strides};
use crate::error::{Error, Result};
use crate::memory::{Block, Piece};
use crate::program::{Iota, Load, Program, Slot};
use crate::tiles::Target;
use crate::{compiled, hosted, machine};

/// Queues a program's kernel; by which tier it is done. Elements that lie as no kernel takes them are computed by the host.
pub fn run(program: &Program, target: &Target) -> Result<&'static str> {
    let stored = match program.has_functions() && !program.iotas.is_empty() {
        true => Some(with_stored_iotas(program, target.device())?),
        false => None,
    };
    let program = stored.as_ref().unwrap_or(program);
    match compiled::run(program, target)? {
        true => Ok("compiled"),
        false => hosted::run(program, target).map(|()| "host"),
    }
}

/// The program with its iotas in memory: functions of users are linked with operands in memory and numbers only.
fn with_stored_iotas(program: &Program, device: u8) -> Result<Program> {
    let mut made = program.clone();
    let mut places: SmallVec<[Slot; 2]> = SmallVec::new();
    for iota in std::mem::take(&mut made.iotas) {
        let axis = iota.along.map(usize::from);
        let extents = Dims::from_slice(&[axis.map_or(1, |axis| program.extents[axis])]);
        let alone = Program {
            extents: extents.clone(),
            iotas: SmallVec::from_elem(Iota { along: Some(0), ..iota }, 1),
            result: Some(Slot::Iota(0)),
            ..Program::default()
        };
        let load = stored(&alone, iota.elem, device)?;
        let mut strides: Strides = smallvec![0; program.extents.len()];
        if let Some(axis) = axis {
            strides[axis] = iota.elem.size() as i64;
        }
        places.push(made.loaded(Load { strides, ..load }));
    }
    let placed = |slot: &mut Slot| {
        if let Slot::Iota(at) = *slot {
            *slot = places[usize::from(at)];
        }
    };
    made.steps.iter_mut().flat_map(|step| &mut step.args).for_each(placed);
    made.result.iter_mut().for_each(placed);
    Ok(made)
}

/// Computes a program's elements into memory of a device.
pub fn stored(program: &Program, elem: Scalar, device: u8) -> Result<Load> {
    let bytes = dims::bytes(&program.extents, elem.size()).ok_or_else(|| Error::Memory("array is too big".into()))?;
    let piece = Piece::whole(Block::on(device, bytes)?);
    let strides = dims::dense(&program.extents, elem.size());
    run(program, &Target::of(elem, &piece, 0, &program.extents, strides.clone()))?;
    Ok(Load {
        elem,
        piece,
        offset: 0,
        strides,
    })
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
