//! Barriers of the grid: blocks count themselves in a word of device memory, those that have ended are waited for no longer.
//!
//! The word has two numbers: in its upper bits the blocks that have ended, below them how often the blocks that have not ended have come to a
//! barrier, all together. A barrier that is a block's `n`th is open when that is `n` for each of them. A block that ends takes what it counted
//! out again, which opens no barrier early and closes none; the last one leaves the word as it was found, zero.
//!
//! Within a block any thread may be the one that has ended, by a `return` or an error. So each barrier chooses anew who counts, and threads
//! that end are counted in shared memory: the last one ends the block.

use weft_ir::{Axis, FenceScope, Geometry, Space, StmtKind};
use weft_thread::{Code, Numbers, Statements};

use super::func::Fx;
use super::values::Res;
use super::writer::{Operand, Ty};

/// Where the blocks that have ended are counted. Below them is room for thousands of blocks to come to billions of barriers.
const ENDED: i64 = 44;

/// Bytes of shared memory that every block has without asking.
const SHARED_BYTES: u64 = 48 << 10;

/// What a kernel with barriers of the grid keeps.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// Shared: threads of the block that have ended.
    ended: Operand,
    /// Shared: the barrier somebody was chosen for last.
    chosen: Operand,
    /// The thread's own: barriers it has come to.
    turn: Operand,
}

impl Fx<'_, '_> {
    /// Makes ready for barriers of the grid, if there are any. All threads are there yet.
    pub fn expect_grid_barriers(&mut self) -> Res<()> {
        let found = self.f.body.any(&mut |kind| *kind == StmtKind::GridBarrier);
        if !found {
            return Ok(());
        }
        let words = self.cx.shared_array(8);
        let own = self.f.arrays.iter().filter(|array| array.space == Space::Shared);
        let bytes = own.map(|array| array.shape.iter().product::<u64>().saturating_mul(array.elem.size() as u64));
        if bytes.fold(16, u64::saturating_add) > SHARED_BYTES {
            return self.unsupported("shared arrays that leave no 16 bytes for barriers of the grid");
        }
        self.cx.grid_sync = true;
        let meeting = Meeting {
            ended: words,
            chosen: self.w.inst(words.ty, format_args!("getelementptr inbounds nuw i8, {words}, i64 4")),
            turn: self.w.alloca(Ty::I64),
        };
        self.meeting = Some(meeting);
        self.w.store(Ty::I64.int_const(0), meeting.turn);
        let (first, ready) = (self.w.label(), self.w.label());
        let leads = self.is_first_thread();
        self.w.cond_br(leads, first, ready);
        self.w.place(first);
        self.w.store(Ty::I32.int_const(0), meeting.ended);
        self.w.store(Ty::I32.int_const(0), meeting.chosen);
        self.w.br(ready);
        self.w.place(ready);
        self.barrier();
        Ok(())
    }

    pub fn meet_grid(&mut self) -> Res<()> {
        let Some(Meeting { ended, chosen, turn }) = self.meeting else {
            return self.internal("a barrier of the grid that nothing was made ready for");
        };
        self.barrier();
        let before = self.w.load(Ty::I64, turn);
        let now = self.w.binary("add nuw nsw", before, Ty::I64.int_const(1));
        self.w.store(now, turn);
        let (candidate, counts, wait, open, after) = (self.w.label(), self.w.label(), self.w.label(), self.w.label(), self.w.label());
        let first = self.is_first_of_warp();
        self.w.cond_br(first, candidate, after);
        self.w.place(candidate);
        let number = self.w.convert("trunc", now, Ty::I32);
        let last = self.w.inst(
            Ty::I32,
            format_args!("atomicrmw xchg {chosen}, {number} syncscope(\"block\") monotonic, align 4"),
        );
        let is_new = self.w.compare("icmp ne", last, number);
        self.w.cond_br(is_new, counts, after);
        self.w.place(counts);
        // Who sees that a thread has ended sees what it wrote, and so do others behind the fence.
        self.w.inst(
            Ty::I32,
            format_args!("load atomic volatile i32, {ended} syncscope(\"block\") monotonic, align 4"),
        );
        self.fence(FenceScope::Device)?;
        self.add_to_counter(Ty::I64.int_const(1));
        let blocks = self.blocks_of_grid();
        self.w.place(wait);
        let counter = Operand::COUNTER;
        let seen = self.w.inst(
            Ty::I64,
            format_args!("load atomic volatile i64, {counter} syncscope(\"device\") monotonic, align 8"),
        );
        let gone = self.w.binary("lshr", seen, Ty::I64.int_const(ENDED));
        let left = self.w.binary("sub", blocks, gone);
        let wanted = self.w.binary("mul", left, now);
        let come = self.w.binary("and", seen, Ty::I64.int_const((1 << ENDED) - 1));
        let is_open = self.w.compare("icmp uge", come, wanted);
        self.w.cond_br(is_open, open, wait);
        self.w.place(open);
        self.fence(FenceScope::Device)?;
        self.w.br(after);
        self.w.place(after);
        self.barrier();
        Ok(())
    }

    /// A thread ends. The last one of the block ends the block.
    pub fn leave_grid(&mut self) {
        let Some(Meeting { ended, turn, .. }) = self.meeting else {
            return;
        };
        let (last, all, after) = (self.w.label(), self.w.label(), self.w.label());
        self.w.line(format_args!("fence syncscope(\"device\") acq_rel"));
        let before = self.w.inst(
            Ty::I32,
            format_args!("atomicrmw add {ended}, i32 1 syncscope(\"block\") monotonic, align 4"),
        );
        let others = self.threads_of_block();
        let others = self.w.binary("sub", others, Ty::I32.int_const(1));
        let is_last = self.w.compare("icmp eq", before, others);
        self.w.cond_br(is_last, last, after);
        self.w.place(last);
        self.w.line(format_args!("fence syncscope(\"device\") acq_rel"));
        let counted = self.w.load(Ty::I64, turn);
        let by = self.w.binary("sub", Ty::I64.int_const(1 << ENDED), counted);
        let found = self.add_to_counter(by);
        let gone = self.w.binary("lshr", found, Ty::I64.int_const(ENDED));
        let blocks = self.blocks_of_grid();
        let others = self.w.binary("sub", blocks, Ty::I64.int_const(1));
        let is_over = self.w.compare("icmp eq", gone, others);
        self.w.cond_br(is_over, all, after);
        self.w.place(all);
        self.w.line(format_args!(
            "store atomic i64 0, {} syncscope(\"device\") monotonic, align 8",
            Operand::COUNTER
        ));
        self.w.br(after);
        self.w.place(after);
    }

    fn add_to_counter(&mut self, by: Operand) -> Operand {
        let counter = Operand::COUNTER;
        self.w.inst(
            Ty::I64,
            format_args!("atomicrmw add {counter}, {by} syncscope(\"device\") monotonic, align 8"),
        )
    }

    fn is_first_thread(&mut self) -> Operand {
        let [x, y, z] = Axis::XYZ.map(|axis| {
            let index = self.geometry(Geometry::ThreadIdx(axis));
            self.take_short(index)
        });
        let any = self.w.binary("or", x, y);
        let any = self.w.binary("or", any, z);
        self.w.compare("icmp eq", any, Ty::I32.int_const(0))
    }

    /// Of the threads that are here together. Should there be several such, the choice among them settles it.
    fn is_first_of_warp(&mut self) -> Operand {
        let here = self.nvvm("activemask", Ty::I32, &[]);
        let lower = self.nvvm("read.ptx.sreg.lanemask.lt", Ty::I32, &[]);
        let before = self.w.binary("and", here, lower);
        self.w.compare("icmp eq", before, Ty::I32.int_const(0))
    }

    fn threads_of_block(&mut self) -> Operand {
        let [x, y, z] = Axis::XYZ.map(|axis| {
            let dim = self.geometry(Geometry::BlockDim(axis));
            self.take_short(dim)
        });
        let xy = self.w.binary("mul", x, y);
        self.w.binary("mul", xy, z)
    }

    fn blocks_of_grid(&mut self) -> Operand {
        let [x, y, z] = Axis::XYZ.map(|axis| {
            let dim = self.geometry(Geometry::GridDim(axis));
            let dim = self.take_short(dim);
            self.w.resize(dim, Ty::I64, false)
        });
        let xy = self.w.binary("mul", x, y);
        self.w.binary("mul", xy, z)
    }
}
