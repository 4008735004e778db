//! What a device's float arithmetic is like.

use weft_ir::{BinOp, Const, Scalar, UnOp, eval};

use super::Bench;
use crate::emit::numbers::{Number, trial, trial::Trial};
use crate::features::Features;

/// Fills in `exact_*` and `subnormals*`, which `said` need not know.
pub fn try_out(bench: &Bench, said: &Features) -> Result<Features, String> {
    let mut features = Features {
        exact_fma32: true,
        exact_fma64: true,
        exact_divide: true,
        exact_divide64: true,
        exact_rounding32: true,
        exact_rounding64: true,
        ..*said
    };
    let wide = |s: &Scalar| *s != Scalar::F64 || said.float64 && said.int64;
    let scalars: Vec<Scalar> = [Scalar::F32, Scalar::F64].into_iter().filter(wide).collect();
    let questions: Vec<[Trial; QUESTIONS]> = scalars.iter().map(|&s| questions(s)).collect();
    let trials = questions.as_flattened();
    let results = bench.run(&features, trials)?;
    let right: Vec<bool> = trials.iter().zip(&results).map(|(trial, words)| is_right(trial, words)).collect();
    let answers = right.as_chunks::<QUESTIONS>().0;
    let answer = |s: Scalar| scalars.iter().position(|&t| t == s).map_or([false; QUESTIONS], |n| answers[n]);
    let [
        fma32,
        divide32,
        sqrt32,
        sum32,
        product32,
        floor32,
        ceil32,
        trunc32,
        rint32,
        zero32 @ ..,
    ] = answer(Scalar::F32);
    let [
        fma64,
        divide64,
        sqrt64,
        sum64,
        product64,
        floor64,
        ceil64,
        trunc64,
        rint64,
        zero64 @ ..,
    ] = answer(Scalar::F64);
    features.exact_fma32 = fma32;
    features.exact_fma64 = fma64;
    features.exact_divide = divide32 && sqrt32;
    features.exact_divide64 = divide64 && sqrt64;
    features.exact_rounding32 = floor32 && ceil32 && trunc32 && rint32;
    features.exact_rounding64 = floor64 && ceil64 && trunc64 && rint64;
    let all = |right: &[bool]| right.iter().all(|right| *right);
    features.exact_zeros = all(&zero32) && (scalars.len() < 2 || all(&zero64));
    features.subnormals32 = sum32 && product32;
    features.subnormals64 = sum64 && product64;
    Ok(features)
}

/// Rows of an answer that depends on how a device divides, say.
const ROWS: usize = 2000;
/// Questions for each type.
const QUESTIONS: usize = 14;

/// fma, quotients, square roots; subnormal operands and subnormal results; rounding to integers; and zeros in the code.
fn questions(s: Scalar) -> [Trial; QUESTIONS] {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut column = |least: f64, most: f64| -> Vec<Const> { (0..ROWS).map(|_| random.float(s, least, most)).collect() };
    let (x, y, z) = (column(1.0, 2.0), column(1.0, 2.0), column(-4.0, 1e-3));
    let (over, under) = (column(-1e9, 1e9), column(1e-9, 1e3));
    let roots = column(1e-3, 1e9);
    let least = if s == Scalar::F32 {
        f64::from(f32::MIN_POSITIVE)
    } else {
        f64::MIN_POSITIVE
    };
    let (tiny, other) = (column(0.0, least), column(0.0, least));
    let (small, factor) = (column(least, 2.0 * least), column(0.01, 0.9));
    let fractions = fractions(s, column(-4e9, 4e9));
    let round = |op| Trial::new(Number::Unary(op, s), vec![fractions.clone()]);
    let two = |op, x, y| Trial::new(Number::Binary(op, s, s), vec![x, y]);
    let ends = [0.0, -0.0, 1.5, -1.5, f64::INFINITY].map(|x| constant(s, x));
    let zero = |op, place| Trial::with_literal(Number::Binary(op, s, s), place, &ends, eval::zero(s));
    [
        Trial::new(Number::Fma(s), vec![x, y, z]),
        two(BinOp::Div, over, under),
        Trial::new(Number::Unary(UnOp::Sqrt, s), vec![roots]),
        two(BinOp::Add, tiny, other),
        two(BinOp::Mul, small, factor),
        round(UnOp::Floor),
        round(UnOp::Ceil),
        round(UnOp::Trunc),
        round(UnOp::Rint),
        zero(BinOp::Add, 1),
        zero(BinOp::Sub, 0),
        zero(BinOp::Mul, 1),
        zero(BinOp::Div, 0),
        zero(BinOp::Div, 1),
    ]
}

/// What is rounded to integers: any numbers, all halves and quarters near zero, and where 32 bits or the fraction's end.
fn fractions(s: Scalar, mut any: Vec<Const>) -> Vec<Const> {
    let places = [23, 31, 32, 52, 63].map(|n| 2f64.powi(n));
    let near = |place: f64| [place - 1.0, place - 0.5, place, place + 0.5, place + 1.0];
    let far = places.into_iter().flat_map(near).chain([1e30, f64::INFINITY]);
    let quarters = (0..64).map(|n| f64::from(n) / 4.0);
    any.extend(quarters.chain(far).flat_map(|x| [x, -x]).map(|x| constant(s, x)));
    any
}

fn constant(s: Scalar, x: f64) -> Const {
    if s == Scalar::F32 { Const::f32(x as f32) } else { Const::f64(x) }
}

/// A NaN is as good as any other.
fn is_right(trial: &Trial, words: &[u64]) -> bool {
    let nan = |c| eval::unary(UnOp::IsNan, c) == Some(Const::Bool(true));
    let same = |(row, &got): (usize, &u64)| match trial.expected(row) {
        Some(expected) if nan(expected) => match expected {
            Const::F32(_) => f32::from_bits(got as u32).is_nan(),
            _ => f64::from_bits(got).is_nan(),
        },
        expected => expected.map(trial::word) == Some(got),
    };
    words.len() == trial.rows() && words.iter().enumerate().all(same)
}

/// Numbers that are the same each time (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn float(&mut self, s: Scalar, least: f64, most: f64) -> Const {
        let unit = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        constant(s, least + (most - least) * unit)
    }
}
