//! Sums of bools in types that hold every count: bytes are counted, whatever type they are added up in.

use weft_ir::Scalar;

use super::wide::{Body, widest};
use super::{FoldOp, Types};

/// Adds to each of some elements how many bools are set, of as many blocks.
pub type Count = unsafe fn(Counted);

/// Bools that lie side by side, in rows at a stride.
#[derive(Clone, Copy, Debug)]
pub struct Counted {
    pub from: *const u8,
    pub rows: usize,
    pub row_stride: i64,
    pub columns: usize,
    pub into: *mut u8,
}

struct To<T>(std::marker::PhantomData<T>);

/// Lanes that are counted in side by side, each a byte.
const LANES: usize = 128;

#[inline(always)]
fn ones(bools: &[u8]) -> u64 {
    let mut all = 0;
    // A lane holds as much.
    for part in bools.chunks(LANES * 255) {
        let mut lanes = [0u8; LANES];
        let whole = part.chunks_exact(LANES);
        all += whole.remainder().iter().map(|&flag| u64::from(flag != 0)).sum::<u64>();
        for row in whole {
            for (lane, &flag) in lanes.iter_mut().zip(row) {
                *lane += u8::from(flag != 0);
            }
        }
        all += lanes.iter().map(|&lane| u64::from(lane)).sum::<u64>();
    }
    all
}

macro_rules! counts {
    ($($to:ident)*) => {$(
        impl Body<Counted> for To<$to> {
            #[inline(always)]
            unsafe fn run(counted: Counted) {
                let mut all = 0;
                for row in 0..counted.rows {
                    // SAFETY: by contract there are so many rows of so many bools.
                    all += ones(unsafe {
                        std::slice::from_raw_parts(counted.from.offset((row as i64 * counted.row_stride) as isize), counted.columns)
                    });
                }
                // SAFETY: by contract there is an element.
                unsafe {
                    let into = counted.into.cast::<$to>();
                    *into += all as $to;
                }
            }
        }
    )*};
}

counts!(f64 u64);

/// Are elements of these types counted?
pub fn are_counted(op: FoldOp, types: Types) -> bool {
    find(op, types).is_some()
}

/// Nothing where elements are no bools, or a sum of many could round or wrap around.
pub fn find(op: FoldOp, types: Types) -> Option<Count> {
    if op != FoldOp::Add || types.elem != Scalar::Bool {
        return None;
    }
    match types.compute {
        Scalar::F64 => Some(widest::<To<f64>, Counted>()),
        Scalar::I64 | Scalar::U64 => Some(widest::<To<u64>, Counted>()),
        _ => None,
    }
}
