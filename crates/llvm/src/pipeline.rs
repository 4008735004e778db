//! Pass pipelines: which LLVM passes run, by what the code is. The passes themselves are in `cxx/passes.cpp`.

#![allow(unsafe_code)]

use llvm_sys::prelude::LLVMModuleRef;
use llvm_sys::target_machine::LLVMTargetMachineRef;

/// What kind of code a module holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub enum Pipeline {
    /// Vectors already: cleaned up, nothing vectorised again.
    Gang,
    /// Scalar functions, for LLVM's own vectoriser; those among them that hold vectors, and no loops of scalars, are gangs still.
    Scalar,
    /// Scalar code of one thread of many: the hardware makes the vectors.
    Simt,
}

unsafe extern "C" {
    fn weft_llvm_optimize(module: LLVMModuleRef, machine: LLVMTargetMachineRef, pipeline: Pipeline);
}

impl Pipeline {
    /// Runs the passes over a module.
    ///
    /// # Safety
    /// Both are alive; the machine is the one the module is for.
    pub(crate) unsafe fn run(self, module: LLVMModuleRef, machine: LLVMTargetMachineRef) {
        // SAFETY: by contract.
        unsafe { weft_llvm_optimize(module, machine, self) }
    }
}
