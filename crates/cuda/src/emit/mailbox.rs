//! `raise` and `print`: records in memory that the host reads. See `docs/architecture/runtime.md` for where they lie.

use weft_ir::{Axis, ErrorKind, FuncKind, Geometry, PrintItem, Scalar};
use weft_runtime::mailbox::{self as layout, WRITING, WRITTEN};
use weft_thread::{Code, Numbers};

use super::func::Fx;
use super::values::Res;
use super::writer::{Label, Memory, Operand, Ty};

const STATE: i64 = layout::STATE as i64;
const SITE: i64 = layout::SITE as i64;
const THREAD: i64 = layout::THREAD as i64;
/// Behind the three numbers of the thread.
const BLOCK: i64 = THREAD + 12;
const TAKEN: i64 = layout::TAKEN as i64;
const CAPACITY: i64 = layout::CAPACITY as i64;
const DROPPED: i64 = layout::DROPPED as i64;
const RING: i64 = layout::RING as i64;

/// What all errors of a function share.
#[derive(Clone, Copy, Debug)]
pub struct Raising {
    /// Writes the record and ends the thread.
    label: Label,
    /// Which error.
    site: Operand,
}

impl Fx<'_, '_> {
    /// Records the error if it is the first, and ends the thread.
    pub fn record_error(&mut self, kind: ErrorKind, message: &str) -> Res<()> {
        self.check_mail("an error")?;
        let site = self.error_site(kind, message);
        let raising = match self.raising {
            Some(raising) => raising,
            None => Raising {
                label: self.w.label(),
                site: self.w.alloca(Ty::I32),
            },
        };
        self.raising = Some(raising);
        self.w.store(Ty::I32.int_const(site), raising.site);
        if let (true, Some((_, raised))) = (self.is_called, self.results.last().copied()) {
            self.w.store(Ty::I8.int_const(1), raised);
        }
        self.w.br(raising.label);
        Ok(())
    }

    /// A function that other code calls has no mailbox.
    fn check_mail(&self, what: &str) -> Res<()> {
        if self.module.entry_function().kind == FuncKind::Device {
            return self.unsupported(format!("{what} in a function compiled by itself, which has nobody to tell"));
        }
        Ok(())
    }

    /// The end of every error, once a function.
    pub fn write_raising(&mut self) {
        let Some(Raising { label, site }) = self.raising else {
            return;
        };
        self.cx.mailbox = true;
        let (first, last) = (self.w.label(), self.w.label());
        self.w.place(label);
        let pair = self.w.inst(
            Ty::I32,
            format_args!(
                "cmpxchg {}, i32 0, i32 {WRITING} syncscope(\"device\") monotonic monotonic, align 4",
                Operand::MAILBOX
            ),
        );
        let won = self.w.inst(Ty::I1, format_args!("extractvalue {{ i32, i1 }} {}, 1", pair.bare()));
        self.w.cond_br(won, first, last);
        self.w.place(first);
        let site = self.w.load(Ty::I32, site);
        self.write_record(SITE, site);
        for (axis, at) in Axis::XYZ.into_iter().zip(0..) {
            let (thread, block) = (self.geometry(Geometry::ThreadIdx(axis)), self.geometry(Geometry::BlockIdx(axis)));
            let (thread, block) = (self.take_short(thread), self.take_short(block));
            self.write_record(THREAD + 4 * at, thread);
            self.write_record(BLOCK + 4 * at, block);
        }
        let state = self.mail(STATE);
        // Release, to the host: whoever sees the state sees the record.
        self.w.line(format_args!("store atomic i32 {WRITTEN}, {state} release, align 4"));
        self.w.br(last);
        self.w.place(last);
        match self.meeting.is_some() || self.is_called {
            true => self.w.br(self.end),
            false => self.w.end(format_args!("ret void")),
        }
    }

    fn mail(&mut self, offset: i64) -> Operand {
        let base = Operand::MAILBOX;
        if offset == 0 {
            return base;
        }
        self.w
            .inst(base.ty, format_args!("getelementptr inbounds nuw i8, {base}, i64 {offset}"))
    }

    fn write_record(&mut self, offset: i64, value: Operand) {
        let ptr = self.mail(offset);
        self.w.line(format_args!("store {value}, {ptr}, align 4"));
    }

    /// One line of output, if the ring has room for it.
    pub fn print_line(&mut self, items: &[PrintItem]) -> Res<()> {
        self.check_mail("a print")?;
        self.cx.mailbox = true;
        let (site, numbers) = self.print_site(items)?;
        let mut slots = Vec::with_capacity(numbers.len() + 1);
        for (v, s) in numbers {
            let op = self.operand(v)?;
            slots.push(self.as_slot(s, op));
        }
        let size = slots.len() as i64 + 1;
        slots.insert(0, Ty::I64.int_const(size | site << 32));
        self.write_line(&slots);
        Ok(())
    }

    /// A value as 8 bytes, small integers extended.
    fn as_slot(&mut self, s: Scalar, op: Operand) -> Operand {
        let bits = self.w.bitcast(op, op.ty.int());
        self.w.resize(bits, Ty::I64, s.is_signed())
    }

    fn write_line(&mut self, slots: &[Operand]) {
        let (fits, full, after) = (self.w.label(), self.w.label(), self.w.label());
        let size = slots.len() as i64;
        let start = self.counted_up(TAKEN, size);
        let end = self.w.binary("add", start, Ty::I64.int_const(size));
        let capacity = self.mail(CAPACITY);
        let capacity = self.w.inst(Ty::I64, format_args!("load i64, {capacity}, align 8"));
        let room = self.w.compare("icmp ule", end, capacity);
        self.w.cond_br(room, fits, full);
        self.w.place(fits);
        let ring = self.mail(RING);
        let line = self
            .w
            .inst(Ty::Ptr(Memory::Global), format_args!("getelementptr i64, {ring}, {start}"));
        for (i, slot) in slots.iter().enumerate().skip(1) {
            let ptr = self.w.inst(line.ty, format_args!("getelementptr i64, {line}, i64 {i}"));
            self.w.line(format_args!("store {slot}, {ptr}, align 8"));
        }
        // Last of all, and released to the host: whoever sees that there is a line sees all of it.
        self.w.line(format_args!("store atomic {}, {line} release, align 8", slots[0]));
        self.w.br(after);
        self.w.place(full);
        self.counted_up(DROPPED, 1);
        self.w.place(after);
    }

    /// Adds to a counter of the mailbox; gives what it was.
    fn counted_up(&mut self, offset: i64, by: i64) -> Operand {
        let ptr = self.mail(offset);
        self.w.inst(
            Ty::I64,
            format_args!("atomicrmw add {ptr}, i64 {by} syncscope(\"device\") monotonic, align 8"),
        )
    }
}
