//! `raise` and `print`: records in memory that the host reads. See `docs/architecture/runtime.md` for where they lie.

use naga::{
    AddressSpace, AtomicFunction, BinaryOperator, Block, Expression, FunctionArgument, Handle, MemoryDecorations, ResourceBinding, Span,
    Statement, StorageAccess,
};
use weft_ir::{Axis, ErrorKind, Geometry, PrintItem, Scalar};
use weft_runtime::mailbox::{self as layout, WRITING, WRITTEN};
use weft_thread::{Code, Numbers};

use super::func::Fx;
use super::operand::{Operand, Ty};
use super::values::Res;
use super::writer::Writer;

// Numbers of words.
const STATE: i64 = layout::STATE as i64 / 4;
const SITE: i64 = layout::SITE as i64 / 4;
const THREAD: i64 = layout::THREAD as i64 / 4;
/// Behind the three numbers of the thread.
const BLOCK: i64 = THREAD + 3;
const TAKEN: i64 = layout::TAKEN as i64 / 4;
const CAPACITY: i64 = layout::CAPACITY as i64 / 4;
const DROPPED: i64 = layout::DROPPED as i64 / 4;
const RING: i64 = layout::RING as i64 / 4;

impl Fx<'_> {
    /// Records the error if it is the first.
    pub fn record_error(&mut self, kind: ErrorKind, message: &str) -> Res<()> {
        let site = self.error_site(kind, message);
        let function = match self.mailbox.raising {
            Some(function) => function,
            None => self.raising_function(),
        };
        self.mailbox.raising = Some(function);
        let mut arguments = vec![Ty::I32.int(site)];
        for query in [Geometry::ThreadIdx, Geometry::BlockIdx] {
            for axis in Axis::XYZ {
                let n = self.geometry(query(axis));
                arguments.push(self.take_short(n));
            }
        }
        let arguments = arguments.into_iter().map(|op| self.w.expr(op)).collect();
        self.w.push(Statement::Call {
            function,
            arguments,
            result: None,
        });
        Ok(())
    }

    /// The function that writes the record: site, thread, block.
    fn raising_function(&mut self) -> Handle<naga::Function> {
        let variable = self.mailbox_variable();
        let ty = self.w.scalar_ty(Ty::I32);
        let module = std::mem::take(&mut self.w.module);
        let outer = std::mem::replace(&mut self.w, Writer::new(module));
        let mailbox = self.w.global(variable);
        let mut words = Vec::new();
        for i in 0..7 {
            self.w.f.arguments.push(FunctionArgument {
                name: None,
                ty,
                binding: None,
            });
            let argument = self.w.name(Expression::FunctionArgument(i));
            words.push(Operand::new(Ty::I32, argument));
        }
        let state = self.w.element(mailbox, Ty::U32.int(STATE));
        let (_, won) = self.w.compare_and_swap(state, Ty::U32.int(0), Ty::U32.int(WRITING.into()));
        self.w.begin();
        for (word, at) in words
            .into_iter()
            .zip([SITE].into_iter().chain(THREAD..THREAD + 3).chain(BLOCK..BLOCK + 3))
        {
            self.write_mail(mailbox, at, word);
        }
        // The host reads when the kernel has ended: nobody sees the state before the record.
        self.write_mail(mailbox, STATE, Ty::U32.int(WRITTEN.into()));
        let record = self.w.end();
        self.w.branch(won, record, Block::new());
        self.w.push(Statement::Return { value: None });
        let inner = std::mem::replace(&mut self.w, outer);
        let (module, mut function) = inner.finish();
        self.w.module = module;
        function.name = Some("weft_raise".to_owned());
        self.w.module.functions.append(function, Span::UNDEFINED)
    }

    /// An atomic operation that changes nothing, where a fence is a barrier ([`Features::fences`]). Devices of which that is found are CPUs, whose
    /// atomic operations are sequentially consistent.
    ///
    /// [`Features::fences`]: crate::features::Features::fences
    pub fn atomic_fence(&mut self) {
        let variable = self.mailbox_variable();
        let mailbox = self.w.global(variable);
        let state = self.w.element(mailbox, Ty::U32.int(STATE));
        self.w.atomic(state, AtomicFunction::Add, Ty::U32.int(0));
    }

    fn write_mail(&mut self, mailbox: Handle<Expression>, word: i64, value: Operand) {
        let pointer = self.w.element(mailbox, Ty::U32.int(word));
        let value = self.w.bitcast(value, Ty::U32);
        self.w.store(pointer, value);
    }

    fn mailbox_variable(&mut self) -> Handle<naga::GlobalVariable> {
        if let Some(variable) = self.mailbox.variable {
            return variable;
        }
        let ty = self.words_type(true);
        let variable = naga::GlobalVariable {
            name: None,
            space: AddressSpace::Storage {
                access: StorageAccess::LOAD | StorageAccess::STORE,
            },
            binding: Some(ResourceBinding { group: 0, binding: 1 }),
            ty,
            init: None,
            memory_decorations: MemoryDecorations::empty(),
        };
        let variable = self.w.module.global_variables.append(variable, Span::UNDEFINED);
        self.mailbox.variable = Some(variable);
        variable
    }

    /// One line of output, if the ring has room for it.
    pub fn print_line(&mut self, items: &[PrintItem]) -> Res<()> {
        let (site, numbers) = self.print_site(items)?;
        let mut words = Vec::new();
        for (v, s) in numbers {
            let op = self.operand(v)?;
            words.extend(self.as_slot(s, op));
        }
        let size = words.len() as i64 / 2 + 1;
        words.splice(0..0, [Ty::U32.int(size), Ty::U32.int(site)]);
        self.write_line(&words);
        Ok(())
    }

    /// A value as two words, small integers extended.
    fn as_slot(&mut self, s: Scalar, op: Operand) -> [Operand; 2] {
        if s.size() == 8 {
            return self.halves_of(op).into();
        }
        let low = if s == Scalar::Bool {
            self.w.convert(op, Ty::U32)
        } else {
            self.w.bitcast(op, Ty::U32)
        };
        if !s.is_signed() {
            return [low, Ty::U32.int(0)];
        }
        let sign = self.w.binary(BinaryOperator::ShiftRight, op, Ty::U32.int(31));
        [low, self.w.bitcast(sign, Ty::U32)]
    }

    fn write_line(&mut self, words: &[Operand]) {
        let variable = self.mailbox_variable();
        let mailbox = self.w.global(variable);
        let size = Ty::U32.int(words.len() as i64 / 2);
        let pointer = self.w.element(mailbox, Ty::U32.int(CAPACITY));
        let capacity = self.w.load(Ty::U32, pointer);
        // In a block of its own, that `Break` leaves when the line is written.
        self.w.begin();
        let taken = self.w.element(mailbox, Ty::U32.int(TAKEN));
        let before = self.w.load(Ty::U32, taken);
        // The count stops somewhere behind the end: it must not come round.
        let open = self.w.compare(BinaryOperator::Less, before, capacity);
        self.w.begin();
        let start = self.w.atomic(taken, AtomicFunction::Add, size);
        let end = self.w.binary(BinaryOperator::Add, start, size);
        let fits = self.w.compare(BinaryOperator::LessEqual, end, capacity);
        self.w.begin();
        let first = self.w.binary(BinaryOperator::ShiftLeft, start, Ty::U32.int(1));
        for (i, word) in words.iter().enumerate() {
            let at = self.w.binary(BinaryOperator::Add, first, Ty::U32.int(RING + i as i64));
            let pointer = self.w.element(mailbox, at);
            self.w.store(pointer, *word);
        }
        self.w.push(Statement::Break);
        let line = self.w.end();
        self.w.branch(fits, line, Block::new());
        let room = self.w.end();
        self.w.branch(open, room, Block::new());
        let dropped = self.w.element(mailbox, Ty::U32.int(DROPPED));
        self.w.atomic(dropped, AtomicFunction::Add, Ty::U32.int(1));
        let body = self.w.end();
        self.w.scope(body);
    }
}
