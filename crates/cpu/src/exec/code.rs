//! Compiled code: the LLVM IR of a module's variant is made, compiled (or found in the cache) and loaded.

#![allow(unsafe_code)]

use weft_ir::{Module, Span};
use weft_llvm::{Library, Made, Options, Pipeline};
use weft_runtime::{CompileError, RunError, cache};

use super::context::{self, Entry, Sites};
use super::pool;
use super::spread::Cost;
use super::stack;
use crate::emit::{self, EmitError, Emitted, Variant};

/// Frames up to this size run on any thread's stack, larger ones on threads of our own.
const SHALLOW: u64 = 256 << 10;
/// Frames beyond this size fit nowhere.
const DEEPEST: u64 = pool::STACK_BYTES as u64 - (2 << 20);

/// Code ready to run.
#[derive(Debug)]
pub struct Code {
    pub entry: Entry,
    pub sites: Sites,
    pub cost: Cost,
    stack: Stack,
    /// A function in it calls itself.
    pub recursive: bool,
    /// Where `entry` lies.
    _library: Library,
}

impl Code {
    pub fn new(emitted: Emitted, pipeline: Pipeline, keep: bool) -> Result<Code, CompileError> {
        let made = make(&emitted.text, pipeline, keep)?;
        let stack = Stack {
            frame: made.stack_bytes,
            gang: emitted.gang_bytes,
        };
        stack
            .check(0)
            .map_err(|message| CompileError::Unsupported { message, span: Span::NONE })?;
        let library = Library::load(&made.bytes, &context::symbols()).map_err(internal)?;
        let address = library
            .address(&emitted.entry)
            .ok_or_else(|| CompileError::Internal(format!("the object lacks its entry {}", emitted.entry)))?;
        // SAFETY: the emitter gives every entry this signature.
        let entry = unsafe { std::mem::transmute::<usize, Entry>(address) };
        Ok(Code {
            entry,
            sites: Sites {
                errors: emitted.error_sites,
                prints: emitted.print_sites,
                calls: emitted.call_sites,
            },
            cost: Cost::default(),
            stack,
            recursive: emitted.recursive,
            _library: library,
        })
    }
}

impl Code {
    /// Bytes that its large frames take, each once.
    pub fn frame(&self) -> usize {
        usize::try_from(self.stack.frame).unwrap_or(usize::MAX / 4)
    }

    /// Stack that a block of so many gangs and bytes of dynamic shared memory takes, if there can be one.
    pub fn stack_bytes(&self, gangs: u64, dynamic: u32) -> Result<u64, RunError> {
        self.is_deep(gangs, dynamic)?;
        let deeper = if self.recursive { stack::room(self.frame()) as u64 } else { 0 };
        Ok(SHALLOW + deeper + self.stack.frame + self.stack.gang * gangs + u64::from(dynamic))
    }

    /// Does a call for blocks of so many gangs and bytes of dynamic shared memory need a thread with a stack of [`pool::STACK_BYTES`]? An error if not even that is enough.
    pub fn is_deep(&self, gangs: u64, dynamic: u32) -> Result<bool, RunError> {
        let stack = Stack {
            frame: self.stack.frame + u64::from(dynamic),
            ..self.stack
        };
        let is_deep = stack.check(gangs).map_err(RunError::Invalid)?;
        Ok(is_deep || self.recursive && !stack::has_room(self.frame()))
    }
}

/// Stack that a call takes.
#[derive(Clone, Copy, Debug)]
struct Stack {
    frame: u64,
    /// More for every gang of a block.
    gang: u64,
}

impl Stack {
    fn check(self, gangs: u64) -> Result<bool, String> {
        let bytes = self.frame.saturating_add(self.gang.saturating_mul(gangs));
        if bytes > DEEPEST {
            return Err(format!(
                "the arrays of one block take {bytes} bytes of stack; the CPU has {DEEPEST}: make blocks, local arrays or shared arrays smaller"
            ));
        }
        Ok(bytes > SHALLOW)
    }
}

/// Compiles, or takes from the cache what was compiled from the same text for the same target.
fn make(text: &str, pipeline: Pipeline, keep: bool) -> Result<Made, CompileError> {
    let options = Options::host(pipeline);
    if !cache::is_wanted(keep) {
        return weft_llvm::compile(text, &options).map_err(internal);
    }
    let key = cache::Key::new("cpu-object")
        .with(weft_llvm::VERSION)
        .with(&options.target.cpu)
        .with(&options.target.features)
        .with(format!("{pipeline:?}"))
        .with(text);
    if let Some(made) = cache::get(&key).and_then(unpack) {
        return Ok(made);
    }
    let made = weft_llvm::compile(text, &options).map_err(internal)?;
    cache::put(&key, &pack(&made));
    Ok(made)
}

/// The stack's size, then the object.
fn pack(made: &Made) -> Vec<u8> {
    [&made.stack_bytes.to_le_bytes(), made.bytes.as_slice()].concat()
}

fn unpack(entry: Vec<u8>) -> Option<Made> {
    let (stack, object) = entry.split_first_chunk()?;
    Some(Made {
        bytes: object.to_vec(),
        stack_bytes: u64::from_le_bytes(*stack),
    })
}

fn internal(error: weft_llvm::Error) -> CompileError {
    CompileError::Internal(error.to_string())
}

/// The emitter's view of a machine.
pub fn target(machine: &weft_llvm::Target) -> emit::Target {
    emit::Target {
        triple: None,
        cpu: machine.cpu.clone(),
        features: machine.features.clone(),
        vector_bits: machine.vector_bits,
        mask_registers: machine.mask_registers,
        gathers: machine.has_gathers,
        fma: machine.has_fma,
        rounding: machine.has_rounding,
        half: machine.has_half,
        gang: None,
    }
}

pub fn emit(module: &Module, target: &emit::Target, variant: &Variant) -> Result<Emitted, CompileError> {
    emit::emit(module, target, variant).map_err(|error| match error {
        EmitError::Unsupported { message, span } => CompileError::Unsupported { message, span },
        EmitError::Internal(message) => CompileError::Internal(message),
    })
}
