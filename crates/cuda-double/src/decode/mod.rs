//! From PTX as written to a program: addresses for variables, numbers for registers, a function for each instruction.

mod collective;
mod compare;
mod compute;
mod control;
mod convert;
mod float;
mod forms;
mod function;
mod int;
mod memory;
mod mods;
mod names;
mod operands;
mod tensor;
mod video;

use std::collections::HashMap;

use crate::exec::inst::{CallSite, Callee, FunctionCode, GlobalVariable, Inst, Op, Program, Special, Tensor, window};
use crate::exec::lanes::Slot;
use crate::ptx::PtxError;
use crate::ptx::syntax::{Function, Source, Space, Variable};

/// What a name of the module stands for.
#[derive(Clone, Copy, Debug)]
enum Symbol {
    /// In device memory.
    Global(u64),
    Shared(u32),
    Function(u32),
    Printf,
    AssertFail,
}

/// A variable's bytes in device memory, to be written once all addresses are known.
#[derive(Debug)]
pub struct Image {
    pub address: u64,
    pub bytes: Vec<u8>,
}

/// Makes the program. `allocate` gives device memory of a size and alignment.
pub fn decode(source: &Source, allocate: &mut dyn FnMut(&Variable) -> Option<u64>) -> Result<(Program, Vec<Image>), PtxError> {
    let mut linker = Linker {
        level: forms::Level {
            sm: source.target,
            ptx: source.version.0 * 10 + source.version.1,
        },
        ..Linker::default()
    };
    for variable in &source.variables {
        linker.place(variable, allocate)?;
    }
    for function in &source.functions {
        linker.declare(function)?;
    }
    let images = linker.images(source)?;
    let static_bytes = linker.shared;
    let mut longest = static_bytes;
    for function in source.functions.iter().filter(|f| f.body.is_some()) {
        linker.shared = static_bytes;
        check_parameters(function, linker.level)?;
        function::decode(&mut linker, function)?;
        if linker.shared > STATIC_SHARED {
            let (name, bytes) = (&function.name, linker.shared);
            let message = format!("entry function {name} uses too much shared data ({bytes:#x} bytes, {STATIC_SHARED:#x} max)");
            return Err(PtxError::new(function.line, message));
        }
        longest = longest.max(linker.shared);
    }
    let dynamic_shared = longest.next_multiple_of(128);
    linker.patch_dynamic(dynamic_shared);
    let shared_granule = granule(&linker.code);
    let asks = |wanted: Special| {
        let mut code = linker.code.iter();
        code.any(|inst| matches!(inst.op, Op::Special { what, .. } if what == wanted))
    };
    let workspace = asks(Special::WorkspaceHigh);
    let reserved_shared = if asks(Special::ReservedShared) { 1024 } else { 0 };
    let unbounded = unbounded(&linker.functions, &linker.code, &linker.sites);
    Ok((
        Program {
            unbounded,
            functions: linker.functions,
            code: linker.code,
            constants: linker.constants,
            tables: linker.tables,
            sites: linker.sites,
            tensors: linker.tensors,
            dynamic_shared,
            shared_granule,
            globals: linker.globals,
            version: source.version,
            workspace,
            reserved_shared,
        },
        images,
    ))
}

/// By function: do calls from it lead round in a circle, or go by address?
fn unbounded(functions: &[FunctionCode], code: &[Inst], sites: &[CallSite]) -> Vec<bool> {
    let mut calls: Vec<Vec<Option<u32>>> = vec![Vec::new(); functions.len()];
    for (at, inst) in code.iter().enumerate() {
        let Op::Call { site } = inst.op else { continue };
        let before = functions.iter().enumerate().filter(|(_, f)| f.start as usize <= at);
        let Some((caller, _)) = before.max_by_key(|(_, f)| f.start) else {
            continue;
        };
        calls[caller].push(match sites[site as usize].callee {
            Callee::Function(callee) => Some(callee),
            Callee::Indirect(_) => None,
            Callee::Printf | Callee::AssertFail => continue,
        });
    }
    (0..functions.len())
        .map(|from| leads_round(&calls, from, &mut Vec::new(), &mut vec![false; functions.len()]))
        .collect()
}

fn leads_round(calls: &[Vec<Option<u32>>], at: usize, open: &mut Vec<usize>, done: &mut [bool]) -> bool {
    if open.contains(&at) {
        return true;
    }
    if std::mem::replace(&mut done[at], true) {
        return false;
    }
    open.push(at);
    let found = calls[at].iter().any(|callee| match callee {
        Some(callee) => leads_round(calls, *callee as usize, open, done),
        None => true,
    });
    open.pop();
    found
}

/// Shared memory that is there without being asked for at the launch.
const STATIC_SHARED: u32 = 48 << 10;

/// Kernels have so many bytes of parameters, the first number before PTX 8.1 or `sm_70`.
const PARAMETERS: [u32; 2] = [4352, 32764];

fn check_parameters(function: &Function, level: forms::Level) -> Result<(), PtxError> {
    let most = PARAMETERS[usize::from(level.ptx >= 81 && level.sm >= 70)];
    if !function.entry || function.param_bytes <= most {
        return Ok(());
    }
    let (name, bytes) = (&function.name, function.param_bytes);
    let message = format!("formal parameter space overflowed ({bytes} bytes required, max {most} allowed) in function {name}");
    Err(PtxError::new(function.line, message))
}

/// The narrowest access that may be to shared memory, up to a word.
fn granule(code: &[Inst]) -> u32 {
    let may_be_shared = |space: Space| matches!(space, Space::Shared | Space::Generic);
    let width = |inst: &Inst| match inst.op {
        Op::Load(access) | Op::Store(access) if may_be_shared(access.address.space) => Some(u32::from(access.width.bytes)),
        Op::Atomic(atomic) if may_be_shared(atomic.address.space) => Some(u32::from(atomic.bytes)),
        _ => None,
    };
    code.iter().filter_map(width).min().unwrap_or(4).min(4)
}

#[derive(Default)]
struct Linker {
    level: forms::Level,
    symbols: HashMap<String, Symbol>,
    globals: Vec<GlobalVariable>,
    functions: Vec<FunctionCode>,
    code: Vec<Inst>,
    constants: Vec<u64>,
    constant_of: HashMap<u64, u32>,
    tables: Vec<Vec<u32>>,
    sites: Vec<CallSite>,
    tensors: Vec<Tensor>,
    /// Bytes of shared memory placed so far.
    shared: u32,
    /// Names of dynamic shared memory, and the constants that hold their address.
    dynamic: HashMap<String, Vec<(u32, i64)>>,
    classes: HashMap<String, u32>,
}

impl Linker {
    /// A row that holds a value in every lane.
    fn constant(&mut self, value: u64) -> Slot {
        let constants = &mut self.constants;
        let number = *self.constant_of.entry(value).or_insert_with(|| {
            constants.push(value);
            constants.len() as u32 - 1
        });
        Slot::constant(number)
    }

    /// A constant of its own for the address of dynamic shared memory, which is known last.
    fn dynamic_constant(&mut self, name: &str, offset: i64) -> Option<Slot> {
        let uses = self.dynamic.get_mut(name)?;
        self.constants.push(0);
        let number = self.constants.len() as u32 - 1;
        uses.push((number, offset));
        Some(Slot::constant(number))
    }

    fn patch_dynamic(&mut self, start: u32) {
        for (number, offset) in self.dynamic.values().flatten() {
            self.constants[*number as usize] = (i64::from(start) + offset) as u64;
        }
    }

    /// Room in shared memory.
    fn shared_place(&mut self, variable: &Variable) -> Result<u32, PtxError> {
        let Some(at) = self.shared.checked_next_multiple_of(variable.align) else {
            return Err(PtxError::new(variable.line, "too much shared memory"));
        };
        let end = u64::from(at).saturating_add(variable.bytes);
        self.shared = u32::try_from(end).map_err(|_| PtxError::new(variable.line, "too much shared memory"))?;
        Ok(at)
    }

    fn place(&mut self, variable: &Variable, allocate: &mut dyn FnMut(&Variable) -> Option<u64>) -> Result<(), PtxError> {
        let symbol = match variable.space {
            Space::Shared if variable.unsized_ => {
                self.dynamic.insert(variable.name.clone(), Vec::new());
                return Ok(());
            }
            Space::Shared => Symbol::Shared(self.shared_place(variable)?),
            Space::Global | Space::Const => {
                if variable.external {
                    let message = format!("unresolved extern variable {}", variable.name);
                    return Err(PtxError::new(variable.line, message));
                }
                let message = || PtxError::new(variable.line, format!("no device memory for {}", variable.name));
                let address = allocate(variable).ok_or_else(message)?;
                self.globals.push(GlobalVariable {
                    name: variable.name.clone(),
                    address,
                    bytes: variable.bytes,
                    constant: variable.space == Space::Const,
                });
                Symbol::Global(address)
            }
            _ => return Err(PtxError::new(variable.line, "unsupported state space at module level")),
        };
        self.symbols.insert(variable.name.clone(), symbol);
        Ok(())
    }

    fn declare(&mut self, function: &Function) -> Result<(), PtxError> {
        if function.body.is_some() && !matches!(self.symbols.get(&function.name), Some(Symbol::Function(_))) {
            let number = self.functions.len() as u32;
            self.functions.push(function::signature(function));
            self.symbols.insert(function.name.clone(), Symbol::Function(number));
        } else if function.name == "vprintf" {
            self.symbols.insert(function.name.clone(), Symbol::Printf);
        } else if function.name == "__assertfail" {
            self.symbols.insert(function.name.clone(), Symbol::AssertFail);
        }
        Ok(())
    }

    fn address(&self, name: &str, line: u32, generic: bool) -> Result<u64, PtxError> {
        match self.symbols.get(name) {
            Some(Symbol::Global(address)) => Ok(*address),
            Some(Symbol::Shared(offset)) => Ok(u64::from(*offset) + if generic { window::SHARED } else { 0 }),
            Some(Symbol::Function(number)) => Ok(window::FUNCTION + u64::from(*number)),
            _ => Err(PtxError::new(line, format!("unknown symbol {name}"))),
        }
    }

    /// Initial values, with the addresses among them filled in.
    fn images(&self, source: &Source) -> Result<Vec<Image>, PtxError> {
        let in_memory = source.variables.iter().filter(|v| matches!(v.space, Space::Global | Space::Const));
        let mut images = Vec::new();
        for (variable, global) in in_memory.zip(&self.globals) {
            let mut bytes = variable.init.clone();
            bytes.resize(variable.bytes as usize, 0);
            for relocation in &variable.relocations {
                let address = self.address(&relocation.symbol, variable.line, relocation.generic)?;
                let value = address.wrapping_add_signed(relocation.addend).to_le_bytes();
                let (at, len) = (relocation.at as usize, relocation.bytes as usize);
                bytes[at..at + len].copy_from_slice(&value[..len]);
            }
            images.push(Image {
                address: global.address,
                bytes,
            });
        }
        Ok(images)
    }

    /// A number for what an instruction does together with other lanes: equal mnemonics may meet.
    fn class(&mut self, mnemonic: &str) -> u32 {
        let next = self.classes.len() as u32;
        *self.classes.entry(mnemonic.to_owned()).or_insert(next)
    }
}
