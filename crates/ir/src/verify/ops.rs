//! Operations, by the rules of their table: where they may stand, the types of their operands and results.

use super::body::{Body, Checked, operand, same};
use crate::module::Value;
use crate::op::Op;
use crate::operands::Operands;
use crate::rule::{Place, Rule};
use crate::table::operations;
use crate::types::{Scalar, Type};

macro_rules! check {
    ($(
        $(#[$doc:meta])*
        $op:ident $(($($a:ident: $a_ty:ty $(as $a_rule:ident)?),*))? $({ $($b:ident: $b_ty:ty $(as $b_rule:ident)?),* })?
            $(-> $gives:ident $($called:literal)?)?
            = $form:literal, $effect:ident $(, only $place:ident $thing:literal)? $(, check $check:ident($($arg:ident),*))?;
    )*) => {
        impl Body<'_> {
            /// Checks an operation whose result is declared to have the type `result`.
            pub(super) fn op(&mut self, op: &Op, result: &Type) -> Checked {
                match op {
                    $(Op::$op $(($($a),*))? $({ $($b),* })? => {
                        $(self.only(Place::$place, $thing)?;)?
                        $($(self.operands(op, $a, rule!($($a_rule)?), result)?;)*)?
                        $($(self.operands(op, $b, rule!($($b_rule)?), result)?;)*)?
                        $(self.$check($($arg,)* result)?;)?
                        $(gives(op, Scalar::$gives, &[$($called)?], result)?;)?
                    })*
                }
                Ok(())
            }
        }
    };
}

macro_rules! rule {
    () => {
        Rule::Any
    };
    ($rule:ident) => {
        Rule::$rule
    };
}

operations!(check);

impl Body<'_> {
    fn only(&mut self, place: Place, what: &'static str) -> Checked {
        match place {
            Place::Threads => self.threads_only(what),
            Place::Host => self.host_only(what),
        }
    }

    /// Checks the values in a field.
    fn operands(&self, op: &Op, field: &impl Operands, rule: Rule, result: &Type) -> Checked {
        let mut checked = Ok(());
        field.values(&mut |value| {
            if checked.is_ok() {
                checked = self.operand(op, value, rule, result);
            }
        });
        checked
    }

    fn operand(&self, op: &Op, value: Value, rule: Rule, result: &Type) -> Checked {
        let ty = self.ty(value)?;
        if let Some((scalar, called)) = rule.fixed() {
            return same(ty, &scalar.into(), called);
        }
        let fits = match rule {
            Rule::Scalar => ty.scalar().is_some(),
            Rule::View => ty.view().is_some(),
            Rule::Same if ty != result => return same(ty, result, &format!("an operand of {}", op.name())),
            _ => true,
        };
        if fits { Ok(()) } else { Err(operand(op.name(), ty)) }
    }
}

/// `called` is what messages call the result, if not "the result of" the operation.
fn gives(op: &Op, scalar: Scalar, called: &[&str], result: &Type) -> Checked {
    match called {
        _ if result.scalar() == Some(scalar) => Ok(()),
        [called, ..] => same(result, &scalar.into(), called),
        [] => same(result, &scalar.into(), &format!("the result of {}", op.name())),
    }
}
