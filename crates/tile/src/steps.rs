//! Steps of optimizers: parameters follow their gradients, and what is kept of these is renewed, in one loop over the elements. Every
//! operation is rounded as it is where it is an operation of arrays.

#![allow(unsafe_code)] // Operands are places in memory; whoever runs a loop answers for them.

use std::marker::PhantomData;

use weft_ir::Scalar;

use crate::element::Real;

/// Which step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Adam and `AdamW`. Fixed are the two decays of the means, each before what is left of 1, epsilon, and what of the parameter is added to the
    /// gradient; the numbers of a step are its rate, what the means are multiplied by, which started at 0, and what of the parameter is kept.
    Adam,
    /// Gradient descent. Fixed is what of the parameter is added to the gradient; a step has its rate.
    Descent,
    /// With a momentum, which is the second fixed number; the second of a step is what of the gradient is added to it.
    Momentum,
    /// The same, where parameters follow what the momentum will be.
    Nesterov,
}

impl Rule {
    pub const ALL: [Rule; 4] = [Rule::Adam, Rule::Descent, Rule::Momentum, Rule::Nesterov];

    pub fn name(self) -> &'static str {
        match self {
            Rule::Adam => "adam",
            Rule::Descent => "descent",
            Rule::Momentum => "momentum",
            Rule::Nesterov => "nesterov",
        }
    }

    /// How many numbers are fixed, and how many each step has.
    pub fn numbers(self) -> (usize, usize) {
        match self {
            Rule::Adam => (6, 4),
            Rule::Descent => (1, 1),
            Rule::Momentum | Rule::Nesterov => (2, 2),
        }
    }

    /// How many arrays are kept for each parameter.
    pub fn kept(self) -> usize {
        match self {
            Rule::Adam => 2,
            Rule::Descent => 0,
            Rule::Momentum | Rule::Nesterov => 1,
        }
    }
}

/// The most numbers that a rule has.
const MOST_NUMBERS: usize = 10;
/// The most arrays that there are for a parameter: itself, its gradient, what is kept.
pub const MOST_ARRAYS: usize = 4;

/// The elements of a parameter and what belongs to it, and where they come to be.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// The parameter, its gradient, and what is kept for it.
    pub from: [*const u8; MOST_ARRAYS],
    /// The parameter, and what is kept for it. Each is the place that it comes from, or overlaps none.
    pub to: [*mut u8; MOST_ARRAYS],
}

type Run = unsafe fn(rule: Rule, numbers: *const [f64; MOST_NUMBERS], places: &Places, n: usize);

/// Makes a step of `n` elements, of float32 or float64: false for other types, or another count of numbers. The numbers are those that the rule
/// has fixed and those of the step, which have the type's precision.
///
/// # Safety
/// The places that the rule has hold `n` elements of the type, aligned or not, and nobody else writes to them.
pub unsafe fn step(rule: Rule, elem: Scalar, numbers: &[f64], places: &Places, n: usize) -> bool {
    let (fixed, of_step) = rule.numbers();
    let runs = match elem {
        Scalar::F32 => Levels::<f32>::RUNS,
        Scalar::F64 => Levels::<f64>::RUNS,
        _ => return false,
    };
    if numbers.len() != fixed + of_step {
        return false;
    }
    let mut all = [0.0; MOST_NUMBERS];
    all[..numbers.len()].copy_from_slice(numbers);
    // SAFETY: the caller's promises are the same, and the level is the machine's.
    unsafe { runs[level()](rule, &raw const all, places, n) };
    true
}

/// Floats that numbers can be made of.
trait Float: Real {
    fn from(number: f64) -> Self;
}

impl Float for f32 {
    #[inline(always)]
    fn from(number: f64) -> f32 {
        number as f32
    }
}

impl Float for f64 {
    #[inline(always)]
    fn from(number: f64) -> f64 {
        number
    }
}

struct Levels<T>(PhantomData<T>);

impl<T: Float> Levels<T> {
    #[cfg(target_arch = "x86_64")]
    const RUNS: &'static [Run] = &[plain::<T>, avx2::<T>, avx512::<T>];
    #[cfg(not(target_arch = "x86_64"))]
    const RUNS: &'static [Run] = &[plain::<T>];
}

/// # Safety
/// That of [`step`].
unsafe fn plain<T: Float>(rule: Rule, numbers: *const [f64; MOST_NUMBERS], places: &Places, n: usize) {
    // SAFETY: the caller's promises are the same.
    unsafe { all::<T>(rule, numbers, places, n) }
}

/// # Safety
/// That of [`step`], on a machine of this level.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
unsafe fn avx2<T: Float>(rule: Rule, numbers: *const [f64; MOST_NUMBERS], places: &Places, n: usize) {
    // SAFETY: the caller's promises are the same.
    unsafe { all::<T>(rule, numbers, places, n) }
}

/// # Safety
/// That of [`step`], on a machine of this level.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,bmi1,bmi2,fma,lzcnt,popcnt")]
unsafe fn avx512<T: Float>(rule: Rule, numbers: *const [f64; MOST_NUMBERS], places: &Places, n: usize) {
    // SAFETY: the caller's promises are the same.
    unsafe { all::<T>(rule, numbers, places, n) }
}

/// The level of this machine. Roots and quotients are most of a step, and are done twice as fast where there are wider vectors.
#[cfg(target_arch = "x86_64")]
fn level() -> usize {
    let has_512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw");
    match crate::run::level() {
        1 if has_512 => 2,
        other => other,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn level() -> usize {
    0
}

/// Elements that are computed at once. They are copied, so that nothing has to be known of whether places are the same.
const CHUNK: usize = 64;

#[repr(align(64))]
struct Chunk<T>([T; CHUNK]);

impl<T: Float> Chunk<T> {
    /// `n` elements from the i-th on, and zeros behind them; `WHOLE`: as many as a chunk has, which makes it a few instructions.
    ///
    /// # Safety
    /// There are so many.
    #[inline(always)]
    unsafe fn load<const WHOLE: bool>(place: *const u8, i: usize, n: usize) -> Chunk<T> {
        let from = place.wrapping_add(i * size_of::<T>());
        // SAFETY: the caller promises the elements.
        unsafe {
            if WHOLE {
                return Chunk(from.cast::<[T; CHUNK]>().read_unaligned());
            }
            let mut some = [T::ZERO; CHUNK];
            some.as_mut_ptr().cast::<u8>().copy_from_nonoverlapping(from, n * size_of::<T>());
            Chunk(some)
        }
    }

    /// # Safety
    /// There is room for `n` elements from the i-th on.
    #[inline(always)]
    unsafe fn store<const WHOLE: bool>(self, place: *mut u8, i: usize, n: usize) {
        let to = place.wrapping_add(i * size_of::<T>());
        // SAFETY: the caller promises the room.
        unsafe {
            match WHOLE {
                true => to.cast::<[T; CHUNK]>().write_unaligned(self.0),
                false => to.copy_from_nonoverlapping(self.0.as_ptr().cast(), n * size_of::<T>()),
            }
        }
    }
}

/// A rule for elements of a chunk.
trait Of<T> {
    /// # Safety
    /// The places hold `n` elements from the i-th on, as many as a chunk has if it is a `WHOLE` one.
    unsafe fn chunk<const WHOLE: bool>(numbers: &[T; MOST_NUMBERS], places: &Places, i: usize, n: usize);
}

/// # Safety
/// The places hold so many elements.
#[inline(always)]
unsafe fn chunks<R: Of<T>, T: Float>(numbers: &[T; MOST_NUMBERS], places: &Places, n: usize) {
    let rest = n % CHUNK;
    // SAFETY: the caller promises the elements.
    unsafe {
        for i in (0..n - rest).step_by(CHUNK) {
            R::chunk::<true>(numbers, places, i, CHUNK);
        }
        if rest > 0 {
            R::chunk::<false>(numbers, places, n - rest, rest);
        }
    }
}

/// # Safety
/// That of [`step`].
#[inline(always)]
unsafe fn all<T: Float>(rule: Rule, numbers: *const [f64; MOST_NUMBERS], places: &Places, n: usize) {
    // SAFETY: the caller lends the numbers; `n` elements are at the places that the rule has.
    unsafe {
        let numbers = &(*numbers).map(T::from);
        match rule {
            Rule::Adam => chunks::<Adam, T>(numbers, places, n),
            Rule::Descent => chunks::<Descent, T>(numbers, places, n),
            Rule::Momentum => chunks::<Momentum<false>, T>(numbers, places, n),
            Rule::Nesterov => chunks::<Momentum<true>, T>(numbers, places, n),
        }
    }
}

/// Adds a part of the parameter to its gradient.
#[inline(always)]
fn decayed<T: Float>(g: &mut Chunk<T>, p: &Chunk<T>, decay: T) {
    if decay != T::ZERO {
        for at in 0..CHUNK {
            g.0[at] = g.0[at] + decay * p.0[at];
        }
    }
}

struct Adam;

impl<T: Float> Of<T> for Adam {
    #[inline(always)]
    unsafe fn chunk<const WHOLE: bool>(numbers: &[T; MOST_NUMBERS], places: &Places, i: usize, n: usize) {
        let [first, first_left, second, second_left, eps, decay, rate, of_mean, of_square, kept] = *numbers;
        // SAFETY: the caller promises the elements.
        let [mut p, mut g, mut mean, mut square] = places.from.map(|place| unsafe { Chunk::<T>::load::<WHOLE>(place, i, n) });
        decayed(&mut g, &p, decay);
        for at in 0..CHUNK {
            let g = g.0[at];
            let m = first * mean.0[at] + first_left * g;
            let v = second * square.0[at] + second_left * (g * g);
            let away = (m * of_mean) / ((v * of_square).root() + eps);
            (mean.0[at], square.0[at]) = (m, v);
            p.0[at] = p.0[at] * kept - rate * away;
        }
        // SAFETY: the caller promises the room.
        unsafe {
            p.store::<WHOLE>(places.to[0], i, n);
            mean.store::<WHOLE>(places.to[1], i, n);
            square.store::<WHOLE>(places.to[2], i, n);
        }
    }
}

struct Descent;

impl<T: Float> Of<T> for Descent {
    #[inline(always)]
    unsafe fn chunk<const WHOLE: bool>(numbers: &[T; MOST_NUMBERS], places: &Places, i: usize, n: usize) {
        let [decay, rate, ..] = *numbers;
        let [from_p, from_g, ..] = places.from;
        // SAFETY: the caller promises the elements.
        let [mut p, mut g] = [from_p, from_g].map(|place| unsafe { Chunk::<T>::load::<WHOLE>(place, i, n) });
        decayed(&mut g, &p, decay);
        for at in 0..CHUNK {
            p.0[at] = p.0[at] - rate * g.0[at];
        }
        // SAFETY: the caller promises the room.
        unsafe { p.store::<WHOLE>(places.to[0], i, n) };
    }
}

struct Momentum<const AHEAD: bool>;

impl<T: Float, const AHEAD: bool> Of<T> for Momentum<AHEAD> {
    #[inline(always)]
    unsafe fn chunk<const WHOLE: bool>(numbers: &[T; MOST_NUMBERS], places: &Places, i: usize, n: usize) {
        let [decay, momentum, rate, new, ..] = *numbers;
        let [from_p, from_g, from_b, _] = places.from;
        // SAFETY: the caller promises the elements.
        let [mut p, mut g, mut b] = [from_p, from_g, from_b].map(|place| unsafe { Chunk::<T>::load::<WHOLE>(place, i, n) });
        decayed(&mut g, &p, decay);
        for at in 0..CHUNK {
            let g = g.0[at];
            let next = momentum * b.0[at] + new * g;
            b.0[at] = next;
            p.0[at] = p.0[at] - rate * if AHEAD { g + momentum * next } else { next };
        }
        // SAFETY: the caller promises the room.
        unsafe {
            p.store::<WHOLE>(places.to[0], i, n);
            b.store::<WHOLE>(places.to[1], i, n);
        }
    }
}
