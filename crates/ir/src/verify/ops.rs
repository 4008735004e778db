//! Operations and statements by their tables: where they may stand, the types of their operands and results.

use super::body::{Body, Checked, operand, same};
use crate::module::StmtKind;
use crate::op::Op;
use crate::table::{Field, Place, Rule, operations, rule, statements};
use crate::types::{Scalar, Type};

macro_rules! check_operations {
    ($(#[$about:meta])* Op: $(
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
                        $($(self.field(|| op.name(), $a, rule!($($a_rule)?), result)?;)*)?
                        $($(self.field(|| op.name(), $b, rule!($($b_rule)?), result)?;)*)?
                        $(self.$check($($arg,)* result)?;)?
                        $(gives(op, Scalar::$gives, &[$($called)?], result)?;)?
                    })*
                }
                Ok(())
            }
        }
    };
}

macro_rules! check_statements {
    ($(#[$about:meta])* StmtKind: $(
        $(#[$doc:meta])*
        $stmt:ident $(($($a:ident: $a_ty:ty $(as $a_rule:ident)?),*))? $({ $($b:ident: $b_ty:ty $(as $b_rule:ident)?),* })?
            = $form:literal, $effect:ident $(, only $place:ident $thing:literal)? $(, check $check:ident($($arg:ident),*))?;
    )*) => {
        impl Body<'_> {
            pub(super) fn stmt(&mut self, stmt: &StmtKind) -> Checked {
                let none = &Type::unit();
                match stmt {
                    $(StmtKind::$stmt $(($($a),*))? $({ $($b),* })? => {
                        $(self.only(Place::$place, $thing)?;)?
                        $($(self.field(|| stmt.name(), $a, rule!($($a_rule)?), none)?;)*)?
                        $($(self.field(|| stmt.name(), $b, rule!($($b_rule)?), none)?;)*)?
                        $(self.$check($($arg),*)?;)?
                    })*
                }
                Ok(())
            }
        }
    };
}

operations!(check_operations);
statements!(check_statements);

impl Body<'_> {
    fn only(&mut self, place: Place, what: &'static str) -> Checked {
        match place {
            Place::Threads => self.threads_only(what),
            Place::Host => self.host_only(what),
        }
    }

    /// Checks the operands in a field. What `rule` says is known where this is inlined.
    #[inline(always)]
    fn field(&self, name: impl Fn() -> &'static str, field: &impl Field, rule: Rule, result: &Type) -> Checked {
        if matches!(rule, Rule::Inner | Rule::Defined) {
            return Ok(());
        }
        field.try_values(&mut |value| {
            let ty = self.ty(value)?;
            if let Some((scalar, called)) = rule.fixed() {
                return same(ty, &scalar.into(), called);
            }
            let fits = match rule {
                Rule::Scalar => ty.scalar().is_some(),
                Rule::View => ty.view().is_some(),
                Rule::Same if ty != result => return same(ty, result, &format!("an operand of {}", name())),
                _ => true,
            };
            if fits { Ok(()) } else { Err(operand(name(), ty)) }
        })
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
