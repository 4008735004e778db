//! Linear algebra: the pool's threads for it, and the function by which compiled code calls its routines.

#![allow(unsafe_code)]

use std::ops::Range;
use std::slice;

use weft_ir::{Outcome, Routine, Scalar};
use weft_linalg::{Alone, Dtype, Failure, Operand, Threads};

use super::context::Context;
use super::{pool, spread};

/// As many threads as launches may use; one for a thread that does a share of something already.
#[derive(Clone, Copy, Debug)]
pub struct Crew;

impl Threads for Crew {
    fn count(&self) -> usize {
        if spread::is_sharing() { 1 } else { pool::current().threads() }
    }

    fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync)) {
        spread::share(units, work);
    }

    fn inside(&self, work: &mut (dyn FnMut(usize) + Send)) {
        // What its threads make and lock must be whole in a forked child.
        let _held = weft_forks::hold();
        pool::current().inside(work);
    }
}

/// Does a routine for compiled code; gives the number of its [`Outcome`].
///
/// # Safety
/// `ctx` is the context compiled code was called with. Threads are used if `threads` is not 0. `slots` has the routine's operands, views of elements of the type, each as its address,
/// its lengths and its strides in bytes; the bytes of `ranks` say how many axes each has. Their shapes are those that the routine's signature
/// asks for, and what is written is memory of its own.
pub unsafe extern "C" fn weft_routine(
    ctx: *const Context<'_>,
    routine: i32,
    elem: i32,
    threads: i32,
    ranks: i64,
    slots: *const i64,
) -> i64 {
    let routine = usize::try_from(routine).ok().and_then(|number| Routine::ALL.get(number));
    let elem = usize::try_from(elem).ok().and_then(|number| Scalar::ALL.get(number));
    let (Some(routine), Some(dtype)) = (routine, elem.and_then(|elem| dtype_of(*elem))) else {
        return Outcome::Absent as i64;
    };
    let (reads, writes) = routine.arity();
    let mut operands = Vec::with_capacity(reads + writes);
    let mut at = 0;
    for place in 0..reads + writes {
        let rank = (ranks >> (8 * place) & 0xff) as usize;
        // SAFETY: by contract.
        let view = unsafe { slice::from_raw_parts(slots.add(at), 1 + 2 * rank) };
        at += view.len();
        operands.push(Operand {
            data: view[0] as usize as *mut u8,
            shape: view[1..1 + rank].iter().map(|&length| length as usize).collect(),
            strides: view[1 + rank..].iter().map(|&stride| stride as isize).collect(),
        });
    }
    let Some(found) = weft_linalg::Routine::find(routine.name()) else {
        return Outcome::Absent as i64;
    };
    // A record's field may lie between elements: it is no matrix of theirs.
    if operands[..reads].iter().any(|operand| !operand.is_regular(dtype.size())) {
        return Outcome::Absent as i64;
    }
    let shapes: Vec<&[usize]> = operands[..reads].iter().map(|operand| operand.shape.as_slice()).collect();
    let Ok(shapes) = found.resolve(&shapes) else {
        return Outcome::Absent as i64;
    };
    let fits = |(operand, shape): (&Operand, &Vec<usize>)| operand.shape == *shape;
    if !operands[reads..].iter().zip(&shapes.outputs).all(fits) {
        return Outcome::Absent as i64;
    }
    // SAFETY: by contract.
    let done = unsafe { weft_linalg::run(found, dtype, &operands, &shapes.stack, if threads != 0 { &Crew } else { &Alone }) };
    let outcome = match done {
        Ok(()) => Outcome::Done,
        Err(Failure::Singular) => Outcome::Singular,
        Err(Failure::NotPositiveDefinite) => Outcome::NotPositiveDefinite,
        Err(Failure::NoConvergence) => Outcome::NoConvergence,
        Err(Failure::Type) => Outcome::Absent,
        Err(Failure::OutOfMemory) => Outcome::OutOfMemory,
        Err(failure @ Failure::Defect) => {
            // The call ends with this, whatever the library raises.
            // SAFETY: by contract.
            unsafe { &*ctx }.broken(failure.to_string());
            Outcome::Absent
        }
    };
    outcome as i64
}

fn dtype_of(elem: Scalar) -> Option<Dtype> {
    Some(match elem {
        Scalar::F32 => Dtype::F32,
        Scalar::F64 => Dtype::F64,
        Scalar::C64 => Dtype::C64,
        Scalar::C128 => Dtype::C128,
        _ => return None,
    })
}
