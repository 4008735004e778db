//! Arithmetic of complex numbers in their parts, bit for bit as NumPy does it.

use weft_ir::{BinOp, CmpOp, Const, Op, Part, Scalar, Type, UnOp, Value};

use super::Legalizer;
use crate::error::PassError;

type Pair = (Value, Value);

impl Legalizer<'_> {
    /// The parts of what `op`, whose result is complex, gives.
    pub(super) fn complex(&mut self, ty: &Type, op: &Op) -> Result<Pair, PassError> {
        let part = ty.scalar().map_or(Scalar::F64, Scalar::part);
        Ok(match op {
            Op::Const(c) => self.complex_constant(*c),
            Op::Complex(re, im) => (self.parts(*re)[0], self.parts(*im)[0]),
            Op::Unary(UnOp::Neg, a) => {
                let (re, im) = self.pair(*a);
                (self.unary(UnOp::Neg, re), self.unary(UnOp::Neg, im))
            }
            Op::Unary(UnOp::Conj, a) => {
                let (re, im) = self.pair(*a);
                (re, self.unary(UnOp::Neg, im))
            }
            Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div, a, b) => {
                let (a, b) = (self.pair(*a), self.pair(*b));
                match op {
                    Op::Binary(BinOp::Mul, ..) => self.product(a, b),
                    Op::Binary(BinOp::Div, ..) => self.quotient(a, b, part),
                    Op::Binary(sum, ..) => (self.binary(*sum, a.0, b.0), self.binary(*sum, a.1, b.1)),
                    _ => return Err(self.unsupported()),
                }
            }
            Op::Cast(a) => self.cast_to_complex(part, *a),
            Op::Load {
                view,
                indices,
                part: Part::Whole,
            } => {
                let load = |part| Op::Load {
                    view: *view,
                    indices: indices.clone(),
                    part,
                };
                let [re, im] = [load(Part::Re), load(Part::Im)].map(|mut op| {
                    op.operands_mut(&mut |v| self.rename(v));
                    self.emit(part, op)
                });
                (re, im)
            }
            Op::Warp { op, mask, value, lane } if op.is_shuffle() => {
                let (re, im) = self.pair(*value);
                let [re, im] = [re, im].map(|value| {
                    let mut op = Op::Warp {
                        op: *op,
                        mask: *mask,
                        value,
                        lane: *lane,
                    };
                    op.operands_mut(&mut |v| self.rename(v));
                    self.emit(part, op)
                });
                (re, im)
            }
            Op::Atomic { .. } => return Err(PassError::new(self.span, "atomic operations on complex numbers are not supported")),
            _ => return Err(self.unsupported()),
        })
    }

    fn unsupported(&self) -> PassError {
        PassError::new(self.span, "this operation is not defined for complex numbers")
    }

    fn complex_constant(&mut self, c: Const) -> Pair {
        match c {
            Const::C64(re, im) => (self.constant(Const::F32(re)), self.constant(Const::F32(im))),
            Const::C128(re, im) => (self.constant(Const::F64(re)), self.constant(Const::F64(im))),
            real => {
                let re = self.constant(real);
                (re, self.zero(real.scalar()))
            }
        }
    }

    /// Written so that contraction may fuse either sum.
    fn product(&mut self, (ar, ai): Pair, (br, bi): Pair) -> Pair {
        let (rr, ii) = (self.binary(BinOp::Mul, ar, br), self.binary(BinOp::Mul, ai, bi));
        let re = self.binary(BinOp::Sub, rr, ii);
        let (ri, ir) = (self.binary(BinOp::Mul, ar, bi), self.binary(BinOp::Mul, ai, br));
        (re, self.binary(BinOp::Add, ri, ir))
    }

    /// Smith's method as NumPy has it: scale by the larger part of the divisor. NumPy branches on which one that is; here the operands are
    /// selected instead, such that the same operations round in the same order. A zero divisor gives `ar / |br|`, `ai / |br|`.
    fn quotient(&mut self, (ar, ai): Pair, (br, bi): Pair, part: Scalar) -> Pair {
        let (abs_r, abs_i) = (self.unary(UnOp::Abs, br), self.unary(UnOp::Abs, bi));
        let real_larger = self.emit(Type::BOOL, Op::Compare(CmpOp::Ge, abs_r, abs_i));
        let large = self.select(real_larger, br, bi);
        let small = self.select(real_larger, bi, br);
        let ratio = self.binary(BinOp::Div, small, large);
        let scaled = self.binary(BinOp::Mul, small, ratio);
        let denominator = self.binary(BinOp::Add, large, scaled);

        let zero = self.zero(part);
        let large_is_zero = self.emit(Type::BOOL, Op::Compare(CmpOp::Eq, large, zero));
        let by_zero = self.binary(BinOp::And, real_larger, large_is_zero);
        let one = self.constant(if part == Scalar::F32 { Const::f32(1.0) } else { Const::f64(1.0) });
        let denominator = self.select(by_zero, abs_r, denominator);
        let scale = self.binary(BinOp::Div, one, denominator);

        let straight = self.select(real_larger, ar, ai);
        let crossed = self.select(real_larger, ai, ar);
        let crossed = self.binary(BinOp::Mul, crossed, ratio);
        let re = self.binary(BinOp::Add, straight, crossed);
        let straight_ratio = self.binary(BinOp::Mul, straight, ratio);
        let minuend = self.select(real_larger, ai, straight_ratio);
        let subtrahend = self.select(real_larger, straight_ratio, ar);
        let im = self.binary(BinOp::Sub, minuend, subtrahend);

        let re = self.select(by_zero, ar, re);
        let im = self.select(by_zero, ai, im);
        (self.binary(BinOp::Mul, re, scale), self.binary(BinOp::Mul, im, scale))
    }

    fn cast_to_complex(&mut self, part: Scalar, a: Value) -> Pair {
        if self.is_complex(a) {
            let (re, im) = self.pair(a);
            return (self.cast(part, re), self.cast(part, im));
        }
        let a = self.parts(a)[0];
        (self.cast(part, a), self.zero(part))
    }

    /// A complex number as a real one: its real part; as a bool: whether it is not zero.
    pub(super) fn complex_to_real(&mut self, ty: &Type, a: Value) -> Value {
        let (re, im) = self.pair(a);
        let to = ty.scalar().unwrap_or(Scalar::F64);
        if to != Scalar::Bool {
            return self.cast(to, re);
        }
        let (re, im) = (self.cast(to, re), self.cast(to, im));
        self.binary(BinOp::Or, re, im)
    }

    fn cast(&mut self, to: Scalar, a: Value) -> Value {
        if self.func.ty(a).scalar() == Some(to) {
            return a;
        }
        self.emit(to, Op::Cast(a))
    }

    fn constant(&mut self, c: Const) -> Value {
        self.emit(c.scalar(), Op::Const(c))
    }

    pub(super) fn zero(&mut self, scalar: Scalar) -> Value {
        self.constant(match scalar {
            Scalar::Bool => Const::Bool(false),
            Scalar::F32 => Const::f32(0.0),
            Scalar::F64 => Const::f64(0.0),
            Scalar::C64 => Const::C64(0, 0),
            Scalar::C128 => Const::C128(0, 0),
            int => Const::Int(int, 0),
        })
    }
}
