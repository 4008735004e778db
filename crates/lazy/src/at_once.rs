//! Operations of a few stored elements: done at once, with the loops of tier 0, since to record them and to plan a kernel costs more than that.

#![allow(unsafe_code)] // Operands are places in memory that their nodes keep alive.

use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, Ordering};

use smallvec::SmallVec;
use weft_tile::Arg;

use crate::dims::{self, Dims};
use crate::memory::Piece;
use crate::number::Bits;
use crate::operation::Operation;
use crate::value::{Args, Kind, Node, State, Value};
use crate::{capture, compiled, lent, machine, tape};

/// So many elements, at the most.
const MOST: u64 = 128;

static ON: AtomicBool = AtomicBool::new(true);

/// Has few elements wait as many do, or not: tests of what is recorded are tests of small arrays.
pub fn set(on: bool) {
    ON.store(on, Ordering::Relaxed);
}

/// The result, if its operands are there: of its shape, or one number. None of what has to be recorded, as all is while a call writes to arrays;
/// what fails is tried again, and reported, when that is computed.
pub fn map(operation: &'static Operation, args: &Args, shape: &Dims) -> Option<Value> {
    let run = operation.tile.as_ref()?.run;
    let count = dims::size(shape).filter(|&count| count != 0 && count <= MOST)?;
    if !ON.load(Ordering::Relaxed) || capture::is_on() || lent::is_any() || tape::is_here() || !compiled::has_tiles() {
        return None;
    }
    let mut places: SmallVec<[Place; 3]> = SmallVec::new();
    for arg in args {
        places.push(place(arg, shape)?);
    }
    if !places.iter().any(|place| matches!(place, Place::Elements(_))) {
        return None;
    }
    let piece = Piece::fresh(machine::CPU, shape, operation.result).ok()?;
    let operands: SmallVec<[Arg; 3]> = places.iter().map(Place::operand).collect();
    // SAFETY: every operand has so many elements, or one, of the operation's types. The nodes keep them: memory is updated in place where
    // nobody else has it, and lent where nobody else has it, or not at this time. The result's memory is new.
    unsafe { run(piece.address() as *mut u8, operands.as_ptr(), count as usize) };
    Some(Node::stored(operation.result, dims::copy(shape), piece))
}

/// Where an operand is.
enum Place {
    Elements(u64),
    One(u64),
    Number(Bits),
}

impl Place {
    fn operand(&self) -> Arg {
        match self {
            Place::Elements(first) => Arg::run(*first as *const u8),
            Place::One(address) => Arg::one(*address as *const u8),
            Place::Number(bits) => Arg::one(bits.as_ptr().cast()),
        }
    }
}

/// None of what is not there, is elsewhere, or is stretched along some axes only.
fn place(arg: &Value, shape: &Dims) -> Option<Place> {
    if arg.device != machine::CPU {
        return None;
    }
    let state: MutexGuard<'_, State> = arg.lock();
    match &*state {
        State::Pending(Kind::Fill(bits)) => Some(Place::Number(*bits)),
        State::Stored(piece) if arg.shape == *shape => Some(Place::Elements(piece.address())),
        State::Stored(piece) if arg.shape.is_empty() => Some(Place::One(piece.address())),
        _ => None,
    }
}
