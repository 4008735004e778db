//! Calls: a routine for every matrix of a stack, shared among threads.

#![allow(unsafe_code)]

use std::num::NonZero;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU8, Ordering};

use faer::Par;

use crate::element::Dtype;
use crate::failure::Failure;
use crate::operand::{Item, Operand};
use crate::routines::{Routine, Run};

/// Multiplications that are worth waking a thread for: some 50 microseconds of them.
const WORTH_SHARING: f64 = 1e6;
/// Multiplications of one matrix that are worth doing by several threads.
const WORTH_SPLITTING: f64 = 1e7;

/// Multiplications of one matrix from which on what is needed for later ones is fetched meanwhile.
const WORTH_LOOKING: f64 = 1000.0;
/// So many places ahead: the next one is on its way already.
const AHEAD: u64 = 2;

/// Operands of one routine.
const MOST_OPERANDS: usize = 4;

/// The threads that a call may use.
pub trait Threads: Sync {
    /// How many there are, the calling one among them.
    fn count(&self) -> usize;

    /// Does the work for all of so many units, some at a time, on all threads; false of it ends that.
    fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync));

    /// Does the work on a thread of a rayon pool, and tells it of how many threads that is; 1 if there is no pool.
    fn inside(&self, work: &mut (dyn FnMut(usize) + Send));
}

/// The calling thread and no other.
#[derive(Clone, Copy, Debug)]
pub struct Alone;

impl Threads for Alone {
    fn count(&self) -> usize {
        1
    }

    fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync)) {
        work(0..units);
    }

    fn inside(&self, work: &mut (dyn FnMut(usize) + Send)) {
        work(1);
    }
}

/// The operands of one call, which threads share.
struct Call<'a> {
    routine: &'a Routine,
    run: Run,
    operands: &'a [Operand],
    stack: &'a [usize],
}

// SAFETY: the operands' memory may be used by any thread, and each matrix of a result is written by one.
unsafe impl Sync for Call<'_> {}

impl Call<'_> {
    /// A matrix; `next` is the place of one that follows soon, if that is of interest.
    fn one(&self, place: u64, next: Option<u64>, par: Par) -> Result<(), Failure> {
        let forms = self.routine.inputs.iter().chain(self.routine.outputs);
        let mut items = [Item::NOTHING; MOST_OPERANDS];
        for (item, (form, operand)) in items.iter_mut().zip(forms.zip(self.operands)) {
            *item = operand.at(form.axes.len(), self.stack, place);
            if let Some(next) = next {
                item.next = operand.at(form.axes.len(), self.stack, next).data;
            }
        }
        // A panic must not unwind through compiled code, nor through threads that others wait for.
        let result = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the caller of `run` says what the operands are.
            unsafe { (self.run)(&items[..self.operands.len()], par) }
        }));
        result.unwrap_or(Err(Failure::Defect))
    }

    fn some(&self, places: Range<u64>, par: Par) -> Result<(), Failure> {
        let last = if self.looks_ahead() { places.end.saturating_sub(AHEAD) } else { 0 };
        places.into_iter().try_for_each(|place| {
            let next = (place < last).then_some(place + AHEAD);
            self.one(place, next, par)
        })
    }

    /// Whether a routine is told of the next matrices: products alone use it, and only those of matrices that are more than some cache lines.
    fn looks_ahead(&self) -> bool {
        self.routine.name == "matmul" && self.work() >= WORTH_LOOKING
    }

    /// How often the elements of the first matrix are used at least: a system is eliminated, however few its right-hand sides are.
    fn least(&self) -> f64 {
        match self.routine.name {
            "solve" => self.operands[0].shape.last().map_or(1.0, |&length| length as f64),
            _ => 1.0,
        }
    }

    /// The multiplications of one matrix, about.
    fn work(&self) -> f64 {
        let lengths = self.routine.inputs.iter().zip(self.operands).flat_map(|(form, operand)| {
            let front = operand.shape.len() - form.axes.len();
            operand.shape[front..].iter().map(|&length| length as f64)
        });
        let (mut largest, mut product) = (1.0_f64, 1.0_f64);
        for length in lengths.take(2) {
            largest = largest.max(length);
            product *= length;
        }
        match self.routine.inputs.len() {
            1 => product * largest,
            _ => product * self.operands[1].shape.last().map_or(1.0, |&length| length as f64).max(self.least()),
        }
    }
}

/// Calls a routine for every matrix of a stack. The first matrix that has no result ends it.
///
/// # Safety
/// The operands are those of the routine's signature, those that are read first, their shapes those that [`crate::signature::resolve`] found:
/// elements of their types, aligned, at all of their places; strides are multiples of the elements' size. Nobody else writes any of them,
/// nobody else reads those that are written, and of those no two elements are one place.
pub unsafe fn run(routine: &Routine, dtype: Dtype, operands: &[Operand], stack: &[usize], threads: &dyn Threads) -> Result<(), Failure> {
    let places = stack.iter().product::<usize>() as u64;
    let Some(run) = routine.of(dtype) else {
        return Err(Failure::Type);
    };
    let call = Call {
        routine,
        run,
        operands,
        stack,
    };
    if places == 0 {
        return Ok(());
    }
    done(&call, places, threads)
}

fn done(call: &Call<'_>, places: u64, threads: &dyn Threads) -> Result<(), Failure> {
    let work = call.work();
    // What is small does not even ask how many threads there are.
    let is_large = work * places as f64 >= WORTH_SHARING;
    let count = if is_large { threads.count() } else { 1 };
    if count > 1 && places > 1 && (work < WORTH_SPLITTING || places >= 4 * count as u64) {
        return shared(call, places, threads);
    }
    if count < 2 || work < WORTH_SPLITTING {
        return call.some(0..places, Par::Seq);
    }
    let mut result = Ok(());
    threads.inside(&mut |count| {
        let several = NonZero::new(count).filter(|count| count.get() > 1);
        result = call.some(0..places, several.map_or(Par::Seq, Par::Rayon));
    });
    result
}

fn shared(call: &Call<'_>, places: u64, threads: &dyn Threads) -> Result<(), Failure> {
    const FAILURES: [Failure; 6] = [
        Failure::Singular,
        Failure::NotPositiveDefinite,
        Failure::NoConvergence,
        Failure::OutOfMemory,
        Failure::Type,
        Failure::Defect,
    ];
    let failed = AtomicU8::new(u8::MAX);
    threads.share(places, &|range| match call.some(range, Par::Seq) {
        Ok(()) => true,
        Err(failure) => {
            failed.store(failure as u8, Ordering::Relaxed);
            false
        }
    });
    FAILURES
        .get(usize::from(failed.into_inner()))
        .map_or(Ok(()), |failure| Err(*failure))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Several threads that are one.
    struct Several;

    impl Threads for Several {
        fn count(&self) -> usize {
            2
        }

        fn share(&self, units: u64, work: &(dyn Fn(Range<u64>) -> bool + Sync)) {
            let _ = work(0..units / 2) && work(units / 2..units);
        }

        fn inside(&self, work: &mut (dyn FnMut(usize) + Send)) {
            work(1);
        }
    }

    #[test]
    fn panics_are_failures() {
        unsafe fn broken(_: &[Item<'_>], _: Par) -> Result<(), Failure> {
            panic!("a defect")
        }
        let Some(routine) = Routine::find("inv") else { unreachable!() };
        let operand = |stack: usize, n: usize| Operand {
            data: std::ptr::null_mut(),
            shape: vec![stack, n, n],
            strides: vec![0; 3],
        };
        let silent = std::panic::take_hook();
        std::panic::set_hook(Box::new(|_| ()));
        for (stack, n) in [(1, 2), (8, 100), (1, 1000)] {
            let operands = [operand(stack, n), operand(stack, n)];
            let call = Call {
                routine,
                run: broken,
                operands: &operands,
                stack: &[stack],
            };
            assert_eq!(done(&call, stack as u64, &Several), Err(Failure::Defect));
            assert_eq!(done(&call, stack as u64, &Alone), Err(Failure::Defect));
        }
        std::panic::set_hook(silent);
    }
}
