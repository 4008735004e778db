//! Plans of transforms, made when a length is first asked for and kept for the next time.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::thread::LocalKey;

use rustfft::num_complex::Complex;
use rustfft::{Fft, FftDirection, FftNum};
use weft_forks::Mutex;

use crate::vectors::Vectors;
use crate::{real, slow};

/// Plans that are kept: so many, and so many points of all of them.
const KEPT: usize = 64;
const KEPT_POINTS: usize = 1 << 22;

/// Numbers of one precision.
pub trait Real: FftNum + fmt::Debug + Vectors {
    #[doc(hidden)]
    fn of(number: f64) -> Self;

    #[doc(hidden)]
    fn kept() -> &'static Kept<Self>;

    #[doc(hidden)]
    fn spare() -> &'static LocalKey<Cell<Vec<Self>>>;
}

macro_rules! real {
    ($($kind:ty),*) => {$(
        impl Real for $kind {
            fn of(number: f64) -> $kind {
                number as $kind
            }

            fn kept() -> &'static Kept<$kind> {
                static KEPT: Kept<$kind> = Kept::new();
                &KEPT
            }

            fn spare() -> &'static LocalKey<Cell<Vec<$kind>>> {
                thread_local! {
                    static SPARE: Cell<Vec<$kind>> = const { Cell::new(Vec::new()) };
                }
                &SPARE
            }
        }
    )*};
}

real!(f32, f64);

/// What plans are told apart by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Points of the complex transform.
    pub points: usize,
    pub direction: FftDirection,
    /// Twice as many real numbers are transformed by it.
    pub halves: bool,
}

pub struct Plan<T> {
    pub complex: Arc<dyn Fft<T>>,
    /// What real lines are put together with.
    pub roots: Vec<Complex<T>>,
}

impl<T> fmt::Debug for Plan<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan").field("points", &self.complex.len()).finish_non_exhaustive()
    }
}

/// The plans that were used last, the latest of them at the end.
#[derive(Debug)]
pub struct Kept<T>(Mutex<Vec<(Key, Arc<Plan<T>>)>>);

impl<T> Kept<T> {
    const fn new() -> Kept<T> {
        Kept(Mutex::new(Vec::new()))
    }

    fn find(&self, key: Key) -> Option<Arc<Plan<T>>> {
        let mut plans = self.0.lock();
        let at = plans.iter().rposition(|(known, _)| *known == key)?;
        if at + 1 < plans.len() {
            let found = plans.remove(at);
            plans.push(found);
        }
        plans.last().map(|(_, plan)| plan.clone())
    }

    fn keep(&self, key: Key, plan: &Arc<Plan<T>>) {
        let mut plans = self.0.lock();
        plans.retain(|(known, _)| *known != key);
        plans.push((key, plan.clone()));
        let points = |plans: &[(Key, Arc<Plan<T>>)]| plans.iter().map(|(key, _)| key.points).sum::<usize>();
        while plans.len() > KEPT || (plans.len() > 1 && points(&plans) > KEPT_POINTS) {
            plans.remove(0);
        }
    }
}

/// The plan of a transform. Making one may take as long as some transforms, so nothing is locked meanwhile: two threads may make it at once.
pub fn plan<T: Real>(key: Key) -> Arc<Plan<T>> {
    let kept = T::kept();
    if let Some(found) = kept.find(key) {
        return found;
    }
    let made = Arc::new(Plan {
        complex: fastest(key.points, key.direction),
        roots: if key.halves { real::roots(2 * key.points) } else { Vec::new() },
    });
    kept.keep(key, &made);
    made
}

/// rustfft's planner for this processor's vectors, ours where it has none. (Its own planner for all has every algorithm once more.)
fn fastest<T: Real>(points: usize, direction: FftDirection) -> Arc<dyn Fft<T>> {
    #[cfg(target_arch = "x86_64")]
    if let Ok(mut planner) = rustfft::FftPlannerAvx::new() {
        return planner.plan_fft(points, direction);
    }
    #[cfg(target_arch = "aarch64")]
    if let Ok(mut planner) = rustfft::FftPlannerNeon::new() {
        return planner.plan_fft(points, direction);
    }
    slow::plan(points, direction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_kept() {
        let key = |points| Key {
            points,
            direction: FftDirection::Forward,
            halves: false,
        };
        let made = |points| {
            Arc::new(Plan {
                complex: slow::plan::<f32>(points, FftDirection::Forward),
                roots: Vec::new(),
            })
        };
        let kept = Kept::new();
        for points in 1..=KEPT + 1 {
            kept.keep(key(points), &made(points));
            assert!(kept.find(key(2)).is_some() || points == 1);
        }
        assert!(kept.find(key(1)).is_none() && kept.find(key(3)).is_some());
        let large = Key {
            points: KEPT_POINTS,
            ..key(0)
        };
        kept.keep(large, &made(1));
        assert!(kept.find(key(2)).is_none() && kept.find(large).is_some());
    }

    #[test]
    fn planners_agree() {
        for points in (1..70).chain([105, 128, 1009]) {
            let line: Vec<Complex<f64>> = (0..points).map(|i| Complex::new((i % 7) as f64, (i % 3) as f64)).collect();
            let (mut a, mut b) = (line.clone(), line);
            fastest(points, FftDirection::Inverse).process(&mut a);
            slow::plan(points, FftDirection::Inverse).process(&mut b);
            assert!(a.iter().zip(&b).all(|(a, b)| (a - b).norm() < 1e-11 * points as f64), "{points}");
        }
    }
}
