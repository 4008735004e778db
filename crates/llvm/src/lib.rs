//! Everything LLVM: IR as text goes in, object code comes out, is loaded, and its functions have addresses.
//!
//! Nothing here knows Weft's IR. All of LLVM's C API and its `unsafe` is behind [`compile()`], [`optimized_ir`], [`assembly`] and [`Library`].
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

/// The version of LLVM that is linked in: objects of one version are not those of another.
pub const VERSION: &str = env!("WEFT_LLVM_VERSION");

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
    worker::run(text, options, session::Product::Object)
}

/// The module after the optimisation pipeline, as LLVM IR.
pub fn optimized_ir(text: &str, options: &Options) -> Result<String, Error> {
    worker::run(text, options, session::Product::Ir).map(into_text)
}

/// What [`compile()`] makes, as assembly.
pub fn assembly(text: &str, options: &Options) -> Result<String, Error> {
    worker::run(text, options, session::Product::Assembly).map(into_text)
}

/// LLVM IR of kernels (`ptx_kernel` functions and what they call) as PTX for GPUs from compute capability `sm` (75 for 7.5) on, in
/// version `isa` of its language (63 for 6.3).
pub fn ptx(text: &str, sm: u32, isa: u32) -> Result<String, Error> {
    let options = Options {
        target: Target::nvptx(sm, isa),
        pipeline: Pipeline::Simt,
    };
    assembly(text, &options)
}

fn into_text(made: Made) -> String {
    String::from_utf8_lossy(&made.bytes).into_owned()
}
