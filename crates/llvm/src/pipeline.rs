//! Which LLVM passes run, by what the code is.

#![allow(unsafe_code)]

use std::ffi::CStr;

use llvm_sys::LLVMAttributeFunctionIndex;
use llvm_sys::LLVMTypeKind::LLVMVectorTypeKind;
use llvm_sys::core::{
    LLVMAddAttributeAtIndex, LLVMCreateEnumAttribute, LLVMGetEnumAttributeAtIndex, LLVMGetEnumAttributeKindForName, LLVMGetFirstBasicBlock,
    LLVMGetFirstFunction, LLVMGetFirstInstruction, LLVMGetNextBasicBlock, LLVMGetNextFunction, LLVMGetNextInstruction, LLVMGetTypeKind,
    LLVMRemoveEnumAttributeAtIndex, LLVMTypeOf,
};
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef, LLVMValueRef};
use llvm_sys::target_machine::LLVMTargetMachineRef;
use llvm_sys::transforms::pass_builder::{
    LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMPassBuilderOptionsRef, LLVMPassBuilderOptionsSetLoopVectorization,
    LLVMPassBuilderOptionsSetSLPVectorization, LLVMRunPasses, LLVMRunPassesOnFunction,
};

use crate::Error;

/// What a gang still needs: locals into registers, common subexpressions, invariants out of loops, loops of few iterations unrolled. Against `default<O3>` it makes code of
/// the same speed (Mandelbrot, AVX2: within 3 %) in a quarter of the time. `no-verify-fixpoint`, since the verification is fatal.
const GANG: &CStr = c"sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,loop-mssa(loop-rotate,licm),loop(loop-unroll-full),gvn,instcombine<no-verify-fixpoint>,simplifycfg";

/// Scalar code is what LLVM's own pipeline is made for.
const SCALAR: &CStr = c"default<O3>";

/// Keep LLVM's pipeline away from a function; the first needs the second.
const HANDS_OFF: [&CStr; 2] = [c"optnone", c"noinline"];

/// What kind of code a module holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pipeline {
    /// Vectors already: cleaned up, nothing vectorised again.
    Gang,
    /// Scalar functions, for LLVM's own vectoriser; those among them that hold vectors are gangs still.
    Scalar,
    /// Scalar code of one thread of many: the hardware makes the vectors. LLVM's own pipeline asks the target what else a GPU wants.
    Simt,
}

impl Pipeline {
    /// Runs the passes over a module.
    ///
    /// # Safety
    /// All three are alive; the module is of the context.
    pub(crate) unsafe fn run(self, module: LLVMModuleRef, context: LLVMContextRef, machine: LLVMTargetMachineRef) -> Result<(), Error> {
        // SAFETY: by contract; the options are freed after their last use.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            let vectorise = i32::from(self != Pipeline::Simt);
            LLVMPassBuilderOptionsSetLoopVectorization(options, vectorise);
            LLVMPassBuilderOptionsSetSLPVectorization(options, vectorise);
            let all: Vec<LLVMValueRef> = functions(module).collect();
            let is_gang = |f: LLVMValueRef| match self {
                Pipeline::Gang => true,
                Pipeline::Scalar => holds_vectors(f),
                Pipeline::Simt => false,
            };
            let (mut gangs, scalars): (Vec<_>, Vec<_>) = all.into_iter().partition(|&f| is_gang(f));
            let mut done = Ok(());
            if !scalars.is_empty() {
                hands(&gangs, context, true);
                done = checked(LLVMRunPasses(module, SCALAR.as_ptr(), machine, options));
                // The passes may have removed or replaced functions: those marked are the gangs that are left.
                gangs = functions(module).filter(|&f| is_held(f)).collect();
                hands(&gangs, context, false);
            }
            let done = gangs
                .iter()
                .fold(done, |done, &gang| done.and_then(|()| run_gang(gang, machine, options)));
            LLVMDisposePassBuilderOptions(options);
            done
        }
    }
}

/// # Safety
/// All three are alive.
unsafe fn run_gang(function: LLVMValueRef, machine: LLVMTargetMachineRef, options: LLVMPassBuilderOptionsRef) -> Result<(), Error> {
    // SAFETY: by contract.
    checked(unsafe { LLVMRunPassesOnFunction(function, GANG.as_ptr(), machine, options) })
}

/// Takes LLVM's hands off the functions, or lets it have them again.
///
/// # Safety
/// The functions are alive and of the context.
unsafe fn hands(functions: &[LLVMValueRef], context: LLVMContextRef, off: bool) {
    for name in HANDS_OFF {
        // SAFETY: by contract; the names are attributes LLVM knows.
        unsafe {
            let kind = LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes());
            for &function in functions {
                if off {
                    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, 0));
                } else {
                    LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
                }
            }
        }
    }
}

/// Was LLVM's pipeline kept away from the function by [`hands`]?
///
/// # Safety
/// The function is alive.
unsafe fn is_held(function: LLVMValueRef) -> bool {
    let name = HANDS_OFF[0];
    // SAFETY: by contract; the name is an attribute LLVM knows.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr(), name.count_bytes());
        !LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind).is_null()
    }
}

/// The functions of a module that have bodies.
///
/// # Safety
/// The module is alive and keeps its functions while the iterator is used.
pub(crate) unsafe fn functions(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: by contract.
    let all = list(unsafe { LLVMGetFirstFunction(module) }, |f| unsafe { LLVMGetNextFunction(f) });
    // SAFETY: as above; a declaration has no block.
    all.filter(|&f| !unsafe { LLVMGetFirstBasicBlock(f) }.is_null())
}

/// Does any instruction of the function give a vector?
///
/// # Safety
/// The function is alive.
unsafe fn holds_vectors(function: LLVMValueRef) -> bool {
    // SAFETY: by contract; blocks and instructions live as long as their function, which nothing changes meanwhile.
    unsafe {
        let blocks = list(LLVMGetFirstBasicBlock(function), |b| LLVMGetNextBasicBlock(b));
        let mut instructions = blocks.flat_map(|b| list(LLVMGetFirstInstruction(b), |i| LLVMGetNextInstruction(i)));
        instructions.any(|i| LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVectorTypeKind)
    }
}

/// A list of LLVM's, which ends with null.
fn list<T>(first: *mut T, next: impl Fn(*mut T) -> *mut T) -> impl Iterator<Item = *mut T> {
    let some = |p: *mut T| (!p.is_null()).then_some(p);
    std::iter::successors(some(first), move |&p| some(next(p)))
}

fn checked(error: LLVMErrorRef) -> Result<(), Error> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: reading the message consumes the error; the message is freed after it is copied.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(Error::Codegen(text))
    }
}
