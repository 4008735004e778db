//! Specialization: what the arguments of a launch let compiled code rely on, and in which pieces of memory they lie.

use smallvec::SmallVec;
use weft_runtime::{NARROW, RunError, ViewParam, Window, are_small};

use crate::emit::Facts;
use crate::gpu::Gpu;
use crate::groups::{Piece, Pieces};
use crate::live::Live;
use crate::memory::Table;

/// Finds the facts of one launch. `args` has the slots that `views` and `ints`, those of `int64`s, count; `threads` are those of the grid
/// along each axis, or a loop's points.
pub fn find(views: &[ViewParam], ints: &[u32], args: &[u64], threads: &[u64]) -> Facts {
    let is_narrow = |view: &ViewParam| Window::of(view, args).is_some_and(|window| window.is_narrow());
    Facts {
        narrow: threads.iter().all(|&n| n < NARROW) && views.iter().all(is_narrow),
        small: are_small(ints, args),
        bits: Facts::BITS,
    }
}

/// Numbers of bits that code is made for where 32 bits are short for what is computed of sizes.
const TIERS: [u8; 5] = [10, 14, 18, 22, 26];

/// The same facts, with bits for the sizes that this launch has.
pub fn tightened(facts: Facts, views: &[ViewParam], ints: &[u32], args: &[u64], threads: &[u64]) -> Facts {
    let elements = views
        .iter()
        .filter_map(|view| Window::of(view, args))
        .map(|window| window.elements());
    let numbers = ints
        .iter()
        .filter_map(|&slot| args.get(slot as usize))
        .map(|&n| (n as i64).unsigned_abs());
    let most = threads.iter().copied().chain(elements).chain(numbers).max().unwrap_or(0);
    let bits = TIERS.into_iter().find(|&bits| most < 1 << bits);
    Facts {
        bits: bits.unwrap_or(facts.bits),
        ..facts
    }
}

/// Numbers of the pieces that views lie in, by view.
pub type Classes = SmallVec<[u32; 8]>;

/// Where the views of a launch are.
#[derive(Debug, Default)]
pub struct Places {
    pub classes: Classes,
    pub pieces: Pieces,
}

impl Places {
    pub fn find(gpu: &Gpu, live: &Live, memory: &Table, views: &[ViewParam], args: &[u64]) -> Result<Places, RunError> {
        let mut places = Places::default();
        // The bytes that the views of each piece reach over.
        let mut reach: SmallVec<[(u64, u64); 6]> = SmallVec::new();
        for view in views {
            let span = Window::of(view, args).and_then(|window| window.span(view.ty));
            let Some((low, high)) = span else {
                places.classes.push(places.pieces.len() as u32);
                places.pieces.push(Piece::EMPTY);
                reach.push((0, 0));
                continue;
            };
            let block = memory.find(low).filter(|block| high <= block.base + block.size);
            let block = block.ok_or_else(|| gpu.no_memory(low, high.saturating_sub(low)))?;
            let known = places.pieces.iter().position(|piece| piece.block == block.base);
            let class = known.unwrap_or_else(|| {
                places.pieces.push(Piece {
                    block: block.base,
                    start: 0,
                    bytes: block.size,
                });
                reach.push((low, high));
                places.pieces.len() - 1
            });
            let (first, last) = &mut reach[class];
            (*first, *last) = ((*first).min(low), (*last).max(high));
            places.classes.push(class as u32);
        }
        let most = u64::from(live.features.binding_bytes);
        for (piece, &(low, high)) in places.pieces.iter_mut().zip(&reach) {
            if piece.bytes > most {
                *piece = window(gpu, live, *piece, low, high)?;
            }
        }
        Ok(places)
    }
}

/// The part of a large block that the views need.
#[cold]
fn window(gpu: &Gpu, live: &Live, piece: Piece, low: u64, high: u64) -> Result<Piece, RunError> {
    let start = (low - piece.block) / live.alignment * live.alignment;
    let bytes = (high - piece.block - start).next_multiple_of(16).min(piece.bytes - start);
    let most = u64::from(live.features.binding_bytes);
    if bytes > most {
        return Err(RunError::Unsupported(format!(
            "arrays among the arguments reach over {bytes} bytes of one piece of memory, and kernels of {} address {most} bytes of one: \
             launch on parts of the arrays",
            gpu.id
        )));
    }
    Ok(Piece { start, bytes, ..piece })
}
