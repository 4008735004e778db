//! Compile sessions: one thread's LLVM: its target machines, and the way of one module through it. Runs on the threads of `worker` only.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr;
use std::sync::Once;

use llvm_sys::LLVMAttributeFunctionIndex;
use llvm_sys::LLVMDiagnosticSeverity;
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::core::{
    LLVMAddAttributeAtIndex, LLVMContextCreate, LLVMContextDispose, LLVMContextSetDiagnosticHandler, LLVMCreateStringAttribute,
    LLVMDisposeMemoryBuffer, LLVMDisposeModule, LLVMGetBufferSize, LLVMGetBufferStart, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
    LLVMGetFirstBasicBlock, LLVMGetFirstFunction, LLVMGetNextFunction, LLVMPrintModuleToString, LLVMSetTarget,
};
use llvm_sys::prelude::{LLVMContextRef, LLVMDiagnosticInfoRef, LLVMMemoryBufferRef, LLVMModuleRef, LLVMValueRef};
use llvm_sys::target::{LLVMDisposeTargetData, LLVMSetModuleDataLayout};
use llvm_sys::target_machine::{
    LLVMCodeGenFileType, LLVMCodeGenOptLevel, LLVMCodeModel, LLVMCreateTargetDataLayout, LLVMCreateTargetMachine, LLVMDisposeTargetMachine,
    LLVMGetTargetFromTriple, LLVMRelocMode, LLVMTargetMachineEmitToMemoryBuffer, LLVMTargetMachineRef,
};

use crate::target::{Machine, owned};
use crate::{Error, Pipeline};

/// What a module is made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Product {
    Object,
    Assembly,
    Ir,
}

unsafe extern "C" {
    /// In `cxx/parse.cpp`.
    fn weft_llvm_parse(context: LLVMContextRef, text: *const c_char, length: usize, mistake: *mut Mistake) -> LLVMModuleRef;
}

/// As in `cxx/parse.cpp`.
#[repr(C)]
struct Mistake {
    line: u32,
    column: u32,
    message: *mut c_char,
}

/// A module to be made into something.
pub struct Job {
    pub text: CString,
    pub machine: Machine,
    pub pipeline: Pipeline,
    pub product: Product,
}

/// What was made, and the stack that its functions with large frames take together: 0 if there are none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    pub bytes: Vec<u8>,
    pub stack_bytes: u64,
}

/// Frames up to this size fit any thread and are not reported.
const SMALL_FRAME: &str = "131072";

/// The target machines of one thread, made once per target.
pub struct Session {
    machines: Vec<(Machine, LLVMTargetMachineRef)>,
}

impl Session {
    pub fn new() -> Session {
        initialize();
        Session { machines: Vec::new() }
    }

    pub fn make(&mut self, job: &Job) -> Result<Made, Error> {
        let machine = self.machine(&job.machine)?;
        let context = Context::new();
        let module = context.parse(&job.text)?;
        let made = module.prepare(&job.machine, machine).and_then(|()| module.verify()).and_then(|()| {
            module.optimize(job.pipeline, machine);
            if job.product != Product::Ir && job.pipeline != Pipeline::Simt {
                module.ask_for_frames(context.raw);
            }
            match job.product {
                Product::Ir => Ok(module.print()),
                Product::Object => module.emit(machine, LLVMCodeGenFileType::LLVMObjectFile),
                Product::Assembly => module.emit(machine, LLVMCodeGenFileType::LLVMAssemblyFile),
            }
        });
        drop(module);
        let stack_bytes = context.check()?;
        made.map(|bytes| Made { bytes, stack_bytes })
    }

    fn machine(&mut self, wanted: &Machine) -> Result<LLVMTargetMachineRef, Error> {
        if let Some((_, machine)) = self.machines.iter().find(|(known, _)| known == wanted) {
            return Ok(*machine);
        }
        let machine = create_machine(wanted)?;
        self.machines.push((wanted.clone(), machine));
        Ok(machine)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        for (_, machine) in &self.machines {
            // SAFETY: made by `create_machine`, not used after.
            unsafe { LLVMDisposeTargetMachine(*machine) };
        }
    }
}

/// Makes the code generators known to LLVM, once per process.
fn initialize() {
    static ONCE: Once = Once::new();
    // SAFETY: these only register tables; `Once` keeps threads apart.
    ONCE.call_once(|| unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            llvm_sys::target::LLVMInitializeX86TargetInfo();
            llvm_sys::target::LLVMInitializeX86Target();
            llvm_sys::target::LLVMInitializeX86TargetMC();
            llvm_sys::target::LLVMInitializeX86AsmPrinter();
        }
        #[cfg(target_arch = "aarch64")]
        {
            llvm_sys::target::LLVMInitializeAArch64TargetInfo();
            llvm_sys::target::LLVMInitializeAArch64Target();
            llvm_sys::target::LLVMInitializeAArch64TargetMC();
            llvm_sys::target::LLVMInitializeAArch64AsmPrinter();
        }
        llvm_sys::target::LLVMInitializeNVPTXTargetInfo();
        llvm_sys::target::LLVMInitializeNVPTXTarget();
        llvm_sys::target::LLVMInitializeNVPTXTargetMC();
        llvm_sys::target::LLVMInitializeNVPTXAsmPrinter();
    });
}

fn create_machine(wanted: &Machine) -> Result<LLVMTargetMachineRef, Error> {
    let triple = c_string(&wanted.triple)?;
    let cpu = c_string(&wanted.cpu)?;
    let features = c_string(&wanted.features)?;
    let mut found = ptr::null_mut();
    let mut message = ptr::null_mut();
    // SAFETY: the strings live through the calls; the outputs are checked before use.
    unsafe {
        if LLVMGetTargetFromTriple(triple.as_ptr(), &mut found, &mut message) != 0 {
            return Err(Error::Codegen(owned(message)));
        }
        let machine = LLVMCreateTargetMachine(
            found,
            triple.as_ptr(),
            cpu.as_ptr(),
            features.as_ptr(),
            LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
            LLVMRelocMode::LLVMRelocPIC,
            LLVMCodeModel::LLVMCodeModelSmall,
        );
        if machine.is_null() {
            return Err(Error::Codegen(format!("no target machine for {}", wanted.triple)));
        }
        Ok(machine)
    }
}

fn c_string(text: &str) -> Result<CString, Error> {
    CString::new(text).map_err(|_| Error::Codegen("a target's name has a null byte".into()))
}

/// What LLVM says to a context rather than to a caller.
#[derive(Debug, Default)]
struct Reports {
    errors: Vec<String>,
    /// Of the frames it warned of.
    stack_bytes: u64,
}

/// An LLVM context and the reports made to it. One per module, so that nothing piles up.
struct Context {
    raw: LLVMContextRef,
    /// Owned; LLVM's diagnostic handler writes to it.
    reports: *mut Reports,
}

impl Context {
    fn new() -> Context {
        let reports: *mut Reports = Box::into_raw(Box::default());
        // SAFETY: the handler gets a pointer that lives until the context is gone.
        let raw = unsafe {
            let raw = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(raw, Some(on_diagnostic), reports.cast());
            raw
        };
        Context { raw, reports }
    }

    fn parse(&self, text: &CStr) -> Result<Module, Error> {
        let mut mistake = Mistake {
            line: 0,
            column: 0,
            message: ptr::null_mut(),
        };
        // SAFETY: the text ends with a null byte; the mistake is written only if there is one, and its message is then ours.
        unsafe {
            let raw = weft_llvm_parse(self.raw, text.as_ptr(), text.count_bytes(), &mut mistake);
            if raw.is_null() {
                return Err(Error::Parse {
                    line: mistake.line,
                    column: mistake.column,
                    message: owned(mistake.message),
                });
            }
            Ok(Module { raw })
        }
    }

    /// The errors reported so far, else the stack that was reported.
    fn check(&self) -> Result<u64, Error> {
        // SAFETY: the handler runs only inside LLVM calls on this thread, of which none is under way.
        let reports = unsafe { &*self.reports };
        if reports.errors.is_empty() {
            Ok(reports.stack_bytes)
        } else {
            Err(Error::Codegen(reports.errors.join("\n")))
        }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: both were made in `new`; modules of the context are dropped before it.
        unsafe {
            LLVMContextDispose(self.raw);
            drop(Box::from_raw(self.reports));
        }
    }
}

extern "C" fn on_diagnostic(info: LLVMDiagnosticInfoRef, reports: *mut c_void) {
    // SAFETY: `reports` is what was given at registration; LLVM calls this on the thread that owns it.
    let (severity, text, reports) = unsafe {
        (
            LLVMGetDiagInfoSeverity(info),
            owned(LLVMGetDiagInfoDescription(info)),
            &mut *reports.cast::<Reports>(),
        )
    };
    match severity {
        LLVMDiagnosticSeverity::LLVMDSError => reports.errors.push(text),
        LLVMDiagnosticSeverity::LLVMDSWarning => {
            if let Some(bytes) = frame_size(&text) {
                // Those that call each other stand on one stack.
                reports.stack_bytes = reports.stack_bytes.saturating_add(bytes);
            }
        }
        _ => {}
    }
}

/// The number in `stack frame size (NUMBER) exceeds limit …`.
fn frame_size(warning: &str) -> Option<u64> {
    let rest = warning.split_once("stack frame size (")?.1;
    rest.split_once(')')?.0.parse().ok()
}

struct Module {
    raw: LLVMModuleRef,
}

impl Module {
    fn prepare(&self, wanted: &Machine, machine: LLVMTargetMachineRef) -> Result<(), Error> {
        let triple = c_string(&wanted.triple)?;
        // SAFETY: module and machine are alive; the layout is copied.
        unsafe {
            LLVMSetTarget(self.raw, triple.as_ptr());
            let layout = LLVMCreateTargetDataLayout(machine);
            LLVMSetModuleDataLayout(self.raw, layout);
            LLVMDisposeTargetData(layout);
        }
        Ok(())
    }

    fn verify(&self) -> Result<(), Error> {
        let mut message = ptr::null_mut();
        // SAFETY: the module is alive; the message is owned by us whatever the answer.
        let (broken, message) = unsafe {
            let broken = LLVMVerifyModule(self.raw, LLVMVerifierFailureAction::LLVMReturnStatusAction, &mut message) != 0;
            (broken, owned(message))
        };
        if broken { Err(Error::Invalid(message)) } else { Ok(()) }
    }

    fn optimize(&self, pipeline: Pipeline, machine: LLVMTargetMachineRef) {
        // SAFETY: both are alive, and `prepare` was given this machine.
        unsafe { pipeline.run(self.raw, machine) }
    }

    /// Has LLVM warn of frames that are not small.
    fn ask_for_frames(&self, context: LLVMContextRef) {
        let key = c"warn-stack-size";
        // SAFETY: the functions belong to the module, which is alive; the attribute belongs to its context.
        unsafe {
            let attribute = LLVMCreateStringAttribute(
                context,
                key.as_ptr(),
                key.count_bytes() as u32,
                SMALL_FRAME.as_ptr().cast::<c_char>(),
                SMALL_FRAME.len() as u32,
            );
            for function in self.functions() {
                LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
            }
        }
    }

    /// Those that have bodies.
    fn functions(&self) -> impl Iterator<Item = LLVMValueRef> {
        let some = |function: LLVMValueRef| (!function.is_null()).then_some(function);
        // SAFETY: the module is alive; its list of functions ends with null.
        let first = some(unsafe { LLVMGetFirstFunction(self.raw) });
        // SAFETY: as above, and the module keeps its functions while the iterator is used.
        let all = std::iter::successors(first, move |&f| some(unsafe { LLVMGetNextFunction(f) }));
        // SAFETY: as above; a declaration has no block.
        all.filter(|&f| !unsafe { LLVMGetFirstBasicBlock(f) }.is_null())
    }

    fn print(&self) -> Vec<u8> {
        // SAFETY: the module is alive; the string is ours.
        unsafe { owned(LLVMPrintModuleToString(self.raw)) }.into_bytes()
    }

    fn emit(&self, machine: LLVMTargetMachineRef, kind: LLVMCodeGenFileType) -> Result<Vec<u8>, Error> {
        let mut buffer = ptr::null_mut();
        let mut message = ptr::null_mut();
        // SAFETY: module and machine are alive; the buffer is used only on success and freed by `take`.
        unsafe {
            if LLVMTargetMachineEmitToMemoryBuffer(machine, self.raw, kind, &mut message, &mut buffer) != 0 {
                return Err(Error::Codegen(owned(message)));
            }
            Ok(take(buffer))
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: made by the parser, not used after.
        unsafe { LLVMDisposeModule(self.raw) };
    }
}

/// Copies a buffer and frees it.
///
/// # Safety
/// `buffer` is alive and not used after.
unsafe fn take(buffer: LLVMMemoryBufferRef) -> Vec<u8> {
    // SAFETY: start and size describe the buffer's own memory.
    unsafe {
        let bytes = std::slice::from_raw_parts(LLVMGetBufferStart(buffer).cast::<u8>(), LLVMGetBufferSize(buffer)).to_vec();
        LLVMDisposeMemoryBuffer(buffer);
        bytes
    }
}
