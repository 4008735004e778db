//! Operands of every type, loops run on them, and results compared.

#![allow(unsafe_code)] // Loops run on places in memory.
#![allow(dead_code)] // Each test file uses a part.

use weft_ir::{Const, Scalar, UnOp, eval};
use weft_tile::{Arg, Run};

/// A generator of random bits: xorshift.
pub struct Random(u64);

impl Random {
    pub fn new() -> Random {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    pub fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// Numbers at the edges of a type and random ones.
pub fn values(s: Scalar) -> Vec<Const> {
    match s {
        Scalar::Bool => vec![Const::Bool(false), Const::Bool(true)],
        Scalar::C64 | Scalar::C128 => complex(s),
        s if s.is_int() => integers(s),
        s => floats(s),
    }
}

fn integers(s: Scalar) -> Vec<Const> {
    let bits = i64::from(s.bits());
    let max = if s.is_signed() { i64::MAX >> (64 - bits) } else { s.wrap(-1) };
    let min = if s.is_signed() { !max } else { 0 };
    let mut random = Random::new();
    let mut all = vec![
        0,
        1,
        -1,
        2,
        -2,
        3,
        7,
        -7,
        10,
        100,
        bits - 1,
        bits,
        bits + 1,
        min,
        min + 1,
        max,
        max - 1,
        max / 2,
        max / 3,
    ];
    all.extend((0..12).map(|i| (random.bits() >> (5 * i)) as i64));
    all.into_iter().map(|v| Const::Int(s, s.wrap(v))).collect()
}

/// Bits of a float of this type with so many fraction bits: edges, whole numbers, halves, random ones.
fn floats(s: Scalar) -> Vec<Const> {
    let fraction = match s {
        Scalar::F16 => 10,
        Scalar::BF16 => 7,
        Scalar::F32 => 23,
        _ => 52,
    };
    let sign = 1u64 << (s.bits() - 1);
    let infinity = (sign - 1) >> fraction << fraction;
    let quiet = infinity | 1 << (fraction - 1);
    let edges = [0, 1, (1 << fraction) - 1, 1 << fraction, infinity - 1, infinity, quiet, quiet | 3];
    let mut all: Vec<Const> = edges.iter().flat_map(|&b| [b, b | sign]).map(|b| of_bits(s, b)).collect();
    let plain = [1.0, 2.0, 3.0, 7.0, 0.5, 1.5, 2.5, 0.3, 1e-3, 57.25, 1e4, 3e9, 1e19];
    all.extend(plain.iter().flat_map(|&x| [x, -x]).filter_map(|x| eval::cast(Const::f64(x), s)));
    let mut random = Random::new();
    all.extend((0..12).map(|_| of_bits(s, random.bits())));
    let near = |random: &mut Random| (random.bits() as i64 as f64) * 2f64.powi(-60);
    all.extend((0..12).filter_map(|_| eval::cast(Const::f64(near(&mut random)), s)));
    all
}

fn of_bits(s: Scalar, bits: u64) -> Const {
    Const::from_bytes(s, &bits.to_le_bytes()[..s.size()]).expect("all bits are a number")
}

fn complex(s: Scalar) -> Vec<Const> {
    let large = if s == Scalar::C64 { f64::from(f32::MAX) } else { f64::MAX };
    let parts = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        2.5,
        -0.3,
        1e-40,
        large,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let part = |x: f64| eval::cast(Const::f64(x), s.part());
    let mut all = Vec::new();
    for re in parts {
        all.extend(parts.iter().filter_map(|&im| eval::complex(part(re)?, part(im)?)));
    }
    let mut random = Random::new();
    let mut near = || part((random.bits() as i64 as f64) * 2f64.powi(-60));
    all.extend((0..20).filter_map(|_| eval::complex(near()?, near()?)));
    all
}

/// The same bits, or NaN both, or so in both parts.
pub fn same(a: Const, b: Const) -> bool {
    let missing = |c: Const| eval::unary(UnOp::IsNan, c) == Some(Const::Bool(true));
    match (eval::parts(a), eval::parts(b)) {
        (Some((ar, ai)), Some((br, bi))) => same(ar, br) && same(ai, bi),
        _ => a == b || a.scalar() == b.scalar() && missing(a) && missing(b),
    }
}

pub fn bytes(values: &[Const]) -> Vec<u8> {
    values.iter().flat_map(|c| c.to_bytes()).collect()
}

/// How an operand is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Given<'a> {
    Run(&'a [u8]),
    One(&'a [u8]),
}

/// Runs a loop and reads its results. The places of operands and results are not aligned.
pub fn results(run: Run, operands: &[Given<'_>], result: Scalar, n: usize) -> Vec<Const> {
    let shifted: Vec<Vec<u8>> = operands
        .iter()
        .map(|given| match given {
            Given::Run(bytes) | Given::One(bytes) => [&[0xee], *bytes].concat(),
        })
        .collect();
    let args: Vec<Arg> = shifted
        .iter()
        .zip(operands)
        .map(|(bytes, given)| match given {
            Given::Run(_) => Arg::run(bytes[1..].as_ptr()),
            Given::One(_) => Arg::one(bytes[1..].as_ptr()),
        })
        .collect();
    let size = result.size();
    let mut out = vec![0xee; 1 + n * size + 8];
    // SAFETY: the operands have `n` elements or one, the result has room for as many, and nothing overlaps.
    unsafe { run(out[1..].as_mut_ptr(), args.as_ptr(), n) };
    assert!(out[1 + n * size..].iter().all(|&b| b == 0xee), "written behind the end");
    let elements = out[1..1 + n * size].chunks_exact(size);
    elements
        .map(|bytes| Const::from_bytes(result, bytes).expect("an element"))
        .collect()
}
