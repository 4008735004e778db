//! Plans: what a run of a captured graph came down to, kept to be run again without looking at nodes. A run is noted down while it is done,
//! as kernels, folds, stages, copies and calls of libraries with places in memory; of the notes `plan` makes a list that runs with other memory.

pub mod plan;

use std::cell::RefCell;
use std::sync::{Arc, Weak};

use smallvec::SmallVec;
use weft_ir::Scalar;

use crate::capture::Call;
use crate::dims::{Dims, Strides};
use crate::memory::{Block, Piece};
use crate::program::Program;
use crate::staged;
use crate::tiles::Target;
use crate::value::Fold;

thread_local! {
    /// The notes of the run on this thread that is noted down.
    static NOTES: RefCell<Option<Notes>> = const { RefCell::new(None) };
}

/// A place in a block that was met, from its start on.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub block: usize,
    pub offset: i64,
}

/// Where a block comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The memory of a value that the graph begins with.
    Leaf(usize),
    Constant(usize),
    Made,
}

/// A block that was met. It is not kept: what holds the only reference to memory may write to it.
#[derive(Debug)]
struct Known {
    block: Weak<Block>,
    /// Where its elements start: those of leaves may start anywhere.
    start: u64,
    bytes: u64,
    source: Source,
}

/// A kernel of a map: its operands have no memory of their own.
#[derive(Debug)]
pub struct Map {
    pub program: Program,
    pub from: SmallVec<[Place; 4]>,
    pub target: Target,
    pub to: Place,
    pub fold: Option<Fold>,
}

/// Elements that a library's routine is given, or gives.
#[derive(Clone, Debug)]
pub struct Operand {
    pub elem: Scalar,
    pub shape: Dims,
    pub strides: Strides,
    /// Of the first one; in notes none.
    pub address: u64,
}

/// Something that was done.
#[derive(Debug)]
pub enum Note {
    Map(Box<Map>),
    Stages(Box<staged::Noted>),
    Copy {
        from: Place,
        to: Place,
        bytes: u64,
    },
    Call {
        call: Arc<dyn Call>,
        operands: Vec<(Place, Operand)>,
    },
}

/// What was noted down.
#[derive(Debug, Default)]
pub struct Notes {
    known: Vec<Known>,
    notes: Vec<Note>,
    /// Something was done that cannot be noted down.
    failed: bool,
    /// Somebody notes what he does as a whole.
    quiet: u32,
}

impl Notes {
    /// The number of a block.
    fn block(&mut self, block: &Arc<Block>) -> Option<usize> {
        let found = self.known.iter().rposition(|known| known.block.as_ptr() == Arc::as_ptr(block));
        self.failed |= found.is_none();
        found
    }

    fn place(&mut self, piece: &Piece, offset: i64) -> Option<Place> {
        let block = self.block(&piece.block)?;
        let offset = piece.offset as i64 + offset - self.known[block].start as i64;
        Some(Place { block, offset })
    }

    /// The place of an address: of the block that was made last where it is.
    fn at(&mut self, address: u64) -> Option<Place> {
        let within = |known: &Known| {
            let live = known.block.upgrade()?;
            let first = live.address();
            let end = first.saturating_add((known.bytes).max(1));
            (first..end)
                .contains(&address)
                .then(|| (address - first) as i64 - known.start as i64)
        };
        let found = (0..self.known.len())
            .rev()
            .find_map(|block| Some((block, within(&self.known[block])?)));
        self.failed |= found.is_none();
        found.map(|(block, offset)| Place { block, offset })
    }

    /// A program's operands, which the program lets go of.
    pub fn operands(&mut self, program: &mut Program, nowhere: &Piece) -> Option<SmallVec<[Place; 4]>> {
        let mut from = SmallVec::new();
        for load in &mut program.loads {
            from.push(self.place(&load.piece, load.offset)?);
            load.piece = nowhere.clone();
        }
        Some(from)
    }

    pub fn piece(&mut self, piece: &Piece) -> Option<Place> {
        self.place(piece, 0)
    }
}

/// Begins to note down what this thread does, whose leaves and constants have this memory.
pub fn begin(leaves: &[Piece], constants: &[Option<Piece>]) {
    let mut notes = Notes::default();
    let mut know = |piece: &Piece, source: Source| {
        notes.failed |= notes.known.iter().any(|known| known.block.as_ptr() == Arc::as_ptr(&piece.block));
        notes.known.push(Known {
            block: Arc::downgrade(&piece.block),
            start: piece.offset,
            bytes: piece.block.bytes() as u64,
            source,
        });
    };
    let constants = constants.iter().enumerate().filter_map(|(at, piece)| Some((at, piece.as_ref()?)));
    leaves.iter().enumerate().for_each(|(at, piece)| know(piece, Source::Leaf(at)));
    constants.for_each(|(at, piece)| know(piece, Source::Constant(at)));
    NOTES.with_borrow_mut(|open| *open = Some(notes));
}

/// Ends it: the notes, unless something could not be noted down.
pub fn end() -> Option<Notes> {
    NOTES.with_borrow_mut(Option::take).filter(|notes| !notes.failed)
}

/// Does something to the notes, if there are any and nobody notes a whole.
fn note(work: impl FnOnce(&mut Notes)) {
    NOTES.with_borrow_mut(|open| {
        if let Some(notes) = open.as_mut().filter(|notes| notes.quiet == 0) {
            work(notes);
        }
    });
}

/// Notes new memory.
pub fn made(block: &Arc<Block>) {
    NOTES.with_borrow_mut(|open| {
        if let Some(notes) = open {
            notes.known.push(Known {
                block: Arc::downgrade(block),
                start: 0,
                bytes: block.bytes() as u64,
                source: Source::Made,
            });
        }
    });
}

/// Notes a map, or what is folded.
pub fn map(program: &Program, target: &Target, fold: Option<&Fold>) {
    note(|notes| {
        let to = notes.at(target.address);
        let mut program = program.clone();
        let nowhere = nowhere();
        let noted = nowhere.and_then(|nowhere| Some((notes.operands(&mut program, &nowhere)?, to?)));
        let Some((from, to)) = noted else {
            notes.failed = true;
            return;
        };
        notes.notes.push(Note::Map(Box::new(Map {
            program,
            from,
            target: target.clone(),
            to,
            fold: fold.cloned(),
        })));
    });
}

/// Memory that is nobody's.
pub fn nowhere() -> Option<Piece> {
    thread_local! {
        static NOWHERE: RefCell<Option<Piece>> = const { RefCell::new(None) };
    }
    let known = NOWHERE.with_borrow(Clone::clone);
    if known.is_some() {
        return known;
    }
    let buffer = crate::machine::cpu().ok()?.allocate(16, None).ok()?;
    let piece = Piece::whole(Block::of(buffer, None));
    NOWHERE.with_borrow_mut(|nowhere| *nowhere = Some(piece.clone()));
    Some(piece)
}

/// Notes a copy of memory.
pub fn copy(from: &Piece, to: &Piece, bytes: u64) {
    note(|notes| {
        let (from, to) = (notes.piece(from), notes.piece(to));
        if let (Some(from), Some(to)) = (from, to) {
            notes.notes.push(Note::Copy { from, to, bytes });
        }
    });
}

/// Notes a call of a library's routine: what it reads and, behind it, what it gives.
pub fn call(call: Arc<dyn Call>, operands: Vec<(&Piece, i64, Operand)>) {
    note(|notes| {
        let places: Option<Vec<(Place, Operand)>> = (operands.into_iter())
            .map(|(piece, offset, operand)| Some((notes.place(piece, offset)?, operand)))
            .collect();
        match places {
            Some(operands) => notes.notes.push(Note::Call { call, operands }),
            None => notes.failed = true,
        }
    });
}

/// Notes kernels that are run part by part.
pub fn stages(noted: impl FnOnce(&mut Notes) -> Option<staged::Noted>) {
    note(|notes| match noted(notes) {
        Some(noted) => notes.notes.push(Note::Stages(Box::new(noted))),
        None => notes.failed = true,
    });
}

/// What is done meanwhile was noted as a whole.
pub fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let quiet = |by: i32| {
        NOTES.with_borrow_mut(|open| {
            if let Some(notes) = open {
                notes.quiet = notes.quiet.saturating_add_signed(by);
            }
        });
    };
    quiet(1);
    let done = work();
    quiet(-1);
    done
}

/// What was done cannot be noted down.
pub fn fail() {
    note(|notes| notes.failed = true);
}
