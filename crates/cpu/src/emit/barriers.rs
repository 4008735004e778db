//! Kernels with barriers: what is kept between their regions, and the gangs written in lockstep.

use std::collections::BTreeMap;

use weft_ir::{Local, Value};

use super::frames::FrameKind;
use super::values::{Num, Slot, Val};
use super::writer::{Label, Operand};

/// Kernels with barriers: what `kept`, `regions` and `team` go by.
#[derive(Default)]
pub struct Barriers {
    /// What is kept between regions.
    pub regions: Option<Box<Regions>>,
    /// The gangs written in lockstep with this one.
    pub team: Vec<Member>,
}

/// What is kept between regions, and where control of the block goes.
#[derive(Debug)]
pub struct Regions {
    pub lane_axis: Option<usize>,
    pub full: bool,
    /// Number of the region written next.
    pub next: usize,
    /// Number of the gang being run.
    pub gang: Operand,
    /// Where values that several regions read are kept, and the slots the gang being written has them in.
    pub values: BTreeMap<Value, Store>,
    pub slots: BTreeMap<Value, Slot>,
    pub locals: BTreeMap<Local, Store>,
    /// Gangs besides the first of a team.
    pub members: Vec<Member>,
    /// Masks of threads that have not returned, one a gang.
    pub active: Option<Operand>,
    /// `i1`: some gang has such threads.
    pub alive: Operand,
    /// `i1`: all threads of the block have returned, where they do so together or not at all.
    pub ended: Option<Operand>,
    /// Values of the whole block: parameters and the skeleton's counters.
    pub common: Vec<Option<Val>>,
    /// Loops and scopes of the skeleton: their ends and next iterations.
    pub targets: Vec<(FrameKind, Label)>,
    /// Where the next block starts.
    pub block_end: Label,
    /// Local arrays of all gangs.
    pub arrays: Vec<Operand>,
}

/// The memory that holds a slot between regions.
#[derive(Clone, Debug)]
pub enum Store {
    /// One entry a gang for each piece of the slot.
    Gangs(Vec<Operand>),
    /// One for the block: what gangs start a region with, and what they leave.
    Block(Vec<(Operand, Operand)>),
}

/// What is a gang's own while several are written.
#[derive(Debug, Default)]
pub struct Member {
    pub vals: Vec<Option<Val>>,
    pub slots: Vec<Slot>,
    pub arrays: Vec<Operand>,
    pub thread: [Option<Num>; 3],
    /// The slots of values that other regions read.
    pub kept: BTreeMap<Value, Slot>,
}
