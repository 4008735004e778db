//! Complex numbers in double precision, and the formats in which they lie in memory.

use std::ops::{Add, Mul, Neg, Sub};

use half::{bf16, f16};

/// A complex number; real ones have no imaginary part.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Number {
    pub re: f64,
    pub im: f64,
}

pub const ZERO: Number = Number { re: 0.0, im: 0.0 };
pub const ONE: Number = Number { re: 1.0, im: 0.0 };

impl Number {
    pub fn new(re: f64, im: f64) -> Number {
        Number { re, im }
    }

    pub fn conj(self) -> Number {
        Number::new(self.re, -self.im)
    }

    pub fn abs(self) -> f64 {
        self.re.hypot(self.im)
    }

    /// The square of its size.
    pub fn square(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    pub fn times(self, by: f64) -> Number {
        Number::new(self.re * by, self.im * by)
    }

    pub fn over(self, by: Number) -> Number {
        if by.im == 0.0 {
            return Number::new(self.re / by.re, self.im / by.re);
        }
        // Both near 1, whose products stay in the range.
        let (up, down) = (exponent([self]), exponent([by]));
        let (x, y) = (self.shifted(-up), by.shifted(-down));
        let (found, square) = (x * y.conj(), y.square());
        Number::new(found.re / square, found.im / square).shifted(up - down)
    }

    /// Times a power of two.
    pub fn shifted(self, power: i32) -> Number {
        Number::new(shifted(self.re, power), shifted(self.im, power))
    }

    pub fn is_nan(self) -> bool {
        self.re.is_nan() || self.im.is_nan()
    }
}

/// Times a power of two, which need not be a number itself.
pub fn shifted(x: f64, power: i32) -> f64 {
    let half = power / 2;
    let (first, second) = (2.0_f64.powi(half / 2), 2.0_f64.powi(half - half / 2));
    let (third, fourth) = (2.0_f64.powi((power - half) / 2), 2.0_f64.powi(power - half - (power - half) / 2));
    x * first * second * third * fourth
}

/// The power of two next to the largest part of numbers; 0 where there is none, or one that is not finite.
pub fn exponent(numbers: impl IntoIterator<Item = Number>) -> i32 {
    let largest = numbers.into_iter().fold(0.0_f64, |most, x| most.max(x.re.abs()).max(x.im.abs()));
    if largest == 0.0 || !largest.is_finite() {
        return 0;
    }
    // Numbers below the normal ones are made such.
    let (largest, less) = if largest < f64::MIN_POSITIVE {
        (largest * 2.0_f64.powi(64), 64)
    } else {
        (largest, 0)
    };
    (largest.to_bits() >> 52) as i32 - 1023 - less
}

/// The root of the sum of the squares of their sizes, none of which need be in the range.
pub fn norm(numbers: impl Iterator<Item = Number> + Clone) -> f64 {
    let power = exponent(numbers.clone());
    shifted(numbers.map(|x| x.shifted(-power).square()).sum::<f64>().sqrt(), power)
}

impl Add for Number {
    type Output = Number;
    fn add(self, other: Number) -> Number {
        Number::new(self.re + other.re, self.im + other.im)
    }
}

impl Sub for Number {
    type Output = Number;
    fn sub(self, other: Number) -> Number {
        Number::new(self.re - other.re, self.im - other.im)
    }
}

impl Neg for Number {
    type Output = Number;
    fn neg(self) -> Number {
        Number::new(-self.re, -self.im)
    }
}

impl Mul for Number {
    type Output = Number;
    fn mul(self, other: Number) -> Number {
        // What is real stays so, whatever the other's infinities are.
        if self.im == 0.0 && other.im == 0.0 {
            return Number::new(self.re * other.re, 0.0);
        }
        Number::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }
}

/// A format, by its number in `library_types.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    F32,
    F64,
    F16,
    C32,
    C64,
    BF16,
}

impl Format {
    pub fn of(number: i32) -> Option<Format> {
        Some(match number {
            0 => Format::F32,
            1 => Format::F64,
            2 => Format::F16,
            4 => Format::C32,
            5 => Format::C64,
            14 => Format::BF16,
            _ => return None,
        })
    }

    pub fn bytes(self) -> usize {
        match self {
            Format::F16 | Format::BF16 => 2,
            Format::F32 => 4,
            Format::F64 | Format::C32 => 8,
            Format::C64 => 16,
        }
    }

    pub fn is_complex(self) -> bool {
        matches!(self, Format::C32 | Format::C64)
    }

    /// Bytes that an address must be a multiple of.
    pub fn align(self) -> usize {
        self.bytes()
    }

    /// The format of its parts.
    pub fn real(self) -> Format {
        match self {
            Format::C32 => Format::F32,
            Format::C64 => Format::F64,
            other => other,
        }
    }

    /// A number from so many bytes as it has.
    pub fn load(self, bytes: &[u8]) -> Number {
        let single = |at: usize| f64::from(f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
        let double = |at: usize| {
            let mut all = [0; 8];
            all.copy_from_slice(&bytes[at..at + 8]);
            f64::from_le_bytes(all)
        };
        match self {
            Format::F16 => Number::new(f16::from_le_bytes([bytes[0], bytes[1]]).to_f64(), 0.0),
            Format::BF16 => Number::new(bf16::from_le_bytes([bytes[0], bytes[1]]).to_f64(), 0.0),
            Format::F32 => Number::new(single(0), 0.0),
            Format::F64 => Number::new(double(0), 0.0),
            Format::C32 => Number::new(single(0), single(4)),
            Format::C64 => Number::new(double(0), double(8)),
        }
    }

    /// Writes a number, rounded; of 16 bits by way of float32, in which their sums are.
    pub fn store(self, number: Number, bytes: &mut [u8]) {
        match self {
            Format::F16 => bytes.copy_from_slice(&f16::from_f32(number.re as f32).to_le_bytes()),
            Format::BF16 => bytes.copy_from_slice(&bf16::from_f32(number.re as f32).to_le_bytes()),
            Format::F32 => bytes.copy_from_slice(&(number.re as f32).to_le_bytes()),
            Format::F64 => bytes.copy_from_slice(&number.re.to_le_bytes()),
            Format::C32 => {
                bytes[..4].copy_from_slice(&(number.re as f32).to_le_bytes());
                bytes[4..].copy_from_slice(&(number.im as f32).to_le_bytes());
            }
            Format::C64 => {
                bytes[..8].copy_from_slice(&number.re.to_le_bytes());
                bytes[8..].copy_from_slice(&number.im.to_le_bytes());
            }
        }
    }
}
