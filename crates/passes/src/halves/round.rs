//! Rounding once: what float32 cannot hold exactly is brought there *rounded to odd* (of the two neighbours the one whose last bit is set),
//! which no second rounding to fewer bits can tell from the exact number.

use weft_ir::{BinOp, CmpOp, Const, Op, Scalar, UnOp, Value};

use super::Widener;

impl Widener<'_> {
    /// A number as the float32 that rounds to the same 16-bit float. Integers that float32 cannot hold are infinite in float16 anyway.
    pub(super) fn for_rounding(&mut self, half: Scalar, a: Value) -> Value {
        match self.func.ty(a).scalar() {
            Some(Scalar::F32) => a,
            Some(Scalar::F64) if half == Scalar::F16 => self.odd_single(a),
            _ => self.emit(Scalar::F32, Op::Cast(a)),
        }
    }

    /// `a * b + c` as a float32 that rounds to it. In float64 the product is exact. So is a sum of float16 as far as rounding can tell;
    /// one of bfloat16 spans too many bits.
    pub(super) fn fused(&mut self, half: Scalar, a: Value, b: Value, c: Value) -> Value {
        let [a, b, c] = [a, b, c].map(|v| {
            let twin = self.twin(v);
            self.emit(Scalar::F64, Op::Cast(twin))
        });
        let product = self.double(BinOp::Mul, a, b);
        let sum = if half == Scalar::F16 {
            self.double(BinOp::Add, product, c)
        } else {
            self.odd_sum(product, c)
        };
        self.odd_single(sum)
    }

    fn double(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        self.emit(Scalar::F64, Op::Binary(op, a, b))
    }

    /// A sum of doubles, rounded to odd: the error of the sum, which is exact, says which way to go.
    fn odd_sum(&mut self, a: Value, b: Value) -> Value {
        let sum = self.double(BinOp::Add, a, b);
        let from_b = self.double(BinOp::Sub, sum, a);
        let from_a = self.double(BinOp::Sub, sum, from_b);
        let (rest_a, rest_b) = (self.double(BinOp::Sub, a, from_a), self.double(BinOp::Sub, b, from_b));
        let error = self.double(BinOp::Add, rest_a, rest_b);
        let zero = self.constant(Const::f64(0.0));
        let (more, less) = (self.compare(CmpOp::Gt, error, zero), self.compare(CmpOp::Lt, error, zero));
        let positive = self.compare(CmpOp::Gt, sum, zero);
        let over = self.emit(Scalar::Bool, Op::Select(positive, less, more));
        let inexact = self.emit(Scalar::Bool, Op::Binary(BinOp::Or, less, more));
        self.odd(Scalar::F64, sum, over, inexact)
    }

    /// A double as a float32, rounded to odd.
    fn odd_single(&mut self, a: Value) -> Value {
        let single = self.emit(Scalar::F32, Op::Cast(a));
        let back = self.emit(Scalar::F64, Op::Cast(single));
        let inexact = self.compare(CmpOp::Ne, back, a);
        let [size, exact] = [back, a].map(|v| self.emit(Scalar::F64, Op::Unary(UnOp::Abs, v)));
        let over = self.compare(CmpOp::Gt, size, exact);
        self.odd(Scalar::F32, single, over, inexact)
    }

    /// A rounded number towards zero where its magnitude is over the exact one's, and odd where it is not exact.
    fn odd(&mut self, float: Scalar, rounded: Value, over: Value, inexact: Value) -> Value {
        let int = if float == Scalar::F64 { Scalar::I64 } else { Scalar::I32 };
        let bits = self.emit(int, Op::Bitcast(rounded));
        let [over, inexact] = [over, inexact].map(|v| self.emit(int, Op::Cast(v)));
        let cut = self.emit(int, Op::Binary(BinOp::Sub, bits, over));
        let odd = self.emit(int, Op::Binary(BinOp::Or, cut, inexact));
        self.emit(float, Op::Bitcast(odd))
    }
}
