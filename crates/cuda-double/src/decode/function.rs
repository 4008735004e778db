//! One function: its names, and which part of the decoder an instruction belongs to.

use std::collections::HashMap;

use super::mods::Mods;
use super::{Linker, Symbol, compare, convert, float, int};
use crate::exec::inst::{Combine, FunctionCode, Inst, Op, Pred, PredOp, Special, special, window};
use crate::exec::lanes::{Lanewise, Slot};
use crate::ptx::PtxError;
use crate::ptx::syntax::{Function, Instruction, Operand, Param, Statement, Ty, Variable};

pub(super) type Result<T> = std::result::Result<T, PtxError>;

#[derive(Clone, Copy, Debug)]
pub(super) enum Register {
    Pred(u32),
    /// Its row, and how many bytes it has.
    Row(u32, u32),
}

/// Where a name of the function is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    KernelParam(u32),
    /// In the frame, reached through the parameter space.
    FrameParam {
        offset: u32,
        bytes: u32,
    },
    Local(u32),
    Shared(u32),
}

/// What is known of a function before its body is decoded.
pub(super) fn signature(function: &Function) -> FunctionCode {
    let mut end = 0;
    let mut in_frame = |params: &[Param]| {
        let place = |p: &Param| {
            let at = u32::next_multiple_of(end, p.align.max(8));
            end = at + p.bytes;
            (at, p.bytes)
        };
        params.iter().map(place).collect::<Vec<_>>()
    };
    let (results, params) = if function.entry {
        (Vec::new(), Vec::new())
    } else {
        (in_frame(&function.results), in_frame(&function.params))
    };
    FunctionCode {
        name: function.name.clone(),
        entry: function.entry,
        start: 0,
        registers: 0,
        preds: 0,
        frame: end,
        params,
        results,
        kernel_params: if function.entry {
            function.params.iter().map(|p| (p.offset, p.bytes)).collect()
        } else {
            Vec::new()
        },
        param_bytes: function.param_bytes,
        local_bytes: 0,
        shared_bytes: 0,
        bounds: function.bounds.clone(),
    }
}

pub(super) fn decode(linker: &mut Linker, function: &Function) -> Result<()> {
    let (Some(body), Some(Symbol::Function(number))) = (&function.body, linker.symbols.get(&function.name).copied()) else {
        return Ok(());
    };
    let code = linker.functions[number as usize].clone();
    let mut decoder = Decoder {
        start: linker.code.len() as u32,
        linker,
        registers: HashMap::new(),
        places: HashMap::new(),
        rows: 0,
        preds: 0,
        frame: code.frame,
        local: 0,
        labels: HashMap::new(),
        branches: Vec::new(),
        tables: HashMap::new(),
        guard: Pred::TRUE,
        line: function.line,
    };
    decoder.parameters(function, &code);
    decoder.registers(&body.registers)?;
    for variable in &body.variables {
        decoder.variable(variable)?;
    }
    for statement in &body.statements {
        decoder.statement(statement)?;
    }
    decoder.guard = Pred::TRUE;
    decoder.push(Op::Return);
    decoder.resolve(&body.statements)?;
    let (start, rows, preds, frame, local) = (decoder.start, decoder.rows, decoder.preds, decoder.frame, decoder.local);
    let shared = linker.shared;
    let code = &mut linker.functions[number as usize];
    code.start = start;
    code.registers = rows;
    code.preds = preds;
    code.frame = frame.next_multiple_of(16);
    code.local_bytes = local;
    code.shared_bytes = shared;
    Ok(())
}

pub(super) struct Decoder<'a> {
    pub linker: &'a mut Linker,
    start: u32,
    registers: HashMap<String, Register>,
    places: HashMap<String, Place>,
    rows: u32,
    preds: u32,
    frame: u32,
    local: u32,
    labels: HashMap<String, u32>,
    branches: Vec<(u32, String)>,
    /// Branch tables by label: their number, filled in at the end.
    pub tables: HashMap<String, u32>,
    pub guard: Pred,
    pub line: u32,
}

impl Decoder<'_> {
    pub fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(PtxError::new(self.line, message))
    }

    fn parameters(&mut self, function: &Function, code: &FunctionCode) {
        let mut name_all = |params: &[Param], places: &[(u32, u32)]| {
            for (param, (offset, bytes)) in params.iter().zip(places) {
                let place = if function.entry {
                    Place::KernelParam(param.offset)
                } else {
                    Place::FrameParam {
                        offset: *offset,
                        bytes: *bytes,
                    }
                };
                self.places.insert(param.name.clone(), place);
            }
        };
        name_all(&function.params, if function.entry { &code.kernel_params } else { &code.params });
        name_all(&function.results, &code.results);
    }

    fn registers(&mut self, declared: &[(String, Ty)]) -> Result<()> {
        for (name, ty) in declared {
            let register = match ty {
                Ty::Pred => {
                    self.preds += 1;
                    Register::Pred(self.preds - 1)
                }
                Ty::B128 => return self.error("128-bit registers are not supported"),
                ty => Register::Row(self.temporary_row(), ty.bytes()),
            };
            // A block of inline assembly may declare the same name again; its own register is as good.
            self.registers.insert(name.clone(), register);
        }
        Ok(())
    }

    fn temporary_row(&mut self) -> u32 {
        self.rows += 1;
        self.rows - 1
    }

    pub fn temporary(&mut self) -> Slot {
        Slot::register(self.temporary_row())
    }

    fn in_frame(&mut self, variable: &Variable) -> Result<u32> {
        let at = self.frame.next_multiple_of(variable.align);
        let end = u64::from(at) + variable.bytes;
        if end > 1 << 24 {
            return self.error("too much local memory");
        }
        self.frame = end as u32;
        Ok(at)
    }

    fn variable(&mut self, variable: &Variable) -> Result<()> {
        use crate::ptx::syntax::Space;
        self.line = variable.line;
        let place = match variable.space {
            Space::Local => {
                let at = self.in_frame(variable)?;
                self.local += variable.bytes as u32;
                Place::Local(at)
            }
            Space::Shared => Place::Shared(self.linker.shared_place(variable)?),
            Space::Param => Place::FrameParam {
                offset: self.in_frame(variable)?,
                bytes: variable.bytes as u32,
            },
            _ => return self.error("unsupported state space in a function"),
        };
        self.places.insert(variable.name.clone(), place);
        Ok(())
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::Label(name) => {
                self.labels.insert(name.clone(), self.linker.code.len() as u32);
                Ok(())
            }
            Statement::Targets(name, _) => {
                self.linker.tables.push(Vec::new());
                self.tables.insert(name.clone(), self.linker.tables.len() as u32 - 1);
                Ok(())
            }
            Statement::Param(variable) => self.variable(variable),
            Statement::Instruction(instruction) => self.instruction(instruction),
        }
    }

    /// Fills in where branches go.
    fn resolve(&mut self, statements: &[Statement]) -> Result<()> {
        let find = |label: &String| {
            self.labels
                .get(label)
                .copied()
                .ok_or_else(|| PtxError::new(self.line, format!("unknown label {label}")))
        };
        for (at, label) in &self.branches {
            let to = find(label)?;
            if let Op::Branch { target } = &mut self.linker.code[*at as usize].op {
                *target = to;
            }
        }
        for statement in statements {
            if let Statement::Targets(name, labels) = statement {
                let table = labels.iter().map(find).collect::<Result<Vec<_>>>()?;
                self.linker.tables[self.tables[name] as usize] = table;
            }
        }
        Ok(())
    }

    pub fn push(&mut self, op: Op) {
        self.linker.code.push(Inst {
            op,
            guard: self.guard,
            line: self.line,
        });
    }

    pub fn branch(&mut self, label: &str) {
        self.branches.push((self.linker.code.len() as u32, label.to_owned()));
        self.push(Op::Branch { target: 0 });
    }

    pub fn place(&self, name: &str) -> Option<Place> {
        self.places.get(name).copied()
    }

    pub fn register(&self, name: &str) -> Option<Register> {
        self.registers.get(name).copied()
    }

    pub fn pred(&self, operand: &Operand) -> Result<Pred> {
        let (name, negated) = match operand {
            Operand::Name(name) => (name, false),
            Operand::Not(name) => (name, true),
            Operand::Int(value) => {
                return Ok(Pred {
                    register: None,
                    negated: *value == 0,
                });
            }
            _ => return self.error("expected a predicate"),
        };
        match self.register(name) {
            Some(Register::Pred(register)) => Ok(Pred {
                register: Some(register),
                negated,
            }),
            _ => self.error(format!("{name} is not a predicate register")),
        }
    }

    /// A predicate to write; none for `_`.
    pub fn to_pred(&self, operand: &Operand) -> Result<Option<u32>> {
        if *operand == Operand::Name("_".into()) {
            return Ok(None);
        }
        match self.pred(operand)? {
            Pred {
                register: Some(register),
                negated: false,
            } => Ok(Some(register)),
            _ => self.error("expected a predicate register"),
        }
    }

    pub fn is_pred(&self, operand: &Operand) -> bool {
        matches!(operand, Operand::Name(name) if matches!(self.register(name), Some(Register::Pred(_))))
    }

    /// A register to write, and how many bytes it has.
    pub fn destination(&self, operand: &Operand) -> Result<(Slot, u32)> {
        match operand {
            Operand::Name(name) if name == "_" => Ok((Slot::special(special::SINK), 8)),
            Operand::Name(name) => match self.register(name) {
                Some(Register::Row(row, bytes)) => Ok((Slot::register(row), bytes)),
                _ => self.error(format!("{name} is not a register that can hold this")),
            },
            _ => self.error("expected a register"),
        }
    }

    /// An operand to read, of so many bytes where it is an immediate.
    pub fn source(&mut self, operand: &Operand, ty: Ty) -> Result<Slot> {
        let bytes = ty.bytes().max(1);
        let mask = if bytes >= 8 { u64::MAX } else { (1 << (8 * bytes)) - 1 };
        let value = match operand {
            Operand::Name(name) => return self.named(name, 0),
            Operand::Offset(name, offset) => return self.named(name, *offset),
            Operand::Int(value) if matches!(ty, Ty::F32 | Ty::F64) => {
                return self.source(&Operand::Float(*value as f64), ty);
            }
            Operand::Int(value) => *value as u64 & mask,
            Operand::F32(bits) if ty == Ty::F64 => f64::from(f32::from_bits(*bits)).to_bits(),
            Operand::F32(bits) => u64::from(*bits),
            Operand::F64(bits) if ty == Ty::F32 => u64::from((f64::from_bits(*bits) as f32).to_bits()),
            Operand::F64(bits) => *bits,
            Operand::Float(value) if ty == Ty::F32 => u64::from((*value as f32).to_bits()),
            Operand::Float(value) => value.to_bits(),
            _ => return self.error("expected a register or a number"),
        };
        Ok(self.linker.constant(value))
    }

    fn named(&mut self, name: &str, offset: i64) -> Result<Slot> {
        match self.register(name) {
            Some(Register::Row(row, _)) if offset == 0 => return Ok(Slot::register(row)),
            Some(_) => return self.error(format!("{name} cannot be used here")),
            None => {}
        }
        if let Some(special) = special_row(name) {
            return Ok(special);
        }
        if name == "WARP_SZ" {
            return Ok(self.linker.constant(32));
        }
        if let Some(what) = special_value(name) {
            let to = self.temporary();
            self.push(Op::Special { to, what });
            return Ok(to);
        }
        if let Some(slot) = self.linker.dynamic_constant(name, offset) {
            return Ok(slot);
        }
        let frame = |offset: u32, generic: bool, decoder: &mut Self| {
            let to = decoder.temporary();
            decoder.push(Op::FrameAddress { to, offset, generic });
            to
        };
        match self.place(name) {
            Some(Place::KernelParam(at)) => {
                let address = window::PARAM + u64::from(at);
                Ok(self.linker.constant(address.wrapping_add_signed(offset)))
            }
            Some(Place::FrameParam { offset: at, .. }) => Ok(frame(at.wrapping_add_signed(offset as i32), true, self)),
            Some(Place::Local(at)) => Ok(frame(at.wrapping_add_signed(offset as i32), false, self)),
            Some(Place::Shared(at)) => Ok(self.linker.constant((i64::from(at) + offset) as u64)),
            None => {
                let address = self.linker.address(name, self.line, false)?;
                Ok(self.linker.constant(address.wrapping_add_signed(offset)))
            }
        }
    }

    fn instruction(&mut self, instruction: &Instruction) -> Result<()> {
        self.line = instruction.line;
        self.guard = match &instruction.guard {
            None => Pred::TRUE,
            Some((name, negated)) => self.pred(&if *negated {
                Operand::Not(name.clone())
            } else {
                Operand::Name(name.clone())
            })?,
        };
        let mut mods = Mods::new(&instruction.mnemonic, instruction.line);
        self.dispatch(&mut mods, &instruction.operands)?;
        mods.finish()
    }

    fn dispatch(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let opcode = mods.opcode;
        match opcode {
            "mov" => self.mov(mods, operands),
            "ld" | "ldu" | "st" | "atom" | "red" | "cvta" | "isspacep" | "prefetch" | "prefetchu" | "discard" | "applypriority"
            | "membar" | "fence" => self.memory(mods, operands),
            "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" | "nanosleep" | "pmevent" => self.control(mods, operands),
            "bar" | "barrier" | "shfl" | "vote" | "match" | "redux" | "activemask" => self.collective(mods, operands),
            "setp" | "set" | "testp" => self.compare(mods, operands),
            "selp" | "slct" => self.select(mods, operands),
            "cvt" => self.convert(mods, operands),
            "addc" | "subc" | "madc" => self.carry(mods, operands),
            "add" | "sub" | "mad" if mods.take("cc") => self.carry_out(mods, operands, false),
            "and" | "or" | "xor" | "not" if operands.first().is_some_and(|o| self.is_pred(o)) => self.logic(mods, operands),
            _ => self.arithmetic(mods, operands),
        }
    }

    pub fn count(&self, operands: &[Operand], expected: usize) -> Result<()> {
        if operands.len() == expected {
            return Ok(());
        }
        self.error(format!("expected {expected} operands, found {}", operands.len()))
    }

    fn lanes(&mut self, run: int::Run, to: Slot, from: &[Slot], mode: u32) {
        let first = from.first().copied().unwrap_or(to);
        let mut slots = [first; 3];
        for (slot, from) in slots.iter_mut().zip(from) {
            *slot = *from;
        }
        self.push(Op::Lanes(Lanewise {
            run,
            to,
            from: slots,
            mode,
        }));
    }

    fn arithmetic(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        if let Some((run, mode)) = int::bits(mods)? {
            return self.bits(mods, operands, run, mode);
        }
        // The type that operands have is the last one.
        let ty = mods.ty()?;
        let (run, mode) = if ty.float() || mods.opcode == "copysign" {
            float::arithmetic(mods, ty)?
        } else {
            int::arithmetic(mods, ty)?.map(|run| (run, 0))
        }
        .ok_or_else(|| mods.error("unknown instruction"))?;
        let Some((to, from)) = operands.split_first() else {
            return self.error("expected operands");
        };
        let arity = match mods.opcode {
            "abs" | "neg" | "sqrt" | "rcp" | "rsqrt" | "ex2" | "lg2" | "sin" | "cos" | "tanh" => 1,
            "fma" | "mad" | "mad24" | "sad" => 3,
            _ => 2,
        };
        let (to, _) = self.destination(to)?;
        let from = from.iter().map(|o| self.source(o, ty)).collect::<Result<Vec<_>>>()?;
        if let ([a, b, c], "min" | "max") = (from.as_slice(), mods.opcode) {
            let between = self.temporary();
            self.lanes(run, between, &[*a, *b], mode);
            self.lanes(run, to, &[between, *c], mode);
            return Ok(());
        }
        self.count(operands, arity + 1)?;
        self.lanes(run, to, &from, mode);
        Ok(())
    }

    fn bits(&mut self, mods: &Mods<'_>, operands: &[Operand], run: int::Run, mode: u32) -> Result<()> {
        let Some((to, from)) = operands.split_first() else {
            return self.error("expected operands");
        };
        // Shift amounts and fields are 32 bits wide whatever the type.
        let wide = mods.whole.ends_with("64");
        let mut slots = Vec::new();
        for (index, operand) in from.iter().enumerate() {
            let amount = match mods.opcode {
                "shl" | "shr" | "bfe" => index >= 1,
                "bfi" => index >= 2,
                _ => false,
            };
            slots.push(self.source(operand, if wide && !amount { Ty::B64 } else { Ty::B32 })?);
        }
        let (to, _) = self.destination(to)?;
        match (mods.opcode, slots.as_slice()) {
            ("lop3", [a, b, c, _]) => match &from[3] {
                Operand::Int(table) => self.lanes(run, to, &[*a, *b, *c], *table as u32),
                _ => return self.error("the table of lop3 is a number"),
            },
            ("bfi", [a, b, at, len]) => {
                let field = self.temporary();
                self.lanes(int::pack_field(), field, &[*at, *len], 0);
                self.lanes(run, to, &[*a, *b, field], mode);
            }
            (opcode, slots) => {
                let arity = match opcode {
                    "not" | "cnot" | "bfind" | "brev" | "clz" | "popc" => 1,
                    "shf" | "bfe" | "prmt" | "dp4a" | "dp2a" => 3,
                    _ => 2,
                };
                self.count(slots_as(operands), arity + 1)?;
                self.lanes(run, to, slots, mode);
            }
        }
        Ok(())
    }

    fn mov(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let ty = mods.ty()?;
        self.count(operands, 2)?;
        if ty == Ty::Pred {
            let (to, a) = (self.to_pred(&operands[0])?, self.pred(&operands[1])?);
            if let Some(to) = to {
                self.push(Op::Preds {
                    op: PredOp::And,
                    to,
                    a,
                    b: Pred::TRUE,
                });
            }
            return Ok(());
        }
        match (&operands[0], &operands[1]) {
            (Operand::Vector(to), from) => self.unpack(to, from, ty),
            (to, Operand::Vector(from)) => self.pack(to, from, ty),
            (to, from) => {
                let (to, _) = self.destination(to)?;
                let from = self.source(from, ty)?;
                let run = int::copy(ty.bytes()).ok_or_else(|| mods.error("unsupported type"))?;
                self.lanes(run, to, &[from], 0);
                Ok(())
            }
        }
    }

    fn pieces(&self, count: usize, ty: Ty) -> Result<u8> {
        if !matches!(count, 2 | 4) {
            return self.error("a vector of two or four pieces is expected");
        }
        Ok((ty.bytes() as usize * 8 / count) as u8)
    }

    fn pack(&mut self, to: &Operand, from: &[Operand], ty: Ty) -> Result<()> {
        let bits = self.pieces(from.len(), ty)?;
        let piece = match bits {
            8 => Ty::B8,
            16 => Ty::B16,
            _ => Ty::B32,
        };
        let (to, _) = self.destination(to)?;
        let mut slots = [to; 4];
        for (slot, operand) in slots.iter_mut().zip(from) {
            *slot = self.source(operand, piece)?;
        }
        self.push(Op::Pack {
            to,
            from: slots,
            count: from.len() as u8,
            bits,
        });
        Ok(())
    }

    fn unpack(&mut self, to: &[Operand], from: &Operand, ty: Ty) -> Result<()> {
        let bits = self.pieces(to.len(), ty)?;
        let from = self.source(from, ty)?;
        let mut slots = [from; 4];
        for (slot, operand) in slots.iter_mut().zip(to) {
            *slot = self.destination(operand)?.0;
        }
        self.push(Op::Unpack {
            to: slots,
            from,
            count: to.len() as u8,
            bits,
        });
        Ok(())
    }

    fn logic(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        mods.take("pred");
        let Some(to) = self.to_pred(&operands[0])? else {
            return Ok(());
        };
        if mods.opcode == "not" {
            self.count(operands, 2)?;
            let a = self.pred(&operands[1])?;
            self.push(Op::Preds {
                op: PredOp::And,
                to,
                a: Pred { negated: !a.negated, ..a },
                b: Pred::TRUE,
            });
            return Ok(());
        }
        self.count(operands, 3)?;
        let (a, b) = (self.pred(&operands[1])?, self.pred(&operands[2])?);
        let op = match mods.opcode {
            "and" => PredOp::And,
            "or" => PredOp::Or,
            _ => PredOp::Xor,
        };
        self.push(Op::Preds { op, to, a, b });
        Ok(())
    }

    fn compare(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        if mods.opcode == "testp" {
            let ty = mods.ty()?;
            let test = compare::property(mods, ty)?;
            self.count(operands, 2)?;
            let (to, a) = (self.to_pred(&operands[0])?, self.source(&operands[1], ty)?);
            self.compare_op(test, a, a, to, None, Combine::None, Pred::TRUE);
            return Ok(());
        }
        let to_ty = if mods.opcode == "set" { Some(mods.ty()?) } else { None };
        let ty = mods.ty()?;
        let comparison = compare::comparison(mods, ty)?;
        self.count(operands, if comparison.combine == Combine::None { 3 } else { 4 })?;
        let (a, b) = (self.source(&operands[1], ty)?, self.source(&operands[2], ty)?);
        let with = operands.get(3).map_or(Ok(Pred::TRUE), |o| self.pred(o))?;
        if let Some(to_ty) = to_ty {
            if comparison.high.is_some() {
                return self.error("set of packed halves is not supported");
            }
            let one = match to_ty {
                Ty::U32 | Ty::S32 => u64::from(u32::MAX),
                Ty::F32 => u64::from(1f32.to_bits()),
                Ty::U16 | Ty::S16 => u64::from(u16::MAX),
                Ty::F16 => 0x3c00,
                Ty::BF16 => 0x3f80,
                _ => return self.error("unsupported type"),
            };
            let (to, _) = self.destination(&operands[0])?;
            self.push(Op::SetValue {
                test: comparison.test,
                a,
                b,
                to,
                one,
                combine: comparison.combine,
                with,
            });
            return Ok(());
        }
        let (first, second) = match &operands[0] {
            Operand::Pair(first, second) => (self.to_pred(first)?, self.to_pred(second)?),
            single => (self.to_pred(single)?, None),
        };
        if let Some(high) = comparison.high {
            self.compare_op(comparison.test, a, b, first, None, comparison.combine, with);
            self.compare_op(high, a, b, second, None, comparison.combine, with);
        } else {
            self.compare_op(comparison.test, a, b, first, second, comparison.combine, with);
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn compare_op(
        &mut self,
        test: crate::exec::inst::Test,
        a: Slot,
        b: Slot,
        to: Option<u32>,
        opposite: Option<u32>,
        combine: Combine,
        with: Pred,
    ) {
        self.push(Op::Compare {
            test,
            a,
            b,
            to,
            opposite,
            combine,
            with,
        });
    }

    fn select(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let ty = mods.ty()?;
        self.count(operands, 4)?;
        let (to, _) = self.destination(&operands[0])?;
        let (a, b) = (self.source(&operands[1], ty)?, self.source(&operands[2], ty)?);
        if mods.opcode == "selp" {
            let by = self.pred(&operands[3])?;
            self.push(Op::Select { to, a, b, by });
            return Ok(());
        }
        mods.take("ftz");
        let by = mods.ty()?;
        let run = int::select_by_sign(ty, by).ok_or_else(|| mods.error("unsupported type"))?;
        let c = self.source(&operands[3], by)?;
        self.lanes(run, to, &[a, b, c], 0);
        Ok(())
    }

    fn convert(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        if mods.take("pack") {
            return self.error("cvt.pack is not supported");
        }
        let Some((to, from)) = operands.split_first() else {
            return self.error("expected operands");
        };
        let (to, register) = self.destination(to)?;
        let conversion = convert::conversion(mods, register)?;
        self.count(operands, conversion.operands + 1)?;
        let ty = if mods.whole.ends_with("f32") { Ty::F32 } else { Ty::B64 };
        let from = from.iter().map(|o| self.source(o, ty)).collect::<Result<Vec<_>>>()?;
        self.lanes(conversion.run, to, &from, conversion.mode);
        Ok(())
    }

    fn carry(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let sets = mods.take("cc");
        self.carry_common(mods, operands, true, sets)
    }

    fn carry_out(&mut self, mods: &mut Mods<'_>, operands: &[Operand], uses: bool) -> Result<()> {
        self.carry_common(mods, operands, uses, true)
    }

    fn carry_common(&mut self, mods: &mut Mods<'_>, operands: &[Operand], uses: bool, sets: bool) -> Result<()> {
        let product = mods.opcode.starts_with("mad");
        let high = mods.take("hi");
        if product && !high && !mods.take("lo") {
            return Err(mods.error("expected .lo or .hi"));
        }
        let ty = mods.ty()?;
        if !matches!(ty, Ty::U32 | Ty::S32 | Ty::B32 | Ty::U64 | Ty::S64 | Ty::B64) {
            return Err(mods.error("unsupported type"));
        }
        self.count(operands, if product { 4 } else { 3 })?;
        let (to, _) = self.destination(&operands[0])?;
        let (a, b) = (self.source(&operands[1], ty)?, self.source(&operands[2], ty)?);
        let c = if product { Some(self.source(&operands[3], ty)?) } else { None };
        self.push(Op::Carry(crate::exec::inst::Carry {
            to,
            a,
            b,
            c,
            high,
            signed: ty.signed(),
            wide: ty.bytes() == 8,
            subtract: mods.opcode.starts_with("sub"),
            uses,
            sets,
        }));
        Ok(())
    }
}

fn slots_as(operands: &[Operand]) -> &[Operand] {
    operands
}

/// Special registers that keep their value as long as the warp runs.
fn special_row(name: &str) -> Option<Slot> {
    let (base, axis) = name.split_once('.').map_or((name, ""), |(b, a)| (b, a));
    let axis = match axis {
        "" | "x" => 0,
        "y" => 1,
        "z" => 2,
        _ => return None,
    };
    Some(Slot::special(match base {
        "%tid" => special::TID + axis,
        "%ntid" => special::NTID + axis,
        "%ctaid" => special::CTAID + axis,
        "%nctaid" => special::NCTAID + axis,
        "%laneid" => special::LANEID,
        "%warpid" => special::WARPID,
        "%nwarpid" => special::NWARPID,
        "%lanemask_eq" => special::MASK_EQ,
        "%lanemask_lt" => special::MASK_LT,
        "%lanemask_le" => special::MASK_LE,
        "%lanemask_gt" => special::MASK_GT,
        "%lanemask_ge" => special::MASK_GE,
        "%dynamic_smem_size" => special::DYNAMIC_SHARED,
        "%total_smem_size" => special::TOTAL_SHARED,
        "%gridid" => special::GRIDID,
        "%smid" => special::SMID,
        "%nsmid" => special::NSMID,
        _ => return None,
    }))
}

fn special_value(name: &str) -> Option<Special> {
    Some(match name {
        "%clock" => Special::Clock32,
        "%clock_hi" => Special::ClockHigh,
        "%clock64" => Special::Clock64,
        "%globaltimer" => Special::Timer,
        _ => return None,
    })
}
