//! Where a value's elements lie, for routines of libraries: views of what is stored are read as they lie, all else is computed.

use weft_ir::Scalar;

use crate::dims::{self, Dims, Strides};
use crate::error::{Error, Result};
use crate::memory::Piece;
use crate::planned::Operand;
use crate::value::{Kind, Node, Value};
use crate::{machine, schedule};

/// Elements in memory, which is not written to as long as this holds it.
#[derive(Debug)]
pub struct Placed {
    pub piece: Piece,
    /// Of the first element in the piece, in bytes.
    pub offset: i64,
    pub strides: Strides,
}

impl Placed {
    /// The elements of a value, as NumPy would be given them.
    pub fn of(value: &Value) -> Result<Placed> {
        Placed::as_it_lies(value).map_or_else(|| Placed::dense(value), Ok)
    }

    /// The same one behind the other.
    pub fn dense(value: &Value) -> Result<Placed> {
        schedule::compute(std::slice::from_ref(value))?;
        let piece = value.piece().ok_or_else(|| Error::Internal("a value was not computed".into()))?;
        Ok(Placed {
            piece,
            offset: 0,
            strides: dims::dense(&value.shape, value.elem.size()),
        })
    }

    /// Those of what is stored, or a view of what is.
    pub fn as_it_lies(value: &Value) -> Option<Placed> {
        if let Some(piece) = value.piece() {
            return Some(Placed {
                piece,
                offset: 0,
                strides: dims::dense(&value.shape, value.elem.size()),
            });
        }
        match value.kind()? {
            Kind::View { of, map } => {
                let piece = stored(&of)?;
                let (offset, strides) = dims::through(&map, &dims::dense(&of.shape, of.elem.size()), value.shape.len());
                Some(Placed { piece, offset, strides })
            }
            Kind::Strided { of, offset, strides } => Some(Placed {
                piece: of.piece()?,
                offset,
                strides: *strides,
            }),
            Kind::Reshape(of) => Some(Placed {
                piece: stored(&of)?,
                offset: 0,
                strides: dims::dense(&value.shape, value.elem.size()),
            }),
            _ => None,
        }
    }

    /// A value of the CPU whose elements are still to be written, and where they go.
    pub fn fresh(elem: Scalar, shape: Dims) -> Result<(Value, Placed)> {
        let piece = Piece::fresh(machine::CPU, &shape, elem)?;
        let value = Node::stored(elem, shape, piece.clone());
        let placed = Placed {
            piece,
            offset: 0,
            strides: dims::dense(&value.shape, elem.size()),
        };
        Ok((value, placed))
    }

    /// The elements of a value as a routine is given them.
    pub fn operand(&self, value: &Value) -> Operand {
        Operand {
            elem: value.elem,
            shape: value.shape.clone(),
            strides: self.strides.clone(),
            address: self.address(),
        }
    }

    pub fn address(&self) -> u64 {
        self.piece.address().wrapping_add_signed(self.offset)
    }
}

/// The memory of what is stored, in whatever shape.
fn stored(value: &Value) -> Option<Piece> {
    value.piece().or_else(|| match value.kind()? {
        Kind::Reshape(of) => of.piece(),
        _ => None,
    })
}
