//! The types of numbers that matrices are made of.

use faer::{MatMut, MatRef, c32, c64};
use faer_traits::{ComplexField, RealField};

/// The type of a matrix's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dtype {
    F32,
    F64,
    C64,
    C128,
}

impl Dtype {
    pub const fn size(self) -> usize {
        match self {
            Dtype::F32 => 4,
            Dtype::F64 | Dtype::C64 => 8,
            Dtype::C128 => 16,
        }
    }

    /// The type of its elements' sizes: of singular values, say.
    pub const fn real(self) -> Dtype {
        match self {
            Dtype::F32 | Dtype::C64 => Dtype::F32,
            Dtype::F64 | Dtype::C128 => Dtype::F64,
        }
    }

    /// The type of the roots of its polynomials: of eigenvalues, say.
    pub const fn complex(self) -> Dtype {
        match self {
            Dtype::F32 | Dtype::C64 => Dtype::C64,
            Dtype::F64 | Dtype::C128 => Dtype::C128,
        }
    }
}

/// What the routines need of a number beside faer's arithmetic.
pub trait Element: ComplexField<Real = Self::Re> + Copy + Send + Sync + 'static {
    type Re: RealField + Element<Re = Self::Re> + PartialOrd;
    fn is_finite(self) -> bool;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn over(self, other: Self) -> Self;
    fn conjugate(self) -> Self;
    fn size(self) -> Self::Re;
    /// The real part and the imaginary one.
    fn parts(self) -> (Self::Re, Self::Re);
    fn of_real(real: Self::Re) -> Self;
    fn is_nought(self) -> bool;
    /// Whether its real part is below zero.
    fn is_negative(self) -> bool;
    /// What of it lies on the unit circle; 1 or -1 of real numbers, 1 of what is no number.
    fn sign(self) -> Self;
    /// The matrix as one of float64, if it is.
    fn real(_matrix: MatRef<'_, Self>) -> Option<MatRef<'_, f64>> {
        None
    }
    fn real_mut(_matrix: MatMut<'_, Self>) -> Option<MatMut<'_, f64>> {
        None
    }
    /// A small matrix's product, if there is a kernel for it; see `small`.
    fn small_product(_job: &crate::small::Job<Self>) -> bool {
        false
    }
}

/// Real numbers, whose logarithm a determinant may be.
pub trait Real: Element<Re = Self> {
    fn ln(self) -> Self;
    fn exp(self) -> Self;
    const ZERO: Self;
    const MINUS_INFINITY: Self;
}

macro_rules! real {
    ($t:ty $(, $own:item)*) => {
        impl Element for $t {
            type Re = $t;
            $($own)*
            fn is_finite(self) -> bool {
                <$t>::is_finite(self)
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn minus(self, other: Self) -> Self {
                self - other
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn over(self, other: Self) -> Self {
                self / other
            }
            fn conjugate(self) -> Self {
                self
            }
            fn size(self) -> $t {
                self.abs()
            }
            fn parts(self) -> ($t, $t) {
                (self, 0.0)
            }
            fn of_real(real: $t) -> Self {
                real
            }
            fn is_nought(self) -> bool {
                self == 0.0
            }
            fn is_negative(self) -> bool {
                self < 0.0
            }
            fn sign(self) -> Self {
                if self < 0.0 { -1.0 } else { 1.0 }
            }
            fn small_product(job: &crate::small::Job<Self>) -> bool {
                crate::small::multiply(job)
            }
        }

        impl Real for $t {
            fn ln(self) -> Self {
                <$t>::ln(self)
            }
            fn exp(self) -> Self {
                <$t>::exp(self)
            }
            const ZERO: Self = 0.0;
            const MINUS_INFINITY: Self = <$t>::NEG_INFINITY;
        }
    };
}

macro_rules! complex {
    ($t:ty, $re:ty) => {
        impl Element for $t {
            type Re = $re;
            fn is_finite(self) -> bool {
                self.re.is_finite() && self.im.is_finite()
            }
            fn plus(self, other: Self) -> Self {
                self + other
            }
            fn minus(self, other: Self) -> Self {
                self - other
            }
            fn times(self, other: Self) -> Self {
                self * other
            }
            fn over(self, other: Self) -> Self {
                // Scaled by the larger part, so that squares do not overflow (Smith, 1962).
                let (a, b, c, d) = (self.re, self.im, other.re, other.im);
                if c.abs() >= d.abs() {
                    let (ratio, whole) = (d / c, c + d * (d / c));
                    Self::new((a + b * ratio) / whole, (b - a * ratio) / whole)
                } else {
                    let (ratio, whole) = (c / d, c * (c / d) + d);
                    Self::new((a * ratio + b) / whole, (b * ratio - a) / whole)
                }
            }
            fn conjugate(self) -> Self {
                Self::new(self.re, -self.im)
            }
            fn size(self) -> $re {
                self.re.hypot(self.im)
            }
            fn parts(self) -> ($re, $re) {
                (self.re, self.im)
            }
            fn of_real(real: $re) -> Self {
                Self::new(real, 0.0)
            }
            fn is_nought(self) -> bool {
                self.re == 0.0 && self.im == 0.0
            }
            fn is_negative(self) -> bool {
                self.re < 0.0
            }
            fn sign(self) -> Self {
                self.over(Self::new(self.size(), 0.0))
            }
        }
    };
}

real!(f32);
real!(
    f64,
    fn real(matrix: MatRef<'_, f64>) -> Option<MatRef<'_, f64>> {
        Some(matrix)
    },
    fn real_mut(matrix: MatMut<'_, f64>) -> Option<MatMut<'_, f64>> {
        Some(matrix)
    }
);
complex!(c32, f32);
complex!(c64, f64);
