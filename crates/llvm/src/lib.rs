//! Everything LLVM: IR as text goes in; object code comes out, is loaded, and its functions have addresses, or PTX comes out.
//!
//! Nothing here knows Weft's IR. All of LLVM's C API and its `unsafe` is behind [`compile()`], [`optimized_ir`], [`assembly`], [`ptx`] and [`Library`].
//! No input ends the process: what LLVM would call fatal comes back as an [`Error`].

mod elf;
mod error;
mod libcalls;
mod load;
mod memory;
mod pipeline;
mod reloc;
mod session;
mod target;
mod worker;

pub use error::Error;
pub use load::Library;
pub use pipeline::Pipeline;
pub use session::Made;
pub use target::{Target, host};

use std::ffi::CString;

use session::{Job, Product};
use target::Machine;

/// What code made of the same text depends on besides the target: the versions of LLVM and Weft, and the sources that say which passes run.
pub const VERSION: &str = concat!(
    env!("WEFT_LLVM_VERSION"),
    " ",
    env!("CARGO_PKG_VERSION"),
    " ",
    env!("WEFT_LLVM_SOURCES")
);

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    pub target: Target,
    pub pipeline: Pipeline,
}

impl Options {
    /// For the machine this runs on.
    pub fn host(pipeline: Pipeline) -> Options {
        Options {
            target: host().clone(),
            pipeline,
        }
    }
}

/// Verifies, optimises and compiles LLVM IR to a relocatable object, which [`Library::load`] takes, and says what stack it needs.
pub fn compile(text: &str, options: &Options) -> Result<Made, Error> {
    make(text, options.target.machine(), options.pipeline, Product::Object)
}

/// The module after the optimisation pipeline, as LLVM IR.
pub fn optimized_ir(text: &str, options: &Options) -> Result<String, Error> {
    make(text, options.target.machine(), options.pipeline, Product::Ir).map(into_text)
}

/// What [`compile()`] makes, as assembly.
pub fn assembly(text: &str, options: &Options) -> Result<String, Error> {
    make(text, options.target.machine(), options.pipeline, Product::Assembly).map(into_text)
}

/// Verifies and optimises LLVM IR for a GPU and compiles it to PTX. `sm` is the compute capability (75 for 7.5), `isa` the PTX ISA (78 for 7.8).
/// Functions of calling convention `ptx_kernel` become entries.
pub fn ptx(text: &str, sm: u32, isa: u32) -> Result<String, Error> {
    make(text, Machine::nvptx(sm, isa), Pipeline::Simt, Product::Assembly).map(into_text)
}

/// The module [`ptx`] makes PTX of, after the optimisation pipeline.
pub fn optimized_ptx_ir(text: &str, sm: u32, isa: u32) -> Result<String, Error> {
    make(text, Machine::nvptx(sm, isa), Pipeline::Simt, Product::Ir).map(into_text)
}

fn make(text: &str, machine: Machine, pipeline: Pipeline, product: Product) -> Result<Made, Error> {
    let text = CString::new(text).map_err(|error| Error::Parse {
        line: text[..error.nul_position()].lines().count().max(1) as u32,
        column: 0,
        message: "a null byte".into(),
    })?;
    worker::run(Job {
        text,
        machine,
        pipeline,
        product,
    })
}

fn into_text(made: Made) -> String {
    String::from_utf8_lossy(&made.bytes).into_owned()
}
