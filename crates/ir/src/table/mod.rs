//! The tables of operations, statements and operators. All that is said of one of them, whatever it is, is said in its row.
//!
//! [`crate::op`] and [`crate::module`] make of the rows the enums `Op` and `StmtKind` with the walks over what they mention;
//! [`crate::text`] printing and parsing; [`crate::verify`] the check of operands and result. A row of an operation or statement is
//!
//! ```text
//! /// What it means.
//! Name(field: Type as Rule, …) -> Scalar "what messages call the result"
//!     = "text form", Effect, only Place "what messages call it", check rule(field, …);
//! ```
//!
//! - The *fields* make a variant of the enum, with braces for one with named fields. Values among them are operands and have a
//!   [`Rule`], the type that is asked of them; without one any type will do.
//! - The scalar that it gives, if that is always the same. Messages say "the result of name" where nothing else is written.
//! - The *text form* has the fields in their order, in braces. The text before an optional field, or before a block, is there where the
//!   field is (the block has statements); a flag is nothing but that text.
//! - The [`Effect`] says which operations may be moved, dropped or repeated.
//! - The [`Place`] where it may stand, if not everywhere.
//! - The rest of the rule, if there is one: a function of the verifier, which also gets the type of the result.

mod columns;
mod field;
mod operations;
mod operators;
mod statements;

pub use columns::Effect;
pub(crate) use columns::{Place, Rule};
pub(crate) use field::Field;
pub(crate) use operations::operations;
pub use operators::{AtomicOp, BarrierOp, BinOp, CmpOp, ReduceOp, UnOp, WarpOp};
pub(crate) use statements::statements;

/// The word that a text form starts with; empty where it starts with a field.
pub(crate) fn name_of(form: &str) -> &str {
    let end = form.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    &form[..end.unwrap_or(form.len())]
}

/// Makes of a table the enum, and what is asked of each variant whatever it is.
macro_rules! define {
    ($(#[$about:meta])* $table:ident: $(
        $(#[$doc:meta])*
        $row:ident $(($($a:ident: $a_ty:ty $(as $a_rule:ident)?),*))? $({ $($b:ident: $b_ty:ty $(as $b_rule:ident)?),* })?
            $(-> $gives:ident $($called:literal)?)?
            = $form:literal, $effect:ident $(, only $place:ident $thing:literal)? $(, check $check:ident($($arg:ident),*))?;
    )*) => {
        $(#[$about])*
        pub enum $table {
            $($(#[$doc])* $row $(($($a_ty),*))? $({ $($b: $b_ty),* })?,)*
        }

        impl $table {
            /// The text form of every row.
            pub const FORMS: &'static [&'static str] = &[$($form),*];

            /// Its row, from 0.
            pub fn row(&self) -> usize {
                enum Row { $($row),* }
                match self { $($table::$row { .. } => Row::$row as usize),* }
            }

            /// The name of the text form.
            pub fn name(&self) -> &'static str {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => match $crate::table::name_of($form) {
                        "" => None$($(.or($a.operator()))*)?$($(.or($b.operator()))*)?.unwrap_or_default(),
                        name => name,
                    })*
                }
            }

            pub fn effect(&self) -> Effect {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        None$($(.or($a.inner_effect()))*)?$($(.or($b.inner_effect()))*)?.unwrap_or(Effect::$effect)
                    })*
                }
            }

            /// Calls `f` with every value it reads itself, in order; what is in nested blocks is left out.
            pub fn operands(&self, f: &mut dyn FnMut(Value)) {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        $($(if rule!($($a_rule)?).is_operand() { $a.values(f); })*)?
                        $($(if rule!($($b_rule)?).is_operand() { $b.values(f); })*)?
                    })*
                }
            }

            /// Calls `f` with a mutable reference to every value it reads itself, in order.
            pub fn operands_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        $($(if rule!($($a_rule)?).is_operand() { $a.values_mut(f); })*)?
                        $($(if rule!($($b_rule)?).is_operand() { $b.values_mut(f); })*)?
                    })*
                }
            }

            /// Calls `f` with every entry of an index list that it has itself.
            pub fn indices(&self, f: &mut dyn FnMut(&Index)) {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        $($($a.indices(f);)*)?
                        $($($b.indices(f);)*)?
                    })*
                }
            }

            /// Calls `f` with every entry of an index list that it has itself.
            pub fn indices_mut(&mut self, f: &mut dyn FnMut(&mut Index)) {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        $($($a.indices_mut(f);)*)?
                        $($($b.indices_mut(f);)*)?
                    })*
                }
            }

            /// The function it calls or launches itself.
            pub fn function(&self) -> Option<FuncId> {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        None$($(.or($a.callee()))*)?$($(.or($b.callee()))*)?
                    })*
                }
            }

            /// Calls `f` with the locals, arrays and labels it mentions itself.
            pub fn ids_mut(&mut self, f: &mut dyn FnMut(Id<'_>)) {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        $($($a.ids_mut(f);)*)?
                        $($($b.ids_mut(f);)*)?
                    })*
                }
            }
        }
    };
}

/// The rule of a field.
macro_rules! rule {
    () => {
        $crate::table::Rule::Any
    };
    ($rule:ident) => {
        $crate::table::Rule::$rule
    };
}

pub(crate) use {define, rule};
