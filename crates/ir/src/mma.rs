//! Products of matrices that a warp computes together: what [`StmtKind::Mma`](crate::StmtKind::Mma) takes, and which lane has which sum.

use crate::types::{Layout, Scalar, Space, ViewType};

/// Rows and columns of the tile that four sums of each lane make.
pub const ROWS: i64 = 16;
pub const COLUMNS: i64 = 8;

/// Sums of a tile that a lane has.
pub const SUMS: i64 = 4;

/// What holds several elements at once.
pub const WORD: Scalar = Scalar::I64;

/// Along how many places of the inner axis elements are multiplied at once: 32 bytes. Nothing for what cannot be multiplied so.
pub const fn depth(elem: Scalar) -> Option<i64> {
    match elem {
        Scalar::F16 | Scalar::BF16 => Some(16),
        Scalar::F32 => Some(8),
        _ => None,
    }
}

/// The row and the column, inside a tile, of one of a lane's four sums.
pub const fn place(lane: i64, sum: i64) -> (i64, i64) {
    (lane / 4 + sum / 2 * 8, lane % 4 * 2 + sum % 2)
}

/// At multiples of how many bytes rows of 16-bit floats begin: tensor cores' loads take so many at once.
const ALIGN: i64 = 16;

/// May a row begin so many bytes behind the beginning of its array, or of another row?
pub const fn is_aligned(elem: Scalar, bytes: i64) -> bool {
    matches!(elem, Scalar::F32) || bytes % ALIGN == 0
}

pub const NOT_ALIGNED: &str = "rows of 16-bit floats that cuda.mma multiplies begin at multiples of 16 bytes";

/// Why a device does not compile it.
pub const NOT_HERE: &str = "cuda.mma takes an NVIDIA GPU, by device='cuda': multiply element by element elsewhere";

/// Can a view hold a lane's sums?
pub fn are_sums(ty: ViewType) -> bool {
    ty.elem == Scalar::F32 && ty.rank == 3 && ty.layout == Layout::C && ty.space == Space::Local && ty.writable
}

/// Can a view hold such elements of a matrix that is multiplied?
pub fn is_factor(elem: Scalar, ty: ViewType) -> bool {
    let lies_together = matches!(ty.layout, Layout::C | Layout::Row);
    let holds_them = ty.elem == elem || ty.elem == WORD;
    depth(elem).is_some() && holds_them && ty.rank == 2 && lies_together && ty.space == Space::Shared
}
