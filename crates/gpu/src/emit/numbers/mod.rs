//! Arithmetic as the IR means it, where naga or what it writes has none or means something else.
//!
//! A [`Number`] is one operation on one type. Many are a single expression of naga's ([`Number::plain`]); for the others there is a
//! function in the module, made when it is first asked for. Drivers inline them.
//!
//! Values are held in naga's scalars ([`register`]): 8- and 16-bit integers in 32 bits, sign- or zero-extended, 16-bit floats as their bits
//! in a `u32`. What an operation gives is held likewise.
//!
//! | file | what it has |
//! |---|---|
//! | `body` | how functions are written down |
//! | `plain` | operations that are one expression, and why others are not |
//! | `int` | integers and bools |
//! | `compare` | comparisons |
//! | `bits` | counting and reversing bits |
//! | `float` | sign, class and order of floats |
//! | `rounding` | floats rounded to integers |
//! | `divide` | remainders and floored quotients of floats |
//! | `exact` | sums and products without rounding |
//! | `quotient` | quotients and square roots with one rounding |
//! | `fma` | products and sums with one rounding |
//! | `cast` | conversions |
//! | `half` | conversions of 16-bit floats |
//! | `atomic` | what an element becomes |
//! | `trial` | a kernel that tries operations out |

mod atomic;
mod bits;
pub(crate) mod body;
mod cast;
mod compare;
mod divide;
mod exact;
mod float;
mod fma;
mod half;
mod int;
mod plain;
mod quotient;
mod rounding;
#[cfg(test)]
mod tests;
pub mod trial;

use std::collections::HashMap;

use naga::{Block, Expression, Function, Handle, Module, Span, Statement};
use weft_ir::{AtomicOp, BinOp, CmpOp, Scalar, UnOp};

use crate::features::Features;

use body::{Body, Val};
pub use plain::Plain;

/// An operation, and the types it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Number {
    Unary(UnOp, Scalar),
    /// The second type is that of the second operand: the same, but for shifts and integer powers.
    Binary(BinOp, Scalar, Scalar),
    Compare(CmpOp, Scalar),
    Fma(Scalar),
    Cast {
        from: Scalar,
        to: Scalar,
    },
    Bitcast {
        from: Scalar,
        to: Scalar,
    },
    /// What an element becomes of its old value and the operand; for `Cas` of old value, expected one and new one.
    Atomic(AtomicOp, Scalar),
}

/// The type a value is held in. Complex numbers have none: they come in parts.
pub const fn register(scalar: Scalar) -> naga::Scalar {
    match scalar {
        Scalar::Bool => naga::Scalar::BOOL,
        Scalar::I8 | Scalar::I16 | Scalar::I32 => naga::Scalar::I32,
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::F16 | Scalar::BF16 => naga::Scalar::U32,
        Scalar::I64 => naga::Scalar::I64,
        Scalar::U64 => naga::Scalar::U64,
        Scalar::F32 | Scalar::C64 => naga::Scalar::F32,
        Scalar::F64 | Scalar::C128 => naga::Scalar::F64,
    }
}

impl Number {
    /// The types of the operands.
    fn operands(self) -> Vec<Scalar> {
        match self {
            Number::Unary(_, s) => vec![s],
            Number::Binary(_, s, t) => vec![s, t],
            Number::Compare(_, s) => vec![s; 2],
            Number::Fma(s) => vec![s; 3],
            Number::Cast { from, .. } | Number::Bitcast { from, .. } => vec![from],
            Number::Atomic(AtomicOp::Cas, s) => vec![s; 3],
            Number::Atomic(_, s) => vec![s; 2],
        }
    }

    /// The type of the result.
    pub fn result(self) -> Scalar {
        match self {
            Number::Unary(UnOp::IsNan | UnOp::IsInf | UnOp::SignBit, _) | Number::Compare(..) => Scalar::Bool,
            Number::Unary(_, s) | Number::Binary(_, s, _) | Number::Fma(s) | Number::Atomic(_, s) => s,
            Number::Cast { to, .. } | Number::Bitcast { to, .. } => to,
        }
    }

    fn name(self) -> String {
        let shown = match self {
            Number::Unary(op, s) => format!("{op:?}_{s:?}"),
            Number::Binary(op, s, t) if s == t => format!("{op:?}_{s:?}"),
            Number::Binary(op, s, t) => format!("{op:?}_{s:?}_{t:?}"),
            Number::Compare(op, s) => format!("{op:?}_{s:?}"),
            Number::Fma(s) => format!("Fma_{s:?}"),
            Number::Cast { from, to } => format!("Cast_{from:?}_{to:?}"),
            Number::Bitcast { from, to } => format!("Bitcast_{from:?}_{to:?}"),
            Number::Atomic(op, s) => format!("Atomic{op:?}_{s:?}"),
        };
        format!("weft_{}", shown.to_lowercase())
    }

    /// Writes the function's body; nothing where the operation is not defined for its types.
    fn write(self, b: &mut Body, args: &[Val]) -> Option<Val> {
        let one = || args.first().copied();
        let two = || args.first_chunk().copied();
        match self {
            Number::Unary(op, s) if s.is_float() => float::unary(b, op, one()?),
            Number::Unary(op, s) => int::unary(b, op, s, one()?),
            Number::Binary(op, s, t) => {
                let [x, y] = two()?;
                match s.is_float() {
                    true => float::binary(b, op, s, x, y),
                    false => int::binary(b, op, s, t, x, y),
                }
            }
            Number::Compare(op, s) => {
                let [x, y] = two()?;
                compare::compare(b, op, s, x, y)
            }
            Number::Fma(s) => {
                let [x, y, z] = *args.first_chunk()?;
                fma::fma(b, s, x, y, z)
            }
            Number::Cast { from, to } => cast::cast(b, from, to, one()?),
            Number::Bitcast { from, to } => cast::bitcast(b, from, to, one()?),
            Number::Atomic(op, s) => atomic::becomes(b, op, s, args),
        }
    }
}

/// The functions that a module has so far.
#[derive(Debug, Default)]
pub struct Numbers {
    functions: HashMap<Number, Handle<Function>>,
}

impl Numbers {
    /// The operation as an expression: a plain one, or the result of a call, written at the end of `block`. Literals and arguments may be
    /// operands, other expressions must be in scope there. Nothing where the operation is not defined for its types.
    pub fn write(
        &mut self,
        module: &mut Module,
        features: &Features,
        (function, block): (&mut Function, &mut Block),
        which: Number,
        args: &[Handle<Expression>],
    ) -> Option<Handle<Expression>> {
        if let Some(plain) = which.plain(features) {
            let Some(expression) = plain.expression(args) else {
                return args.first().copied();
            };
            let result = function.expressions.append(expression, Span::default());
            let range = naga::Range::new_from_bounds(result, result);
            block.push(Statement::Emit(range), Span::default());
            return Some(result);
        }
        let called = self.function(module, features, which)?;
        let result = function.expressions.append(Expression::CallResult(called), Span::default());
        let call = Statement::Call {
            function: called,
            arguments: args.to_vec(),
            result: Some(result),
        };
        block.push(call, Span::default());
        Some(result)
    }

    /// The function that does it, of the operands in [`register`]s. Nothing where the operation is not defined for its types.
    pub fn function(&mut self, module: &mut Module, features: &Features, which: Number) -> Option<Handle<Function>> {
        if let Some(&known) = self.functions.get(&which) {
            return Some(known);
        }
        let operands: Vec<naga::Scalar> = which.operands().into_iter().map(register).collect();
        let mut body = Body::new(self, module, features, &operands, Some(register(which.result())));
        let args = body.arguments();
        let result = match which.plain(features) {
            Some(plain) => body.plain(plain, &args)?,
            None => which.write(&mut body, &args)?,
        };
        let mut function = body.finish(Some(result));
        function.name = Some(which.name());
        let handle = module.functions.append(function, Span::default());
        self.functions.insert(which, handle);
        Some(handle)
    }
}
