//! Random scalars: constants, operations, casts, loads, indices.

use super::{Gen, Reach};
use crate::eval;
use crate::module::Value;
use crate::op::{BinOp, CmpOp, Const, Index, Op, Part, UnOp};
use crate::types::Scalar;

const FLOATS: [f64; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -1.5,
    0.1,
    2.0,
    3.0,
    -7.25,
    100.0,
    1e-3,
    1e10,
    -1e20,
    2147483648.0,
    0.333333333,
];

impl Gen {
    pub fn random_const(&mut self, scalar: Scalar) -> Const {
        match scalar {
            Scalar::Bool => Const::Bool(self.rng.chance(50)),
            half if half.is_half() => eval::cast(Const::f64(self.random_float()), half).unwrap_or(eval::zero(half)),
            Scalar::F32 => Const::f32(self.random_float() as f32),
            Scalar::F64 => Const::f64(self.random_float()),
            Scalar::C64 => Const::C64((self.random_float() as f32).to_bits(), (self.random_float() as f32).to_bits()),
            Scalar::C128 => Const::C128(self.random_float().to_bits(), self.random_float().to_bits()),
            int => {
                let small = self.rng.below(20) as i64 - 6;
                let any = self.rng.next() as i64;
                let edge = self.rng.pick(&[i64::MIN, i64::MAX, -1, 127, 128, 32767, 2147483647, 2147483648]);
                let value = match self.rng.below(10) {
                    0 => any,
                    1 => edge,
                    _ => small,
                };
                Const::Int(int, int.wrap(value))
            }
        }
    }

    fn random_float(&mut self) -> f64 {
        match self.rng.below(20) {
            0 => f64::INFINITY,
            1 => f64::NAN,
            2..=10 => (self.rng.next() >> 11) as f64 / (1u64 << 46) as f64 - 64.0,
            _ => self.rng.pick(&FLOATS),
        }
    }

    /// A value of a type: one that exists, a constant, a local, or something made of others.
    pub fn value(&mut self, scalar: Scalar) -> Value {
        let known: Vec<Value> = self.pool.iter().filter(|(_, s)| *s == scalar).map(|(v, _)| *v).collect();
        let numbers: Vec<Value> = self.pool.iter().filter(|(_, s)| *s != Scalar::Bool).map(|(v, _)| *v).collect();
        let locals: Vec<_> = self.locals.iter().filter(|(_, s)| *s == scalar).map(|(l, _)| *l).collect();
        match self.rng.below(12) {
            0..=4 if !known.is_empty() => {
                // Mostly one of the latest, so that what is computed is used.
                let first = if self.rng.chance(60) { known.len().saturating_sub(3) } else { 0 };
                self.rng.pick(&known[first..])
            }
            5..=7 if !locals.is_empty() => {
                let local = self.rng.pick(&locals);
                self.b.get(local)
            }
            2..=9 if !numbers.is_empty() => {
                let value = self.rng.pick(&numbers);
                self.b.cast(value, scalar)
            }
            _ => {
                let c = self.random_const(scalar);
                self.constant(c)
            }
        }
    }

    /// An operand: a value, or an expression of its own.
    fn operand(&mut self, scalar: Scalar) -> Value {
        if self.nesting == 0 || !self.rng.chance(35) {
            return self.value(scalar);
        }
        self.nesting -= 1;
        let value = self.expr(scalar);
        self.nesting += 1;
        value
    }

    /// A fresh value of a random type, made by one operation; it joins the values in scope.
    pub fn compute(&mut self) -> Value {
        let scalar = self.any_type();
        let value = self.expr(scalar);
        self.pool.push((value, scalar));
        self.note(value);
        value
    }

    /// A value of a type, made by one operation.
    pub fn expr(&mut self, scalar: Scalar) -> Value {
        match self.rng.below(12) {
            0 => return self.load(scalar),
            1 => {
                let cond = self.condition();
                let (a, b) = (self.operand(scalar), self.operand(scalar));
                return self.b.select(cond, a, b);
            }
            2 => return self.call(scalar),
            3 => {
                let from = self.any_type();
                let value = self.operand(from);
                return self.b.cast(value, scalar);
            }
            _ => {}
        }
        if scalar == Scalar::Bool {
            self.condition()
        } else if scalar.is_complex() {
            self.complex_expr(scalar)
        } else if scalar.is_float() {
            self.float_expr(scalar)
        } else {
            self.int_expr(scalar)
        }
    }

    pub fn condition(&mut self) -> Value {
        let scalar = self.any_type();
        match self.rng.below(8) {
            0 => {
                let (a, b) = (self.operand(Scalar::Bool), self.operand(Scalar::Bool));
                let op = self.rng.pick(&[BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Min, BinOp::Max]);
                self.b.binary(op, a, b)
            }
            1 => {
                let a = self.operand(Scalar::Bool);
                self.b.unary(UnOp::Not, a)
            }
            2 => {
                let float = self.rng.pick(&[Scalar::F32, Scalar::F64, Scalar::F16, Scalar::BF16]);
                let a = self.operand(float);
                let op = self.rng.pick(&[UnOp::IsNan, UnOp::IsInf]);
                self.b.unary(op, a)
            }
            3 if self.lane.is_some() => {
                let Some(lane) = self.lane else { return self.operand(Scalar::Bool) };
                let op = self.rng.pick(CmpOp::ALL);
                let bound = self.rng.below(40) as i64;
                let bound = self.i64(bound);
                self.b.compare(op, lane, bound)
            }
            _ => {
                let (a, b) = (self.operand(scalar), self.operand(scalar));
                let known: &[CmpOp] = if scalar.is_complex() { &[CmpOp::Eq, CmpOp::Ne] } else { CmpOp::ALL };
                let op = self.rng.pick(known);
                self.b.compare(op, a, b)
            }
        }
    }

    fn complex_expr(&mut self, scalar: Scalar) -> Value {
        let a = self.operand(scalar);
        match self.rng.below(8) {
            0 => {
                let op = self.rng.pick(&[UnOp::Neg, UnOp::Conj]);
                self.b.unary(op, a)
            }
            1..=2 => {
                let (re, im) = (self.operand(scalar.part()), self.operand(scalar.part()));
                self.b.emit(scalar, Op::Complex(re, im))
            }
            _ => {
                let op = self.rng.pick(&[BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Mul, BinOp::Div]);
                let b = self.operand(scalar);
                self.b.binary(op, a, b)
            }
        }
    }

    /// The real or imaginary part of a complex number of that precision, if the function has any.
    fn part(&mut self, scalar: Scalar) -> Value {
        let complex = if scalar == Scalar::F32 { Scalar::C64 } else { Scalar::C128 };
        if scalar.is_half() || !self.types.contains(&complex) {
            return self.value(scalar);
        }
        let from = self.value(complex);
        let part = if self.rng.chance(50) { Op::Re(from) } else { Op::Im(from) };
        self.b.emit(scalar, part)
    }

    fn int_expr(&mut self, scalar: Scalar) -> Value {
        use BinOp::*;
        if self.rng.chance(15) {
            let a = self.operand(scalar);
            let op = self
                .rng
                .pick(&[UnOp::Neg, UnOp::Not, UnOp::Abs, UnOp::Popcount, UnOp::Clz, UnOp::Ctz]);
            return self.b.unary(op, a);
        }
        let op = self.rng.pick(&[
            Add, Add, Add, Sub, Sub, Mul, Mul, FloorDiv, Mod, Rem, IntPow, And, Or, Xor, Shl, Shr, Min, Max,
        ]);
        let a = self.operand(scalar);
        let b = match op {
            Shl | Shr | IntPow if self.rng.chance(50) => {
                let other = self.rng.pick(&[Scalar::I8, Scalar::I32, Scalar::I64, Scalar::U8, Scalar::U64]);
                self.operand(other)
            }
            _ => self.operand(scalar),
        };
        self.b.binary(op, a, b)
    }

    fn float_expr(&mut self, scalar: Scalar) -> Value {
        use BinOp::*;
        let a = self.operand(scalar);
        match self.rng.below(10) {
            0..=1 => {
                let op = self
                    .rng
                    .pick(&[UnOp::Neg, UnOp::Abs, UnOp::Sqrt, UnOp::Floor, UnOp::Ceil, UnOp::Trunc, UnOp::Rint]);
                self.b.unary(op, a)
            }
            2 => {
                let (b, c) = (self.operand(scalar), self.operand(scalar));
                self.b.emit(scalar, Op::Fma(a, b, c))
            }
            4 => self.part(scalar),
            3 => {
                let sign = self.operand(scalar);
                let sign = self.not_nan(sign);
                self.b.binary(CopySign, a, sign)
            }
            _ => {
                let op = self
                    .rng
                    .pick(&[Add, Add, Add, Sub, Sub, Mul, Mul, Div, FloorDiv, Mod, Rem, Min, Max]);
                let b = self.operand(scalar);
                self.b.binary(op, a, b)
            }
        }
    }

    /// The sign of a NaN is nobody's business.
    pub fn not_nan(&mut self, value: Value) -> Value {
        let zero = self.b.func.ty(value).scalar().map_or(Const::f64(0.0), eval::zero);
        let zero = self.constant(zero);
        let is_nan = self.b.unary(UnOp::IsNan, value);
        self.b.select(is_nan, zero, value)
    }

    /// An element of some array, as the type asked for.
    pub fn load(&mut self, scalar: Scalar) -> Value {
        if self.arrays.is_empty() {
            return self.value(scalar);
        }
        let array = self.rng.pick(&self.arrays.clone());
        let indices = self.indices(&array);
        let (view, elem) = (array.view, array.elem);
        let part = if elem.is_complex() {
            self.rng.pick(&[Part::Whole, Part::Re, Part::Im])
        } else {
            Part::Whole
        };
        let ty = if part == Part::Whole { elem } else { elem.part() };
        let value = self.b.emit(ty, Op::Load { view, indices, part });
        self.b.cast(value, scalar)
    }

    fn call(&mut self, scalar: Scalar) -> Value {
        let fitting: Vec<_> = self.callees.iter().filter(|c| c.result == scalar).cloned().collect();
        if fitting.is_empty() {
            return self.value(scalar);
        }
        let callee = self.rng.pick(&fitting);
        let args = callee.params.iter().map(|s| self.value(*s)).collect();
        self.b.emit(scalar, Op::Call(callee.id, args))
    }

    pub fn indices(&mut self, array: &Reach) -> Vec<Index> {
        array.shape.iter().map(|len| self.index(*len)).collect()
    }

    /// An index inside an axis of a length.
    pub fn index(&mut self, len: u64) -> Index {
        let len = len as i64;
        let plain = |value| Index { value, wrap: false };
        match self.rng.below(10) {
            0 => {
                let i = self.rng.below(2 * len as u64) as i64 - len;
                let value = self.i64(i);
                Index { value, wrap: true }
            }
            1..=2 => {
                let any = self.value(Scalar::I64);
                let (twice, len) = (self.i64(2 * len), self.i64(len));
                let rest = self.b.binary(BinOp::Mod, any, twice);
                let value = self.b.binary(BinOp::Sub, rest, len);
                Index { value, wrap: true }
            }
            3..=6 if self.lane.is_some() => {
                let Some(lane) = self.lane else { return plain(self.b.i64(0)) };
                let step = self.rng.below(4) as i64;
                let (step, len) = (self.i64(step), self.i64(len));
                let moved = self.b.binary(BinOp::Add, lane, step);
                plain(self.b.binary(BinOp::Mod, moved, len))
            }
            _ => {
                let any = self.value(Scalar::I64);
                let len = self.i64(len);
                plain(self.b.binary(BinOp::Mod, any, len))
            }
        }
    }
}
