//! One compiled variant of a module: LLVM IR made, compiled (or found in the cache), loaded.

#![allow(unsafe_code)]

use weft_ir::{Module, Space, Span, StmtKind};
use weft_llvm::{Library, Made, Options, Pipeline};
use weft_runtime::{CompileError, cache};

use super::context::{self, Entry, Sites};
use super::pool;
use super::spread::Cost;
use crate::emit::{self, EmitError, Emitted, Variant};

/// Static shared memory of a block, as on every NVIDIA GPU.
const SHARED_LIMIT: u64 = 48 << 10;

/// Frames up to this size run on any thread's stack, larger ones on threads of our own.
const SHALLOW: u64 = 512 << 10;
/// Frames beyond this size fit nowhere.
const DEEPEST: u64 = pool::STACK_BYTES as u64 - (2 << 20);

/// Code ready to run.
#[derive(Debug)]
pub struct Code {
    pub entry: Entry,
    pub sites: Sites,
    pub cost: Cost,
    /// Needs a thread with a stack of [`pool::STACK_BYTES`].
    pub deep: bool,
    /// Where `entry` lies.
    _library: Library,
}

impl Code {
    pub fn new(emitted: Emitted, pipeline: Pipeline, keep: bool) -> Result<Code, CompileError> {
        let made = make(&emitted.text, pipeline, keep)?;
        if made.stack_bytes > DEEPEST {
            return Err(CompileError::Unsupported {
                message: format!(
                    "the arrays of one block take {} bytes of stack; the CPU has {DEEPEST}: make local or shared arrays smaller",
                    made.stack_bytes
                ),
                span: Span::NONE,
            });
        }
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
            },
            cost: Cost::default(),
            deep: made.stack_bytes > SHALLOW,
            _library: library,
        })
    }
}

/// Compiles, or takes from the cache what was compiled from the same text for the same target.
fn make(text: &str, pipeline: Pipeline, keep: bool) -> Result<Made, CompileError> {
    let options = Options::host(pipeline);
    if !keep {
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

/// The emitter's view of the machine.
pub fn target() -> emit::Target {
    let host = weft_llvm::host();
    emit::Target {
        triple: None,
        cpu: host.cpu.clone(),
        features: host.features.clone(),
        vector_bits: host.vector_bits,
        mask_registers: host.mask_registers,
        fma: host.has_fma,
        rounding: host.has_rounding,
        gang: None,
    }
}

pub fn emit(module: &Module, target: &emit::Target, variant: &Variant) -> Result<Emitted, CompileError> {
    emit::emit(module, target, variant).map_err(|error| match error {
        EmitError::Unsupported { message, span } => CompileError::Unsupported { message, span },
        EmitError::Internal(message) => CompileError::Internal(message),
    })
}

/// Refuses more shared memory than a block has.
pub fn check_shared(module: &Module) -> Result<(), CompileError> {
    let function = module.entry_function();
    let shared = function.arrays.iter().filter(|array| array.space == Space::Shared);
    let bytes = shared.map(|array| array.shape.iter().fold(array.elem.size() as u64, |n, &axis| n.saturating_mul(axis)));
    let total = bytes.fold(0u64, u64::saturating_add);
    if total <= SHARED_LIMIT {
        return Ok(());
    }
    let mut span = Span::NONE;
    find_shared(&function.body, function, &mut span);
    Err(CompileError::Unsupported {
        message: format!("the kernel wants {total} bytes of shared memory; a block has {SHARED_LIMIT}"),
        span,
    })
}

/// The place of the last shared array, at which the limit is passed.
fn find_shared(block: &weft_ir::Block, function: &weft_ir::Function, span: &mut Span) {
    for stmt in &block.0 {
        match &stmt.kind {
            StmtKind::Let(_, weft_ir::Op::Array(id)) if function.arrays[id.index()].space == Space::Shared => *span = stmt.span,
            StmtKind::If { then, other, .. } => {
                find_shared(then, function, span);
                find_shared(other, function, span);
            }
            StmtKind::Loop(body) | StmtKind::For { body, .. } | StmtKind::Scope(_, body) => find_shared(body, function, span),
            _ => {}
        }
    }
}
