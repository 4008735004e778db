//! What a device's float arithmetic is asked: operations, and rows of operands on which the answers depend.

use weft_ir::{BinOp, CmpOp, Const, Scalar, UnOp, eval};

use crate::emit::numbers::{Number, trial::Trial};

/// What the trials of a type are to tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Fma,
    Quotient,
    Root,
    /// Are integers near to floats right?
    Rounding,
    /// Are literal zeros computed with as they should?
    Zeros,
    /// Are subnormal numbers taken and given by sums and products?
    Kept,
    /// And by these?
    Fused,
    Divided,
    Rooted,
    Compared,
    Absolute,
    Negated,
    /// float32 to float64.
    Widened,
    /// float64 to float32.
    Narrowed,
}

/// Rows of an answer that depends on how a device divides, say.
const ROWS: usize = 2000;

/// All that is asked of a type.
pub fn questions(s: Scalar) -> Vec<(Question, Trial)> {
    let mut asked = arithmetic(s);
    asked.extend(subnormal_arithmetic(s));
    asked.extend(zeros(s));
    asked.extend(comparisons(s));
    for (question, op) in [(Question::Absolute, UnOp::Abs), (Question::Negated, UnOp::Neg)] {
        asked.push((question, Trial::new(Number::Unary(op, s), vec![any(s)])));
    }
    asked
}

/// fma, quotients, square roots, rounding to integers.
fn arithmetic(s: Scalar) -> Vec<(Question, Trial)> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut column = |least: f64, most: f64| -> Vec<Const> { (0..ROWS).map(|_| random.float(s, least, most)).collect() };
    let (x, y, z) = (column(1.0, 2.0), column(1.0, 2.0), column(-4.0, 1e-3));
    let (over, under) = (column(-1e9, 1e9), column(1e-9, 1e3));
    let mut roots = column(1e-3, 1e9);
    roots.extend(any(s).into_iter().filter(|&x| !is_subnormal(x)));
    let fractions = fractions(s, column(-4e9, 4e9));
    let rounded = |op| (Question::Rounding, Trial::new(Number::Unary(op, s), vec![fractions.clone()]));
    vec![
        (Question::Fma, Trial::new(Number::Fma(s), vec![x, y, z])),
        (Question::Quotient, two(BinOp::Div, s, over, under)),
        (Question::Root, Trial::new(Number::Unary(UnOp::Sqrt, s), vec![roots])),
        rounded(UnOp::Floor),
        rounded(UnOp::Ceil),
        rounded(UnOp::Trunc),
        rounded(UnOp::Rint),
    ]
}

/// Subnormal operands and subnormal results.
fn subnormal_arithmetic(s: Scalar) -> Vec<(Question, Trial)> {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut column = |least: f64, most: f64| -> Vec<Const> { (0..ROWS / 4).map(|_| random.float(s, least, most)).collect() };
    let least = least(s);
    let (subnormal, other) = (column(-least, least), column(-least, least));
    let (small, near) = (column(least, 2.0 * least), column(least, 2.0 * least));
    let (part, whole) = (column(0.01, 0.9), column(1.0, 1e9));
    vec![
        (Question::Kept, two(BinOp::Add, s, subnormal.clone(), other.clone())),
        (Question::Kept, two(BinOp::Sub, s, small.clone(), near)),
        (Question::Kept, two(BinOp::Mul, s, small.clone(), part.clone())),
        (Question::Kept, two(BinOp::Mul, s, subnormal.clone(), whole.clone())),
        (Question::Divided, two(BinOp::Div, s, small, whole.clone())),
        (Question::Divided, two(BinOp::Div, s, subnormal.clone(), part.clone())),
        (Question::Divided, two(BinOp::Div, s, other.clone(), subnormal.clone())),
        (Question::Rooted, Trial::new(Number::Unary(UnOp::Sqrt, s), vec![tiny(s)])),
        (
            Question::Fused,
            Trial::new(Number::Fma(s), vec![subnormal.clone(), whole, other.clone()]),
        ),
        (Question::Fused, Trial::new(Number::Fma(s), vec![other, part, subnormal])),
    ]
}

fn zeros(s: Scalar) -> Vec<(Question, Trial)> {
    let ends = [0.0, -0.0, 1.5, -1.5, f64::INFINITY].map(|x| constant(s, x));
    let zero = |op, place| {
        let number = Number::Binary(op, s, s);
        (Question::Zeros, Trial::with_literal(number, place, &ends, eval::zero(s)))
    };
    vec![
        zero(BinOp::Add, 1),
        zero(BinOp::Sub, 0),
        zero(BinOp::Mul, 1),
        zero(BinOp::Div, 0),
        zero(BinOp::Div, 1),
    ]
}

/// Every comparison, and what is made of them, of numbers of every kind with each other, and with zero in the code.
pub fn comparisons(s: Scalar) -> Vec<(Question, Trial)> {
    let all = any(s);
    let (x, y): (Vec<Const>, Vec<Const>) = all.iter().flat_map(|&x| all.iter().map(move |&y| (x, y))).unzip();
    let ops = [CmpOp::Eq, CmpOp::Ne, CmpOp::Lt, CmpOp::Le, CmpOp::Gt, CmpOp::Ge];
    let mut trials: Vec<Trial> = Vec::new();
    for op in ops {
        let number = Number::Compare(op, s);
        trials.push(Trial::new(number, vec![x.clone(), y.clone()]));
        trials.push(Trial::with_literal(number, 1, &all, eval::zero(s)));
    }
    trials.extend([BinOp::Min, BinOp::Max].map(|op| Trial::new(Number::Binary(op, s, s), vec![x.clone(), y.clone()])));
    trials.into_iter().map(|trial| (Question::Compared, trial)).collect()
}

/// Conversions between float32 and float64.
pub fn conversions() -> Vec<(Question, Trial)> {
    let cast = |from, to, rows| Trial::new(Number::Cast { from, to }, vec![rows]);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let least = least(Scalar::F32);
    let mut doubles: Vec<Const> = (0..ROWS / 4).map(|_| random.float(Scalar::F64, -least, 2.0 * least)).collect();
    doubles.extend(any(Scalar::F64));
    // The last subnormal bit, and what lies between two of them.
    let unit = f64::from(f32::from_bits(1));
    let halves = (0..32)
        .map(|n| f64::from(n) / 4.0 * unit)
        .flat_map(|x| [x, x.next_up(), x.next_down()]);
    let last = [least - unit / 2.0, least - unit / 2.0 - unit * 1e-6, least - unit / 4.0];
    doubles.extend(halves.chain(last).flat_map(|x| [Const::f64(x), Const::f64(-x)]));
    vec![
        (Question::Widened, cast(Scalar::F32, Scalar::F64, any(Scalar::F32))),
        (Question::Narrowed, cast(Scalar::F64, Scalar::F32, doubles)),
    ]
}

fn two(op: BinOp, s: Scalar, x: Vec<Const>, y: Vec<Const>) -> Trial {
    Trial::new(Number::Binary(op, s, s), vec![x, y])
}

/// The least number that is not subnormal.
fn least(s: Scalar) -> f64 {
    match s {
        Scalar::F32 => f64::from(f32::MIN_POSITIVE),
        _ => f64::MIN_POSITIVE,
    }
}

fn is_subnormal(x: Const) -> bool {
    match x {
        Const::F32(bits) => f32::from_bits(bits).is_subnormal(),
        Const::F64(bits) => f64::from_bits(bits).is_subnormal(),
        _ => false,
    }
}

/// Zeros, subnormal numbers and the least others, of both signs.
fn tiny(s: Scalar) -> Vec<Const> {
    let top: u64 = 1 << if s == Scalar::F32 { 23 } else { 52 };
    let sizes = [0, 1, 2, 3, top / 3, top / 2, top - 1, top, top + 1, 2 * top];
    let of = |bits: u64| match s {
        Scalar::F32 => [Const::F32(bits as u32), Const::F32(bits as u32 | 1 << 31)],
        _ => [Const::F64(bits), Const::F64(bits | 1 << 63)],
    };
    sizes.into_iter().flat_map(of).collect()
}

/// Numbers of every kind.
fn any(s: Scalar) -> Vec<Const> {
    let mut all = tiny(s);
    let usual = [1.0, 1.5, 3e38, f64::INFINITY].into_iter().flat_map(|x| [x, -x]);
    all.extend(usual.chain([f64::NAN]).map(|x| constant(s, x)));
    all
}

/// What is rounded to integers: any numbers, all halves and quarters near zero, where 32 bits or the fraction's end, and the least.
fn fractions(s: Scalar, mut any: Vec<Const>) -> Vec<Const> {
    let places = [23, 31, 32, 52, 63].map(|n| 2f64.powi(n));
    let near = |place: f64| [place - 1.0, place - 0.5, place, place + 0.5, place + 1.0];
    let far = places.into_iter().flat_map(near).chain([1e30, f64::INFINITY]);
    let quarters = (0..64).map(|n| f64::from(n) / 4.0);
    any.extend(quarters.chain(far).flat_map(|x| [x, -x]).map(|x| constant(s, x)));
    any.extend(tiny(s));
    any
}

fn constant(s: Scalar, x: f64) -> Const {
    if s == Scalar::F32 { Const::f32(x as f32) } else { Const::f64(x) }
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
