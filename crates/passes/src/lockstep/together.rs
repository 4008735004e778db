//! What threads of a block learn of each other through shared memory: votes of the block and of its warps.
//!
//! Votes are counted in one of three rows of words that take turns, so that a vote costs one barrier: the row of this vote is read behind
//! its barrier, and the row of the vote before, which everybody has read by then, is cleared for the one after next.

use weft_ir::{
    ArrayDecl, AtomicOp, Axis, BinOp, Builder, CmpOp, Const, Geometry, Index, Layout, Local, Op, Part, Scalar, Space, StmtKind, Type, UnOp,
    Value, ViewType, WARP,
};

use super::Options;
use super::group::Group;
use crate::statements::counted;

const ROWS: i64 = 3;

/// Rows of shared words that take turns.
#[derive(Debug)]
struct Ring {
    view: Value,
    elem: Scalar,
    width: i64,
    /// The row of the next vote.
    turn: Local,
    used: bool,
}

/// The numbers of a thread and the shared memory for what threads tell each other. Made where the kernel starts; what is not used goes away.
#[derive(Debug)]
pub struct Together {
    /// The thread's number in its block, how many threads there are, the first thread of the warp, the own lane (all `i32`).
    pub thread: Value,
    pub threads: Value,
    pub first: Value,
    pub lane: Value,
    /// `u32`: the own lane's bit.
    pub bit: Value,
    warp: Value,
    /// Lanes that need neither shared memory nor barriers, if the device has such.
    pub group: Option<Group>,
    block: Ring,
    warps: Ring,
    pub max_threads: u64,
}

impl Together {
    pub fn new(b: &mut Builder, options: Options) -> Together {
        let bound = b.func.flags.max_threads;
        let max_threads = if bound == 0 {
            options.max_threads
        } else {
            bound.min(options.max_threads)
        };
        let geometry = |b: &mut Builder, which| {
            let value = b.emit(Scalar::I64, Op::Geometry(which));
            b.cast(value, Scalar::I32)
        };
        let [x, y, z] = Axis::XYZ.map(|axis| geometry(b, Geometry::ThreadIdx(axis)));
        let [nx, ny, nz] = Axis::XYZ.map(|axis| geometry(b, Geometry::BlockDim(axis)));
        let planes = b.binary(BinOp::Mul, z, ny);
        let rows = b.binary(BinOp::Add, planes, y);
        let rows = b.binary(BinOp::Mul, rows, nx);
        let thread = b.binary(BinOp::Add, rows, x);
        let plane = b.binary(BinOp::Mul, nx, ny);
        let threads = b.binary(BinOp::Mul, plane, nz);
        let lanes = b.constant(i32(WARP.into()));
        let last = b.constant(i32(i64::from(WARP) - 1));
        let lane = b.binary(BinOp::And, thread, last);
        let first = b.binary(BinOp::Sub, thread, lane);
        let warp = b.binary(BinOp::FloorDiv, thread, lanes);
        let one = b.constant(u32(1));
        let bit = b.binary(BinOp::Shl, one, lane);
        Together {
            thread,
            threads,
            first,
            lane,
            bit,
            warp,
            group: (options.group > 1).then(|| Group::new(b, lane, options.group)),
            block: Ring::new(b, "block_votes", Scalar::I32, 1),
            warps: Ring::new(b, "warp_votes", Scalar::U32, max_threads.div_ceil(WARP).into()),
            max_threads: max_threads.into(),
        }
    }

    /// What has to be done before the first vote.
    pub fn start(&self, b: &mut Builder) {
        let used: Vec<&Ring> = [&self.block, &self.warps].into_iter().filter(|ring| ring.used).collect();
        if used.is_empty() {
            return;
        }
        let zero = b.constant(i32(0));
        let is_first = b.compare(CmpOp::Eq, self.thread, zero);
        b.open();
        for ring in &used {
            ring.clear_all(b);
        }
        let then = b.close();
        b.push(if_then(is_first, then));
        for ring in used {
            b.set(ring.turn, zero);
        }
        b.push(StmtKind::Barrier);
    }

    /// `i32`: in how many threads of the block the bool is true.
    pub fn count(&mut self, b: &mut Builder, holds: Value) -> Value {
        self.block.used = true;
        let zero = b.constant(i32(0));
        let clears = b.compare(CmpOp::Eq, self.thread, zero);
        let (holds, count) = match self.group {
            Some(group) => {
                let lanes = group.ballot(b, holds);
                let count = b.unary(UnOp::Popcount, lanes);
                (group.leads, b.cast(count, Scalar::I32))
            }
            None => (holds, b.constant(i32(1))),
        };
        self.block.vote(b, zero, holds, (AtomicOp::Add, count), clears)
    }

    /// `u32`: the lanes of the warp in which the bool is true.
    pub fn ballot(&mut self, b: &mut Builder, holds: Value) -> Value {
        let (holds, lanes) = match self.group {
            Some(group) if group.is_warp() => return group.ballot(b, holds),
            Some(group) => (group.leads, group.ballot(b, holds)),
            None => (holds, self.bit),
        };
        self.warps.used = true;
        let zero = b.constant(i32(0));
        let clears = b.compare(CmpOp::Eq, self.lane, zero);
        self.warps.vote(b, self.warp, holds, (AtomicOp::Or, lanes), clears)
    }
}

impl Ring {
    fn new(b: &mut Builder, name: &str, elem: Scalar, width: u64) -> Ring {
        Ring {
            view: shared_array(b, name, elem, ROWS as u64 * width),
            elem,
            width: width as i64,
            turn: b.func.new_local(Scalar::I32.into(), "turn"),
            used: false,
        }
    }

    fn clear_all(&self, b: &mut Builder) {
        let zero = b.constant(zero(self.elem));
        let range = [b.i64(0), b.i64(ROWS * self.width), b.i64(1)];
        let var = b.func.new_value(Type::I64);
        counted(b, var, range, |b| store(b, self.view, var, zero));
    }

    fn vote(&self, b: &mut Builder, column: Value, holds: Value, (op, value): (AtomicOp, Value), clears: Value) -> Value {
        let turn = b.get(self.turn);
        let [zero, one, last] = [0, 1, ROWS - 1].map(|v| b.constant(i32(v)));
        let at = self.place(b, turn, column);
        b.open();
        b.emit(
            self.elem,
            Op::Atomic {
                op,
                view: self.view,
                indices: vec![Index { value: at, wrap: false }],
                value,
                expected: None,
            },
        );
        let then = b.close();
        b.push(if_then(holds, then));
        b.push(StmtKind::Barrier);
        let result = load(b, self.elem, self.view, at);
        let (is_last, is_first) = (b.compare(CmpOp::Eq, turn, last), b.compare(CmpOp::Eq, turn, zero));
        let (up, down) = (b.binary(BinOp::Add, turn, one), b.binary(BinOp::Sub, turn, one));
        let (next, before) = (b.select(is_last, zero, up), b.select(is_first, last, down));
        b.open();
        let at = self.place(b, before, column);
        let nothing = b.constant(crate::lockstep::together::zero(self.elem));
        store(b, self.view, at, nothing);
        let then = b.close();
        b.push(if_then(clears, then));
        b.set(self.turn, next);
        result
    }

    fn place(&self, b: &mut Builder, row: Value, column: Value) -> Value {
        let width = b.constant(i32(self.width));
        let start = b.binary(BinOp::Mul, row, width);
        let at = b.binary(BinOp::Add, start, column);
        b.cast(at, Type::I64)
    }
}

pub fn shared_array(b: &mut Builder, name: &str, elem: Scalar, len: u64) -> Value {
    let array = b.func.new_array(ArrayDecl {
        name: name.into(),
        elem,
        shape: vec![len],
        space: Space::Shared,
    });
    let ty = ViewType {
        elem,
        rank: 1,
        layout: Layout::C,
        space: Space::Shared,
        writable: true,
    };
    b.emit(ty, Op::Array(array))
}

pub fn load(b: &mut Builder, elem: Scalar, view: Value, at: Value) -> Value {
    let indices = vec![Index { value: at, wrap: false }];
    let part = Part::Whole;
    b.emit(elem, Op::Load { view, indices, part })
}

pub fn store(b: &mut Builder, view: Value, at: Value, value: Value) {
    b.push(StmtKind::Store {
        view,
        indices: vec![Index { value: at, wrap: false }],
        value,
        part: Part::Whole,
    });
}

pub fn if_then(cond: Value, then: weft_ir::Block) -> StmtKind {
    StmtKind::If {
        cond,
        then,
        other: weft_ir::Block::default(),
    }
}

pub fn i32(v: i64) -> Const {
    Const::Int(Scalar::I32, v)
}

pub fn u32(v: u32) -> Const {
    Const::Int(Scalar::U32, v.into())
}

fn zero(elem: Scalar) -> Const {
    Const::Int(elem, 0)
}
