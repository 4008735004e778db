//! Folds of computed elements along all axes of their index space: a part of the elements is stored at a time, and folded by itself.

#![allow(unsafe_code)] // Operands are places in memory that programs keep alive.

use smallvec::SmallVec;
use weft_ir::Scalar;
use weft_tile::fold::{self, Axis, Chunk, Fold as Machine, Types};

use crate::dims::{self, Strides};
use crate::error::Result;
use crate::folds::{Word, compute, element, nearest, share, source_fold};
use crate::memory::{Piece, needed};
use crate::program::Program;
use crate::tiles::Target;
use crate::value::{Fold, FoldKind};
use crate::{machine, parts, threads};

/// Folds so, if the elements are many enough, and the order that they combine in is one of parts that are programs.
pub fn run(program: &Program, fold: &Fold, target: &Target) -> Result<bool> {
    let FoldKind::Ufunc(name, computed_in) = fold.what else {
        return Ok(false);
    };
    let elem = element(program)?;
    if needed(&program.extents, elem)? < 2 * parts::bytes() {
        return Ok(false);
    }
    let folded: SmallVec<[usize; 4]> = (0..program.extents.len()).filter(|axis| fold.axes & (1 << axis) != 0).collect();
    let types = Types {
        elem,
        compute: computed_in,
        result: target.elem,
    };
    let of = |strides: &Strides| {
        let extents = &program.extents;
        let inner: SmallVec<[Axis; 4]> = (folded.iter())
            .map(|&axis| Axis {
                extent: extents[axis],
                stride: strides[axis],
            })
            .collect();
        fold::find(name, computed_in).and_then(|op| Machine::new(op, types, &[], &inner))
    };
    // Chunks are of the order, wherever elements lie.
    let Some(made) = of(&dims::dense(&program.extents, elem.size())) else {
        return Ok(false);
    };
    if made.is_sequence() {
        return Ok(false);
    }
    if made.is_free() {
        return by_results(program, fold, target, name, computed_in);
    }
    let long = |axes: &[usize]| -> SmallVec<[usize; 4]> { axes.iter().copied().filter(|&axis| program.extents[axis] > 1).collect() };
    let axis = match (made.chunk(0), folded.as_slice()) {
        (Chunk::Points(_), [axis]) => *axis,
        (Chunk::Rows(_), [outer @ .., _]) => match long(outer).as_slice() {
            [axis] => *axis,
            _ => return Ok(false),
        },
        _ => return Ok(false),
    };
    let nearest_of = |chunks: u64| nearest(&program.part(axis, 0, made.chunk(chunks - 1).range().end), elem);
    let together = together(made.chunk(0).range().end, nearest_of(1)[axis], elem).min(made.chunks());
    let strides = nearest_of(together);
    match of(&strides) {
        Some(made) => by_chunks(program, &made, target, (axis, together), &strides),
        None => Ok(false),
    }
}

/// Computes so many chunks of the order at a time, into the same memory, where elements lie at these strides, and folds each.
fn by_chunks(program: &Program, made: &Machine, target: &Target, (axis, together): (usize, u64), strides: &Strides) -> Result<bool> {
    let elem = element(program)?;
    let mut extents = program.extents.clone();
    extents[axis] = made.chunk(together - 1).range().end;
    let (all, size) = (made.chunks(), made.part_size().next_multiple_of(size_of::<Word>()));
    let mut parts: Vec<Word> = vec![0; all as usize * size / size_of::<Word>()];
    let first = parts.as_mut_ptr() as u64;
    threads::share(all.div_ceil(together), needed(&program.extents, elem)?, &|groups| {
        let room = Piece::fresh(machine::CPU, &extents, elem)?;
        for chunks in groups.map(|group| group * together..all.min((group + 1) * together)) {
            let range = made.chunk(chunks.start).range().start..made.chunk(chunks.end - 1).range().end;
            let part = program.part(axis, range.start, range.end - range.start);
            let source = compute(&part, elem, &room, strides.clone())?;
            // Where the first of all elements would be, if those of the chunks lie here.
            let start = source.address.wrapping_sub((range.start as i64 * strides[axis]) as u64);
            for number in chunks {
                // SAFETY: the chunk's elements have been stored, and there is room for its part, which no other has.
                unsafe { made.part(start as *const u8, 0, number, (first + number * size as u64) as *mut u8) };
            }
        }
        Ok(())
    })?;
    // SAFETY: the parts are those of all chunks; the target's memory is kept by the piece that it is part of.
    unsafe { made.join(0, first as *const u8, size, target.address as *mut u8) };
    Ok(true)
}

/// How many chunks are computed at a time: where neighbours in memory lie along their axis, as many as make rows that are worth it.
fn together(chunk: u64, stride: i64, elem: Scalar) -> u64 {
    match stride == elem.size() as i64 {
        true => parts::narrow().div_ceil(chunk * elem.size() as u64).max(1),
        false => 1,
    }
}

/// Folds parts, whatever they are, and then their results: what combines in any order.
fn by_results(program: &Program, fold: &Fold, target: &Target, name: &'static str, computed_in: Scalar) -> Result<bool> {
    let elem = element(program)?;
    let Some(axis) = program.extents.iter().position(|&extent| extent > 1) else {
        return Ok(false);
    };
    let count = program.extents[axis];
    let each = share(program, axis)?;
    let mut extents = program.extents.clone();
    extents[axis] = each;
    let results = Piece::fresh(machine::CPU, &[count.div_ceil(each)], target.elem)?;
    let (size, parts) = (target.elem.size() as i64, count.div_ceil(each));
    threads::share(parts, needed(&program.extents, elem)?, &|numbers| {
        let room = Piece::fresh(machine::CPU, &extents, elem)?;
        for number in numbers {
            let first = number * each;
            let part = program.part(axis, first, each.min(count - first));
            let source = compute(&part, elem, &room, nearest(&part, elem))?;
            let to = Target {
                address: results.address().wrapping_add_signed(number as i64 * size),
                ..target.clone()
            };
            source_fold(&source, &part.extents, fold, &to)?;
        }
        Ok(())
    })?;
    let types = Types {
        elem: target.elem,
        compute: computed_in,
        result: target.elem,
    };
    let axis = Axis {
        extent: parts,
        stride: size,
    };
    let Some(made) = fold::find(name, computed_in).and_then(|op| Machine::new(op, types, &[], &[axis])) else {
        return Ok(false);
    };
    // SAFETY: the results of all parts have been stored; the target's memory is kept by the piece that it is part of.
    unsafe { made.run(results.address() as *const u8, target.address as *mut u8, 0..made.units()) };
    Ok(true)
}
