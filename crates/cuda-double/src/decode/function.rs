//! One function: its names, and which part of the decoder an instruction belongs to.

use super::mods::Mods;
use super::names::{BlockId, Meaning, Names};
use super::{Linker, Symbol, forms};
use crate::exec::inst::{FunctionCode, Inst, Op, Pred, Special, special, window};
use crate::exec::lanes::Slot;
use crate::ptx::PtxError;
use crate::ptx::syntax::{Function, Instruction, Operand, Param, Statement, Ty, Variable};

pub(super) type Result<T> = std::result::Result<T, PtxError>;

#[derive(Clone, Copy, Debug)]
pub(super) enum Register {
    Pred(u32),
    /// Its row and its type.
    Row(u32, Ty),
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
    Local {
        offset: u32,
        bytes: u32,
    },
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
        saved: 0,
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
        names: Names::new(),
        rows: 0,
        words: 0,
        preds: 0,
        frame: code.frame,
        local: 0,
        branches: Vec::new(),
        targets: Vec::new(),
        guard: Pred::TRUE,
        line: function.line,
    };
    decoder.parameters(function, &code)?;
    for statement in &body.statements {
        decoder.statement(statement)?;
    }
    decoder.guard = Pred::TRUE;
    decoder.push(Op::Return);
    decoder.resolve()?;
    let (start, rows, preds, words) = (decoder.start, decoder.rows, decoder.preds, decoder.words);
    let (frame, local) = (decoder.frame, decoder.local);
    let shared = linker.shared;
    let code = &mut linker.functions[number as usize];
    code.start = start;
    code.registers = rows;
    code.preds = preds;
    code.frame = frame.next_multiple_of(16);
    code.saved = saved(words);
    code.local_bytes = local;
    code.shared_bytes = shared;
    Ok(())
}

/// Bytes of a frame in which a function keeps where it returns to and its caller's registers, given the 32-bit words of those that its code
/// names. `ptxas` does not say beforehand what it makes of them. PTX has a register for each value, of which less than half live across
/// calls; `ptxas` saves 30 at the most and was seen to take 24 bytes for a function of 11 words, 32 for one of 16 and 120 for one of 56.
fn saved(words: u32) -> u32 {
    (16 + 4 * (words / 2).min(30)).next_multiple_of(16)
}

pub(super) struct Decoder<'a> {
    pub linker: &'a mut Linker,
    start: u32,
    names: Names,
    rows: u32,
    /// 32-bit words of the registers that the code names.
    words: u32,
    preds: u32,
    frame: u32,
    local: u32,
    /// Branches, the blocks that they stand in and their labels: filled in at the end.
    branches: Vec<(u32, BlockId, String)>,
    /// The same of branch tables, by number.
    targets: Vec<(u32, BlockId, Vec<String>)>,
    pub guard: Pred,
    pub line: u32,
}

impl Decoder<'_> {
    pub fn error<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(PtxError::new(self.line, message))
    }

    fn parameters(&mut self, function: &Function, code: &FunctionCode) -> Result<()> {
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
                self.define(&param.name, Meaning::Place(place))?;
            }
            Ok(())
        };
        name_all(&function.params, if function.entry { &code.kernel_params } else { &code.params })?;
        name_all(&function.results, &code.results)
    }

    fn define(&mut self, name: &str, meaning: Meaning) -> Result<()> {
        if self.names.define(name, meaning) {
            return Ok(());
        }
        let what = if matches!(meaning, Meaning::Label(_) | Meaning::Targets(_)) {
            "label"
        } else {
            "variable"
        };
        self.error(format!("duplicate definition of {what} {name}"))
    }

    fn registers(&mut self, names: &[String], ty: Ty) -> Result<()> {
        for name in names {
            let register = match ty {
                Ty::Pred => {
                    self.preds += 1;
                    Register::Pred(self.preds - 1)
                }
                Ty::B128 => return self.error("128-bit registers are not supported"),
                ty => {
                    self.words += ty.bytes().div_ceil(4);
                    Register::Row(self.temporary_row(), ty)
                }
            };
            self.define(name, Meaning::Register(register))?;
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
        let end = u64::from(at).saturating_add(variable.bytes);
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
                Place::Local {
                    offset: at,
                    bytes: variable.bytes as u32,
                }
            }
            Space::Shared => Place::Shared(self.linker.shared_place(variable)?),
            Space::Param => Place::FrameParam {
                offset: self.in_frame(variable)?,
                bytes: variable.bytes as u32,
            },
            _ => return self.error("unsupported state space in a function"),
        };
        self.define(&variable.name, Meaning::Place(place))
    }

    fn statement(&mut self, statement: &Statement) -> Result<()> {
        match statement {
            Statement::Open => {
                self.names.open_block();
                Ok(())
            }
            Statement::Close => {
                self.names.close_block();
                Ok(())
            }
            Statement::Registers(names, ty) => self.registers(names, *ty),
            Statement::Variable(variable) => self.variable(variable),
            Statement::Label(name) => self.define(name, Meaning::Label(self.linker.code.len() as u32)),
            Statement::Targets(name, labels) => {
                let table = self.linker.tables.len() as u32;
                self.linker.tables.push(Vec::new());
                self.targets.push((table, self.names.block(), labels.clone()));
                self.define(name, Meaning::Targets(table))
            }
            Statement::Instruction(instruction) => self.instruction(instruction),
        }
    }

    /// Fills in where branches go.
    fn resolve(&mut self) -> Result<()> {
        let find = |block: BlockId, label: &String| {
            let unknown = || PtxError::new(self.line, format!("unknown label {label}"));
            self.names.label(block, label).ok_or_else(unknown)
        };
        for (at, block, label) in &self.branches {
            let to = find(*block, label)?;
            if let Op::Branch { target } = &mut self.linker.code[*at as usize].op {
                *target = to;
            }
        }
        for (table, block, labels) in &self.targets {
            let labels = labels.iter().map(|label| find(*block, label));
            self.linker.tables[*table as usize] = labels.collect::<Result<Vec<_>>>()?;
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
        let at = self.linker.code.len() as u32;
        self.branches.push((at, self.names.block(), label.to_owned()));
        self.push(Op::Branch { target: 0 });
    }

    pub fn place(&self, name: &str) -> Option<Place> {
        match self.names.find(name) {
            Some(Meaning::Place(place)) => Some(place),
            _ => None,
        }
    }

    pub fn register(&self, name: &str) -> Option<Register> {
        match self.names.find(name) {
            Some(Meaning::Register(register)) => Some(register),
            _ => None,
        }
    }

    /// The number of a branch table.
    pub fn table(&self, name: &str) -> Option<u32> {
        match self.names.find(name) {
            Some(Meaning::Targets(table)) => Some(table),
            _ => None,
        }
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
                Some(Register::Row(row, ty)) => Ok((Slot::register(row), ty.bytes())),
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
        let from = match name {
            _ if name.starts_with("%cluster") || name.starts_with("%ncluster") => forms::Level { sm: 90, ptx: 78 },
            _ if name.starts_with("%reserved_smem") => forms::Level { sm: 80, ptx: 76 },
            _ => forms::Level::default(),
        };
        if from.sm > self.linker.level.sm || from.ptx > self.linker.level.ptx {
            return Err(forms::later(name, self.line, from));
        }
        if let Some(special) = special_row(name) {
            return Ok(special);
        }
        if let Some(value) = fixed_value(name) {
            return Ok(self.linker.constant(value));
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
            Some(Place::Local { offset: at, .. }) => Ok(frame(at.wrapping_add_signed(offset as i32), false, self)),
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
        forms::check(&instruction.mnemonic, self.line, self.linker.level)?;
        let mut mods = Mods::new(&instruction.mnemonic, instruction.line);
        self.fit(&mods, &instruction.operands)?;
        self.dispatch(&mut mods, &instruction.operands)?;
        mods.finish()
    }

    fn dispatch(&mut self, mods: &mut Mods<'_>, operands: &[Operand]) -> Result<()> {
        let opcode = mods.opcode;
        match opcode {
            "mov" => self.mov(mods, operands),
            "ld" | "ldu" | "st" | "atom" | "red" | "cvta" | "isspacep" | "prefetch" | "prefetchu" | "discard" | "applypriority"
            | "membar" | "fence" => self.memory(mods, operands),
            "cp" => self.copy_async(mods, operands),
            "bra" | "brx" | "call" | "ret" | "exit" | "trap" | "brkpt" | "nanosleep" | "pmevent" => self.control(mods, operands),
            "bar" | "barrier" | "shfl" | "vote" | "match" | "redux" | "activemask" => self.collective(mods, operands),
            "mma" => self.multiply(mods, operands),
            "ldmatrix" => self.load_squares(mods, operands),
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
}

/// Special registers that keep their value as long as the warp runs.
fn special_row(name: &str) -> Option<Slot> {
    let (base, axis) = name.split_once('.').map_or((name, ""), |(b, a)| (b, a));
    let vectors = ["%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid"];
    let axis = match (axis, vectors.contains(&base)) {
        ("", false) | ("x", true) => 0,
        ("y", true) => 1,
        ("z", true) => 2,
        _ => return None,
    };
    Some(Slot::special(match base {
        "%tid" => special::TID + axis,
        "%ntid" => special::NTID + axis,
        // Every block is a cluster of its own.
        "%ctaid" | "%clusterid" => special::CTAID + axis,
        "%nctaid" | "%nclusterid" => special::NCTAID + axis,
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

/// What never changes: of clusters, what it is of one block alone.
fn fixed_value(name: &str) -> Option<u64> {
    Some(match name {
        "WARP_SZ" => 32,
        "%cluster_ctarank" | "%cluster_ctaid.x" | "%cluster_ctaid.y" | "%cluster_ctaid.z" => 0,
        "%cluster_nctarank" | "%cluster_nctaid.x" | "%cluster_nctaid.y" | "%cluster_nctaid.z" => 1,
        _ => return None,
    })
}

fn special_value(name: &str) -> Option<Special> {
    Some(match name {
        "%clock" => Special::Clock32,
        "%clock_hi" => Special::ClockHigh,
        "%clock64" => Special::Clock64,
        "%globaltimer" => Special::Timer,
        "%reserved_smem_offset_begin" | "%reserved_smem_offset_0" | "%reserved_smem_offset_1" => Special::ReservedShared,
        "%envreg1" => Special::WorkspaceHigh,
        "%envreg2" => Special::WorkspaceLow,
        _ => return None,
    })
}
