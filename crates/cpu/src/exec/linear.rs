//! Linear algebra for compiled code: the pool's threads, and its routines.

#![allow(unsafe_code)]

use std::ops::Range;

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

/// Does a routine with stacks of matrices, of which the first ones are read and the others written.
///
/// # Safety
/// The operands are views of elements of the type, and what is written is memory of its own.
pub unsafe fn routine(ctx: &Context<'_>, routine: Routine, elem: Scalar, threads: bool, operands: &[Operand]) -> Outcome {
    let (Some(found), Some(dtype)) = (weft_linalg::Routine::find(routine.name()), dtype_of(elem)) else {
        return Outcome::Absent;
    };
    let (reads, _) = routine.arity();
    // A record's field may lie between elements: it is no matrix of theirs.
    if operands[..reads].iter().any(|operand| !operand.is_regular(dtype.size())) {
        return Outcome::Absent;
    }
    let shapes: Vec<&[usize]> = operands[..reads].iter().map(|operand| operand.shape.as_slice()).collect();
    let Ok(shapes) = found.resolve(&shapes) else {
        return Outcome::Absent;
    };
    let fits = |(operand, shape): (&Operand, &Vec<usize>)| operand.shape == *shape;
    if !operands[reads..].iter().zip(&shapes.outputs).all(fits) {
        return Outcome::Absent;
    }
    // SAFETY: by contract.
    let done = unsafe { weft_linalg::run(found, dtype, operands, &shapes.stack, if threads { &Crew } else { &Alone }) };
    match done {
        Ok(()) => Outcome::Done,
        Err(Failure::Singular) => Outcome::Singular,
        Err(Failure::NotPositiveDefinite) => Outcome::NotPositiveDefinite,
        Err(Failure::NoConvergence) => Outcome::NoConvergence,
        Err(Failure::Type) => Outcome::Absent,
        Err(Failure::OutOfMemory) => Outcome::OutOfMemory,
        Err(failure @ Failure::Defect) => {
            // The call ends with this, whatever the library raises.
            ctx.broken(failure.to_string());
            Outcome::Absent
        }
    }
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
