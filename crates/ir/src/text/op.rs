//! Operations as text, by the forms of their table.

use std::fmt;

use super::cursor::{Parsed, Parser};
use super::fields::Field;
use super::form::{Reading, Writing};
use super::lex::Token;
use crate::module::{ArrayId, ConstId, FuncId, Local, Module, Value};
use crate::op::{AtomicOp, AxisSlice, BarrierOp, BinOp, CmpOp, Const, Geometry, Index, Op, Part, UnOp, WarpOp};
use crate::table::{name_of, operations};
use crate::types::Scalar;

macro_rules! text {
    ($(
        $(#[$doc:meta])*
        $op:ident $(($($a:ident: $a_ty:ty $(as $a_rule:ident)?),*))? $({ $($b:ident: $b_ty:ty $(as $b_rule:ident)?),* })?
            $(-> $gives:ident $($called:literal)?)?
            = $form:literal, $effect:ident $(, only $place:ident $thing:literal)? $(, check $check:ident($($arg:ident),*))?;
    )*) => {
        pub(super) fn write(op: &Op, out: &mut String, module: &Module) -> fmt::Result {
            match op {
                $(Op::$op $(($($a),*))? $({ $($b),* })? => {
                    #[allow(unused_mut)] // some have no fields
                    let mut form = Writing::new($form, out, module);
                    $($(form.field($a)?;)*)?
                    $($(form.field($b)?;)*)?
                    form.end()
                })*
            }
        }

        /// The operation whose form the next word starts.
        fn read(p: &mut Parser) -> Parsed<Op> {
            let word = p.word()?;
            $({
                let starts = if name_of($form).is_empty() {
                    false $($(|| <$a_ty>::is_name(&word))*)? $($(|| <$b_ty>::is_name(&word))*)?
                } else {
                    name_of($form) == word
                };
                if starts {
                    if name_of($form).is_empty() {
                        p.back();
                    }
                    #[allow(unused_mut)] // some have no fields
                    let mut form = Reading::new($form, p);
                    let op = Op::$op $(($(form.field::<$a_ty>()?),*))? $({ $($b: form.field::<$b_ty>()?),* })?;
                    form.end()?;
                    return Ok(op);
                }
            })*
            p.error(format!("`{word}` is no operation"))
        }
    };
}

operations!(text);

impl Parser {
    /// An operation whose result has the scalar type `ty`, if it has one. A constant of this type needs no name.
    pub(super) fn op(&mut self, ty: Option<Scalar>) -> Parsed<Op> {
        match ty {
            Some(scalar) if self.at_literal() => self.constant(scalar).map(Op::Const),
            _ => read(self),
        }
    }

    fn at_literal(&self) -> bool {
        match self.peek() {
            Token::Number(_) | Token::Punct("-" | "(") => true,
            Token::Ident(word) => matches!(word.as_str(), "true" | "false" | "nan" | "inf"),
            _ => false,
        }
    }
}
