//! Random kernels: regions of statements with barriers between them.

mod stray;
mod together;

use super::rng::Rng;
use super::stmt::{Place, Return};
use super::{Case, Gen, Reach, case, device, function};
use crate::module::{ArrayDecl, Block, FuncKind, StmtKind, Value};
use crate::op::{AtomicOp, Axis, BinOp, CmpOp, Geometry, Index, Op, Part};
use crate::testing::TestLaunch;
use crate::types::{Layout, Scalar, Space, ViewType};

const BLOCKS: [[u32; 3]; 12] = [
    [1, 1, 1],
    [3, 1, 1],
    [8, 1, 1],
    [16, 1, 1],
    [32, 1, 1],
    [33, 1, 1],
    [64, 1, 1],
    [5, 3, 1],
    [16, 2, 1],
    [4, 2, 3],
    [1, 7, 1],
    [1, 1, 9],
];
const GRIDS: [[u32; 3]; 5] = [[1, 1, 1], [2, 1, 1], [3, 1, 1], [2, 2, 1], [1, 1, 2]];
/// Operations whose order does not matter. An array sees only one of them.
const COMMUTING: [AtomicOp; 6] = [
    AtomicOp::Add,
    AtomicOp::Min,
    AtomicOp::Max,
    AtomicOp::And,
    AtomicOp::Or,
    AtomicOp::Xor,
];
const COUNTED: [Scalar; 4] = [Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64];

struct Kernel {
    g: Gen,
    threads: u64,
    /// The thread's number in its block.
    thread: Value,
    /// Shared arrays that all threads have set, in a kernel whose threads may end early.
    stray: Option<Vec<Reach>>,
}

pub(super) fn generate(mut rng: Rng, stray: bool) -> Case {
    let (block, grid) = (rng.pick(&BLOCKS), rng.pick(&GRIDS));
    let (mut functions, callees) = device::generate(&mut rng);
    let mut g = Gen::new(rng, function("k", FuncKind::Kernel));
    g.types.extend(callees.iter().map(|c| c.result));
    g.callees = callees;
    let product = |dims: [u32; 3]| dims.iter().map(|d| u64::from(*d)).product::<u64>();
    let (threads, blocks) = (product(block), product(grid));

    let mut args = Vec::new();
    for _ in 0..1 + g.rng.below(3) {
        g.scalar_param(&mut args);
    }
    for _ in 0..1 + g.rng.below(3) {
        g.input_param(&mut args);
    }
    for _ in 0..1 + g.rng.below(3) {
        let elem = g.any_type();
        let mut shape = vec![threads * blocks];
        if g.rng.chance(25) {
            shape.push(3);
        }
        let view = g.array_param(elem, shape.clone(), true, &mut args);
        g.own.push(Reach {
            view,
            elem,
            shape,
            private: true,
        });
    }
    // What takes the checksums.
    let view = g.array_param(Scalar::I64, vec![threads * blocks], true, &mut args);
    let sums = Reach {
        view,
        elem: Scalar::I64,
        shape: vec![threads * blocks],
        private: true,
    };
    if g.rng.chance(30) {
        let (elem, op) = (g.rng.pick(&COUNTED), g.rng.pick(&COMMUTING));
        let shape = vec![1 + g.rng.below(6)];
        let view = g.array_param(elem, shape.clone(), true, &mut args);
        let array = Reach {
            view,
            elem,
            shape,
            private: false,
        };
        g.counters.push((array, op));
    }
    let flat = block[1..] == [1, 1] && grid[1..] == [1, 1] && g.rng.chance(70);
    let (thread, own) = if flat {
        flat_indices(&mut g)
    } else {
        linear_indices(&mut g, threads)
    };
    g.lane = Some(own);
    g.own_index = Some(own);
    g.pool.push((own, Scalar::I64));
    if g.rng.chance(30) {
        g.constant_array();
    }
    g.make_locals();
    let mut kernel = Kernel {
        g,
        threads,
        thread,
        stray: None,
    };
    kernel.local_array();
    if stray {
        kernel.set_shared();
        for _ in 0..2 {
            kernel.go_astray();
            kernel.phases(2);
        }
        kernel.exchange();
    }
    kernel.phases(3);
    if stray {
        kernel.part();
    }
    kernel.tail(&sums);
    let constants = kernel.g.constants;
    functions.push(kernel.g.b.finish());
    case(functions, constants, TestLaunch::Grid { grid, block, dynamic: 0 }, args)
}

/// What a kernel over one axis computes: `block_idx.x * block_dim.x + thread_idx.x`.
fn flat_indices(g: &mut Gen) -> (Value, Value) {
    let [thread, block, dim] =
        [Geometry::ThreadIdx, Geometry::BlockIdx, Geometry::BlockDim].map(|which| g.b.emit(Scalar::I64, Op::Geometry(which(Axis::X))));
    let first = g.b.binary(BinOp::Mul, block, dim);
    (thread, g.b.binary(BinOp::Add, first, thread))
}

/// The thread's number in its block, and in the grid.
fn linear_indices(g: &mut Gen, threads: u64) -> (Value, Value) {
    let geometry = |g: &mut Gen, which: fn(Axis) -> Geometry, axis| g.b.emit(Scalar::I64, Op::Geometry(which(axis)));
    let linear = |g: &mut Gen, index: fn(Axis) -> Geometry, dim: fn(Axis) -> Geometry| {
        let mut sum = geometry(g, index, Axis::Z);
        for axis in [Axis::Y, Axis::X] {
            let extent = geometry(g, dim, axis);
            let scaled = g.b.binary(BinOp::Mul, sum, extent);
            let i = geometry(g, index, axis);
            sum = g.b.binary(BinOp::Add, scaled, i);
        }
        sum
    };
    let thread = linear(g, Geometry::ThreadIdx, Geometry::BlockDim);
    let block = linear(g, Geometry::BlockIdx, Geometry::GridDim);
    let threads = g.i64(threads as i64);
    let first = g.b.binary(BinOp::Mul, block, threads);
    let own = g.b.binary(BinOp::Add, first, thread);
    (thread, own)
}

impl Kernel {
    fn declare(&mut self, elem: Scalar, len: u64, space: Space) -> Reach {
        let name = format!("m{}", self.g.b.func.arrays.len());
        let decl = ArrayDecl {
            name,
            elem,
            shape: vec![len],
            space,
        };
        let id = self.g.b.func.new_array(decl);
        let ty = ViewType {
            elem,
            rank: 1,
            layout: Layout::C,
            space,
            writable: true,
        };
        Reach {
            view: self.g.b.emit(ty, Op::Array(id)),
            elem,
            shape: vec![len],
            private: space == Space::Local,
        }
    }

    fn store(&mut self, array: &Reach, at: Value, value: Value) {
        self.g.b.push(StmtKind::Store {
            view: array.view,
            indices: vec![Index { value: at, wrap: false }],
            value,
            part: Part::Whole,
        });
    }

    /// Sometimes an array of the thread's own, all elements set.
    fn local_array(&mut self) {
        if !self.g.rng.chance(40) {
            return;
        }
        let (elem, len) = (self.g.any_type(), 1 + self.g.rng.below(6));
        let array = self.declare(elem, len, Space::Local);
        for i in 0..len {
            let at = self.g.i64(i as i64);
            let value = self.g.value(elem);
            self.store(&array, at, value);
        }
        self.g.arrays.push(array);
    }

    /// Code that all threads of a block go through together.
    fn phases(&mut self, depth: u32) {
        for _ in 0..1 + self.g.rng.below(2) {
            if self.stray.is_some() && self.g.rng.chance(45) {
                self.go_astray();
                continue;
            }
            match self.g.rng.below(9) {
                0..=1 => self.exchange(),
                2 => self.tally(),
                8 => self.cooperate(),
                3 if depth > 0 => self.uniform_branch(depth),
                4 if depth > 0 => self.uniform_loop(depth),
                5 if depth > 0 => self.uniform_while(depth),
                _ => self.region(),
            }
        }
    }

    fn region(&mut self) {
        self.g.stmts(Place::new(Return::Never));
    }

    /// Every thread writes its element of a shared array; after a barrier all read what they like, up to the next barrier.
    fn exchange(&mut self) {
        let (elem, array) = match self.set_already(0) {
            Some(array) => (array.elem, array),
            None => {
                let elem = self.g.any_type();
                (elem, self.declare(elem, self.threads, Space::Shared))
            }
        };
        let value = self.g.expr(elem);
        self.store(&array, self.thread, value);
        self.g.b.push(StmtKind::Barrier);
        let outer = self.g.arrays.len();
        self.g.arrays.push(array);
        self.region();
        self.g.arrays.truncate(outer);
        self.g.b.push(StmtKind::Barrier);
    }

    /// Threads count in a shared array; after a barrier all read the counts.
    fn tally(&mut self) {
        let (mut elem, op) = (self.g.rng.pick(&COUNTED), self.g.rng.pick(&COMMUTING));
        let array = match self.set_already(1) {
            Some(array) => {
                elem = array.elem;
                array
            }
            None => self.declare(elem, self.threads, Space::Shared),
        };
        let value = self.g.value(elem);
        self.store(&array, self.thread, value);
        self.g.b.push(StmtKind::Barrier);
        let outer = self.g.counters.len();
        self.g.counters.push((array.clone(), op));
        self.region();
        self.g.counters.truncate(outer);
        self.g.b.push(StmtKind::Barrier);
        let outer = self.g.arrays.len();
        self.g.arrays.push(array);
        self.region();
        self.g.arrays.truncate(outer);
        self.g.b.push(StmtKind::Barrier);
    }

    /// A condition that is the same for all threads of a block.
    fn uniform_condition(&mut self) -> Value {
        let which = self
            .g
            .rng
            .pick(&[Geometry::BlockIdx(Axis::X), Geometry::BlockDim(Axis::X), Geometry::GridDim(Axis::X)]);
        let a = self.g.b.emit(Scalar::I64, Op::Geometry(which));
        let bound = self.g.rng.below(3) as i64;
        let bound = self.g.i64(bound);
        let op = self.g.rng.pick(CmpOp::ALL);
        self.g.b.compare(op, a, bound)
    }

    fn nested(&mut self, fill: impl FnOnce(&mut Kernel)) -> Block {
        let (pool, arrays) = (self.g.pool.len(), self.g.arrays.len());
        self.g.b.open();
        fill(self);
        self.g.pool.truncate(pool);
        self.g.arrays.truncate(arrays);
        self.g.b.close()
    }

    fn uniform_branch(&mut self, depth: u32) {
        let cond = self.uniform_condition();
        let then = self.nested(|k| k.phases(depth - 1));
        let other = if self.g.rng.chance(40) {
            self.nested(|k| k.phases(depth - 1))
        } else {
            Block::default()
        };
        self.g.b.push(StmtKind::If { cond, then, other });
    }

    fn uniform_loop(&mut self, depth: u32) {
        let turns = 1 + self.g.rng.below(3) as i64;
        let (start, stop, step) = (self.g.i64(0), self.g.i64(turns), self.g.i64(1));
        let var = self.g.b.func.new_value(Scalar::I64.into());
        let body = self.nested(|k| {
            k.g.pool.push((var, Scalar::I64));
            k.phases(depth - 1);
        });
        self.g.b.push(StmtKind::For {
            var,
            start,
            stop,
            step,
            body,
        });
    }

    /// Halves a local until it is zero, as a tree reduction does.
    fn uniform_while(&mut self, depth: u32) {
        let width = self.g.b.func.new_local(Scalar::I64.into(), "width");
        let start = 1 + self.g.rng.below(7) as i64;
        let (start, zero, two) = (self.g.i64(start), self.g.i64(0), self.g.i64(2));
        self.g.b.set(width, start);
        let body = self.nested(|k| {
            let now = k.g.b.get(width);
            let done = k.g.b.compare(CmpOp::Le, now, zero);
            let then = k.nested(|k| k.g.b.push(StmtKind::Break));
            k.g.b.push(StmtKind::If {
                cond: done,
                then,
                other: Block::default(),
            });
            k.g.pool.push((now, Scalar::I64));
            k.phases(depth - 1);
            let half = k.g.b.binary(BinOp::FloorDiv, now, two);
            k.g.b.set(width, half);
        });
        self.g.b.push(StmtKind::Loop(body));
    }

    fn show_digest(&mut self, sums: &Reach, own: Value) {
        if let Some(digest) = self.g.digest {
            let value = self.g.b.get(digest);
            self.store(sums, own, value);
        }
    }

    /// No barrier follows: threads may return. The locals are shown in the threads' own elements.
    fn tail(&mut self, sums: &Reach) {
        let own = self.g.own_index.unwrap_or(self.thread);
        self.g.locals.clone().into_iter().for_each(|(local, _)| {
            let value = self.g.b.get(local);
            self.g.note(value);
        });
        self.show_digest(sums, own);
        self.g.budget = self.g.budget.max(6);
        self.g.stmts(Place::new(Return::Nothing));
        for array in self.g.own.clone() {
            let mut indices = vec![Index {
                value: self.g.own_index.unwrap_or(self.thread),
                wrap: false,
            }];
            for len in &array.shape[1..] {
                indices.push(self.g.index(*len));
            }
            let value = self.g.value(array.elem);
            self.g.b.push(StmtKind::Store {
                view: array.view,
                indices,
                value,
                part: Part::Whole,
            });
        }
    }
}
