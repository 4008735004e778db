//! Routines of libraries: the function by which compiled code calls them.

#![allow(unsafe_code)]

use std::panic::{self, AssertUnwindSafe};
use std::slice;

use weft_ir::{Outcome, Routine, Scalar};
use weft_linalg::Operand;

use super::context::Context;
use super::{linear, spectral};

/// Does a routine for compiled code; gives the number of its [`Outcome`].
///
/// # Safety
/// `ctx` is the context compiled code was called with. Threads are used if `threads` is not 0. `slots` has the routine's operands, views, each as
/// its address, its lengths and its strides in bytes; the bytes of `ranks` say how many axes each has. The first one has elements of the type, and
/// so have the others unless the routine says otherwise. What is written is memory of its own.
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
    let (Some(&routine), Some(&elem)) = (routine, elem) else {
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
    // SAFETY: by contract.
    let ctx = unsafe { &*ctx };
    // SAFETY: by contract.
    let run = || unsafe {
        match spectral::kind_of(routine) {
            Some(kind) => spectral::routine(ctx, kind, elem, threads != 0, &operands),
            None => linear::routine(ctx, routine, elem, threads != 0, &operands),
        }
    };
    // Compiled code has no frames to unwind.
    let outcome = panic::catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| {
        ctx.broken("a routine of a library panicked");
        Outcome::Absent
    });
    outcome as i64
}
