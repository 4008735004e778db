//! Loops from row to row, which fetch later rows: what is known of the one being written.

use weft_ir::Value;

use super::writer::Operand;

/// A loop from row to row.
#[derive(Debug)]
pub struct Walk {
    /// Its numbers of rows: what it counts, and that from another place on. None in other loops.
    pub rows: Vec<Value>,
    /// How many rows ahead: fewer before the last.
    pub ahead: Operand,
    /// The arrays whose later rows it fetches.
    pub fetched: Vec<Operand>,
}

impl Default for Walk {
    fn default() -> Walk {
        Walk {
            rows: Vec::new(),
            ahead: Operand::Int(0),
            fetched: Vec::new(),
        }
    }
}
