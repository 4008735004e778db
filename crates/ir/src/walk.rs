//! Walks over statements: what they define, the statements inside them, and all that they name.

use crate::module::{Block, Id, Local, StmtKind, Value};
use crate::table::{Field, rule, statements};

macro_rules! walks {
    ($(#[$about:meta])* $table:ident: $(
        $(#[$doc:meta])*
        $row:ident $(($($a:ident: $a_ty:ty $(as $a_rule:ident)?),*))? $({ $($b:ident: $b_ty:ty $(as $b_rule:ident)?),* })?
            = $form:literal, $effect:ident $(, only $place:ident $thing:literal)? $(, check $check:ident($($arg:ident),*))?;
    )*) => {
        impl $table {
            /// Calls `f` with every value that it defines itself.
            pub fn definitions(&self, f: &mut dyn FnMut(Value)) {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        $($(if !rule!($($a_rule)?).is_operand() { $a.values(f); })*)?
                        $($(if !rule!($($b_rule)?).is_operand() { $b.values(f); })*)?
                    })*
                }
            }

            /// Calls `f` with a mutable reference to every value that it defines itself.
            pub fn definitions_mut(&mut self, f: &mut dyn FnMut(&mut Value)) {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        $($(if !rule!($($a_rule)?).is_operand() { $a.values_mut(f); })*)?
                        $($(if !rule!($($b_rule)?).is_operand() { $b.values_mut(f); })*)?
                    })*
                }
            }

            /// Calls `f` with every local that it sets itself, nested blocks left out.
            pub fn sets(&self, f: &mut dyn FnMut(Local)) {
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        $($($a.sets(f);)*)?
                        $($($b.sets(f);)*)?
                    })*
                }
            }

            /// The blocks directly inside, in order.
            pub fn blocks(&self) -> impl Iterator<Item = &Block> {
                let mut inside = Pair::default();
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        $($(inside.add($a.block());)*)?
                        $($(inside.add($b.block());)*)?
                    })*
                }
                inside.into_iter()
            }

            /// The blocks directly inside, in order.
            pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Block> {
                let mut inside = Pair::default();
                match self {
                    $($table::$row $(($($a),*))? $({ $($b),* })? => {
                        $($(inside.add($a.block_mut());)*)?
                        $($(inside.add($b.block_mut());)*)?
                    })*
                }
                inside.into_iter()
            }
        }
    };
}

statements!(walks);

/// The blocks of a statement: no more than the two sides of an `if`.
struct Pair<T>(Option<T>, Option<T>);

impl<T> Default for Pair<T> {
    fn default() -> Pair<T> {
        Pair(None, None)
    }
}

impl<T> Pair<T> {
    #[inline(always)]
    fn add(&mut self, block: Option<T>) {
        match (&self.0, block) {
            (_, None) => {}
            (None, first) => self.0 = first,
            (Some(_), second) => self.1 = second,
        }
    }

    fn into_iter(self) -> impl Iterator<Item = T> {
        self.0.into_iter().chain(self.1)
    }
}

/// Gives what statements name other numbers: see [`Block::rename`].
pub trait Rename {
    /// A value that is read.
    fn operand(&mut self, value: &mut Value);

    /// A value that is made.
    fn definition(&mut self, value: &mut Value) {
        self.operand(value);
    }

    fn id(&mut self, id: Id<'_>);
}

impl StmtKind {
    /// Calls `visit` with this statement and all those nested in it, outer before inner.
    pub fn walk(&self, visit: &mut dyn FnMut(&StmtKind)) {
        visit(self);
        self.blocks().for_each(|inner| inner.walk(visit));
    }

    /// Does `what` hold for this statement, or for one nested in it? Stops at the first that it holds for.
    pub fn any(&self, what: &mut dyn FnMut(&StmtKind) -> bool) -> bool {
        what(self) || self.blocks().any(|inner| inner.any(what))
    }
}

impl Block {
    /// Calls `visit` with every statement of the block and those nested in them, outer before inner.
    pub fn walk(&self, visit: &mut dyn FnMut(&StmtKind)) {
        self.0.iter().for_each(|stmt| stmt.kind.walk(visit));
    }

    /// Does `what` hold for a statement of the block, or for one nested in them? Stops at the first that it holds for.
    pub fn any(&self, what: &mut dyn FnMut(&StmtKind) -> bool) -> bool {
        self.0.iter().any(|stmt| stmt.kind.any(what))
    }

    /// Renames all that the statements name, in their order: of each its operands, its ids and its definitions, then its blocks.
    pub fn rename(&mut self, names: &mut dyn Rename) {
        for stmt in &mut self.0 {
            stmt.kind.operands_mut(&mut |value| names.operand(value));
            stmt.kind.ids_mut(&mut |id| names.id(id));
            stmt.kind.definitions_mut(&mut |value| names.definition(value));
            stmt.kind.blocks_mut().for_each(|inner| inner.rename(names));
        }
    }
}
