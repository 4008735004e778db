//! The table of routines: names, signatures, and the functions that do them for one matrix.

use std::fmt;

use faer::{Par, c32, c64};

use crate::element::Dtype;
use crate::failure::Failure;
use crate::operand::Item;
use crate::signature::{Form, Kind, Mismatch, Shapes};
use crate::{cholesky, eigen, lu, products, qr, signature, svd};

pub(crate) type Run = unsafe fn(&[Item<'_>], Par) -> Result<(), Failure>;

/// What is done with each matrix of a stack.
pub struct Routine {
    pub name: &'static str,
    pub inputs: &'static [Form],
    pub outputs: &'static [Form],
    /// For each type of elements; decompositions have no single precision, as NumPy's have none.
    runs: [Option<Run>; 4],
}

impl fmt::Debug for Routine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routine").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Routine {
    pub fn find(name: &str) -> Option<&'static Routine> {
        match name {
            "matmul" => Some(&MATMUL),
            _ => DECOMPOSITIONS.iter().find(|routine| routine.name == name),
        }
    }

    /// The shapes of what a call gives, found from those of its operands.
    pub fn resolve(&self, shapes: &[&[usize]]) -> Result<Shapes, Mismatch> {
        signature::resolve(self.inputs, self.outputs, shapes)
    }

    /// Whether it is there for elements of this type.
    pub const fn takes(&self, dtype: Dtype) -> bool {
        self.runs[dtype as usize].is_some()
    }

    pub(crate) const fn of(&self, dtype: Dtype) -> Option<Run> {
        self.runs[dtype as usize]
    }
}

/// A letter in front of an operand's axes says of which type it is: as the routine's without one.
macro_rules! form {
    (real $axes:literal) => {
        Form {
            axes: $axes,
            kind: Kind::Real,
        }
    };
    (complex $axes:literal) => {
        Form {
            axes: $axes,
            kind: Kind::Complex,
        }
    };
    (same $axes:literal) => {
        Form {
            axes: $axes,
            kind: Kind::Same,
        }
    };
}

macro_rules! routines {
    ($($name:literal: $($in:literal),+ => $($kind:ident $out:literal),+; $($run:ident)::+;)+) => {
        &[$(Routine {
            name: $name,
            inputs: &[$(form!(same $in)),+],
            outputs: &[$(form!($kind $out)),+],
            runs: [None, Some($($run)::+::<f64>), None, Some($($run)::+::<c64>)],
        }),+]
    };
}

static MATMUL: Routine = Routine {
    name: "matmul",
    inputs: &[form!(same "mn"), form!(same "nk")],
    outputs: &[form!(same "mk")],
    runs: [
        Some(products::matmul::<f32>),
        Some(products::matmul::<f64>),
        Some(products::matmul::<c32>),
        Some(products::matmul::<c64>),
    ],
};

static DECOMPOSITIONS: &[Routine] = routines! {
    "cholesky_lower": "nn" => same "nn"; cholesky::lower;
    "cholesky_upper": "nn" => same "nn"; cholesky::upper;
    "solve": "nn", "nk" => same "nk"; lu::solve;
    "inv": "nn" => same "nn"; lu::inv;
    "det": "nn" => same ""; lu::det;
    "slogdet": "nn" => same "", real ""; lu::slogdet;
    "qr_reduced": "mn" => same "ml", same "ln"; qr::both;
    "qr_complete": "mn" => same "mm", same "mn"; qr::both;
    "qr_triangle": "mn" => same "ln"; qr::triangle;
    "qr_raw": "mn" => same "nm", same "l"; qr::raw;
    "svd_reduced": "mn" => same "ml", real "l", same "ln"; svd::all;
    "svd_full": "mn" => same "mm", real "l", same "nn"; svd::all;
    "svd_values": "mn" => real "l"; svd::values;
    "eigh_lower": "nn" => real "n", same "nn"; eigen::hermitian_lower;
    "eigh_upper": "nn" => real "n", same "nn"; eigen::hermitian_upper;
    "eigvalsh_lower": "nn" => real "n"; eigen::hermitian_lower;
    "eigvalsh_upper": "nn" => real "n"; eigen::hermitian_upper;
    "eig": "nn" => complex "n", complex "nn"; eigen::general;
    "eigvals": "nn" => complex "n"; eigen::general;
};
