//! The short names of what operations and statements are made of, as the text form and messages write them. Those of operators are in
//! their tables.

use crate::module::{ErrorKind, FenceScope};
use crate::op::{Axis, Geometry};

macro_rules! names {
    ($ty:ident { $($variant:ident = $name:literal),* $(,)? }) => {
        impl $ty {
            pub const ALL: &'static [$ty] = &[$($ty::$variant),*];

            /// The name of the text form.
            pub const fn name(self) -> &'static str {
                match self { $($ty::$variant => $name),* }
            }

            pub fn from_name(name: &str) -> Option<$ty> {
                match name { $($name => Some($ty::$variant),)* _ => None }
            }
        }
    };
}

names!(FenceScope {
    Block = "block",
    Device = "device",
    System = "system",
});

names!(Axis {
    X = "x",
    Y = "y",
    Z = "z",
});

impl ErrorKind {
    /// All but those of the host's.
    pub const ALL: &'static [ErrorKind] = &[
        ErrorKind::Assertion,
        ErrorKind::ZeroDivision,
        ErrorKind::Index,
        ErrorKind::Value,
        ErrorKind::Overflow,
        ErrorKind::Memory,
        ErrorKind::LinAlg,
    ];

    /// The name of the text form, behind which the host's have a number.
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::Assertion => "assertion",
            ErrorKind::ZeroDivision => "zero_division",
            ErrorKind::Index => "index",
            ErrorKind::Value => "value",
            ErrorKind::Overflow => "overflow",
            ErrorKind::Memory => "memory",
            ErrorKind::LinAlg => "linalg",
            ErrorKind::Host(_) => "host",
        }
    }

    /// Of those in [`ErrorKind::ALL`].
    pub fn from_name(name: &str) -> Option<ErrorKind> {
        ErrorKind::ALL.iter().copied().find(|kind| kind.name() == name)
    }
}

impl Axis {
    /// Position in `[x, y, z]`.
    pub const fn index(self) -> usize {
        self as usize
    }
}

impl Geometry {
    /// All that an axis has.
    pub const fn of_axis(axis: Axis) -> [Geometry; 4] {
        [
            Geometry::ThreadIdx(axis),
            Geometry::BlockIdx(axis),
            Geometry::BlockDim(axis),
            Geometry::GridDim(axis),
        ]
    }

    /// The name without the axis: `thread_idx`.
    pub const fn base_name(self) -> &'static str {
        match self {
            Geometry::ThreadIdx(_) => "thread_idx",
            Geometry::BlockIdx(_) => "block_idx",
            Geometry::BlockDim(_) => "block_dim",
            Geometry::GridDim(_) => "grid_dim",
            Geometry::LaneId => "lane_id",
        }
    }

    pub const fn axis(self) -> Option<Axis> {
        match self {
            Geometry::ThreadIdx(a) | Geometry::BlockIdx(a) | Geometry::BlockDim(a) | Geometry::GridDim(a) => Some(a),
            Geometry::LaneId => None,
        }
    }
}
