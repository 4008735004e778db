// Parts of LLVM that its code generators would bring in though Weft never gets there, replaced by next to nothing: other ways to select instructions, other object formats, debugging
// information for Windows, profiles read from files, hardening against attacks, matrix tiles. That is a tenth of the code that is linked.
//
// Each definition here is weak and stands in for the one that LLVM has in a file of its own, which the linker then has no reason to take. Should another version of LLVM name or use them
// otherwise, they do nothing, and the real ones are linked again.
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/CodeGen/GlobalISel/InstructionSelector.h"
#include "llvm/MC/MCAsmBackend.h"
#include "llvm/MC/MCCodeEmitter.h"
#include "llvm/MC/MCGOFFObjectWriter.h"
#include "llvm/MC/MCObjectWriter.h"
#include "llvm/MC/MCParser/MCAsmParser.h"
#include "llvm/MC/MCWasmObjectWriter.h"
#include "llvm/MC/MCWinCOFFObjectWriter.h"
#include "llvm/MC/MCXCOFFObjectWriter.h"
#include "llvm/Pass.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/CodeGen.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Target/CGPassBuilderOption.h"
#include "llvm/Target/TargetMachine.h"

#if defined(__x86_64__)
#define WEAK __attribute__((weak))

namespace llvm {

[[noreturn]] static void unused(const char *Part) { report_fatal_error(Twine(Part) + " is not part of Weft"); }

// A pass that does nothing, for those that are added whether they have something to do or not.
namespace {
struct Nothing : FunctionPass {
  static char ID;
  Nothing() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Nothing"; }
  void getAnalysisUsage(AnalysisUsage &AU) const override { AU.setPreservesAll(); }
  bool runOnFunction(Function &) override { return false; }
};
char Nothing::ID;
} // namespace

// Where passes are named by their addresses.
static void registerNothing(PassRegistry &Registry) {
  if (!Registry.getPassInfo(&Nothing::ID))
    Registry.registerPass(*new PassInfo("Nothing", "nothing", &Nothing::ID, callDefaultCtor<Nothing>, false, false), true);
}

#define UNREGISTERED(PASS) WEAK void initialize##PASS(PassRegistry &) {}
#define EMPTY(PASS) WEAK FunctionPass *create##PASS() { return new Nothing; }

// LLVM's new way of generating code, which is not in use yet.
class PassBuilder;
class X86TargetMachine {
  void registerPassBuilderCallbacks(PassBuilder &);
  Error buildCodeGenPipeline(ModulePassManager &, raw_pwrite_stream &, raw_pwrite_stream *, CodeGenFileType, const CGPassBuilderOption &, PassInstrumentationCallbacks *);
};
WEAK void X86TargetMachine::registerPassBuilderCallbacks(PassBuilder &) {}
WEAK Error X86TargetMachine::buildCodeGenPipeline(ModulePassManager &, raw_pwrite_stream &, raw_pwrite_stream *, CodeGenFileType, const CGPassBuilderOption &,
                                                  PassInstrumentationCallbacks *) {
  unused("the new code generator");
}

// Instruction selection without a graph, and the fast one that does not optimise.
class X86Subtarget;
class X86RegisterBankInfo;
class FunctionLoweringInfo;
class TargetLibraryInfo;
class FastISel;
WEAK InstructionSelector *createX86InstructionSelector(const X86TargetMachine &, const X86Subtarget &, const X86RegisterBankInfo &) { return nullptr; }
namespace X86 {
WEAK FastISel *createFastISel(FunctionLoweringInfo &, const TargetLibraryInfo *) { return nullptr; }
} // namespace X86
struct IRTranslator {
  IRTranslator(CodeGenOptLevel);
};
struct Legalizer {
  Legalizer();
};
struct RegBankSelect {
  enum Mode { Fast, Greedy };
  RegBankSelect(Mode);
};
struct InstructionSelect {
  InstructionSelect(CodeGenOptLevel, char &);
};
WEAK IRTranslator::IRTranslator(CodeGenOptLevel) { unused("IRTranslator"); }
WEAK Legalizer::Legalizer() { unused("Legalizer"); }
WEAK RegBankSelect::RegBankSelect(Mode) { unused("RegBankSelect"); }
WEAK InstructionSelect::InstructionSelect(CodeGenOptLevel, char &) { unused("InstructionSelect"); }
UNREGISTERED(GlobalISel)
UNREGISTERED(X86PreLegalizerCombinerPass)
EMPTY(X86PreLegalizerCombiner)
UNREGISTERED(RegAllocFastPass)
WEAK FunctionPass *createFastRegisterAllocator() { unused("the fast register allocator"); }

// Object formats that are not ELF.
class MCGOFFObjectTargetWriter;
WEAK std::unique_ptr<MCObjectWriter> createWasmObjectWriter(std::unique_ptr<MCWasmObjectTargetWriter>, raw_pwrite_stream &) { unused("WebAssembly"); }
WEAK std::unique_ptr<MCObjectWriter> createWasmDwoObjectWriter(std::unique_ptr<MCWasmObjectTargetWriter>, raw_pwrite_stream &, raw_pwrite_stream &) { unused("WebAssembly"); }
WEAK std::unique_ptr<MCObjectWriter> createXCOFFObjectWriter(std::unique_ptr<MCXCOFFObjectTargetWriter>, raw_pwrite_stream &) { unused("XCOFF"); }
WEAK std::unique_ptr<MCObjectWriter> createGOFFObjectWriter(std::unique_ptr<MCGOFFObjectTargetWriter>, raw_pwrite_stream &) { unused("GOFF"); }
using Backend = std::unique_ptr<MCAsmBackend>;
using ObjectWriter = std::unique_ptr<MCObjectWriter>;
using Emitter = std::unique_ptr<MCCodeEmitter>;
WEAK MCStreamer *createGOFFStreamer(MCContext &, Backend &&, ObjectWriter &&, Emitter &&) { unused("GOFF"); }
WEAK MCStreamer *createWasmStreamer(MCContext &, Backend &&, ObjectWriter &&, Emitter &&) { unused("WebAssembly"); }
WEAK MCStreamer *createMachOStreamer(MCContext &, Backend &&, ObjectWriter &&, Emitter &&, bool, bool) { unused("Mach-O"); }
WEAK MCStreamer *createX86WinCOFFStreamer(MCContext &, Backend &&, ObjectWriter &&, Emitter &&) { unused("COFF"); }
WEAK std::unique_ptr<MCObjectTargetWriter> createX86MachObjectWriter(bool, uint32_t, uint32_t) { unused("Mach-O"); }
WEAK std::unique_ptr<MCObjectTargetWriter> createX86WinCOFFObjectWriter(bool) { unused("COFF"); }

// Assembly inside IR, and debugging information for Windows.
WEAK MCAsmParser *createMCAsmParser(SourceMgr &, MCContext &, MCStreamer &, const MCAsmInfo &, unsigned) { unused("inline assembly"); }
class AsmPrinter;
struct CodeViewDebug {
  CodeViewDebug(AsmPrinter *);
};
WEAK CodeViewDebug::CodeViewDebug(AsmPrinter *) { unused("CodeView"); }

// Where variables live in optimised code: nothing is compiled with variables.
extern char &LiveDebugValuesID;
WEAK char &LiveDebugValuesID = Nothing::ID;
WEAK void initializeLiveDebugValuesLegacyPass(PassRegistry &Registry) { registerNothing(Registry); }
UNREGISTERED(DebugifyMachineModulePass)
UNREGISTERED(CheckDebugMachineModulePass)
UNREGISTERED(StripDebugMachineModulePass)
EMPTY(DebugifyMachineModulePass)
EMPTY(CheckDebugMachineModulePass)
WEAK ModulePass *createStripDebugMachineModulePass(bool) { unused("debugify"); }

// A second order of instructions, after registers are assigned: it takes 6 % of the time to compile, and processors find an order of their own (haversine on Zen 3: the same time).
extern char &PostRASchedulerID;
WEAK char &PostRASchedulerID = Nothing::ID;
WEAK void initializePostRASchedulerLegacyPass(PassRegistry &Registry) { registerNothing(Registry); }

// Profiles read from files, functions outlined or merged across modules.
namespace vfs {
class FileSystem;
}
namespace sampleprof {
enum FSDiscriminatorPass : unsigned;
}
WEAK FunctionPass *createMIRProfileLoaderPass(std::string, std::string, sampleprof::FSDiscriminatorPass, IntrusiveRefCntPtr<vfs::FileSystem>) { unused("profiles"); }
UNREGISTERED(MIRProfileLoaderPassPass)
enum class RunOutliner;
WEAK ModulePass *createMachineOutlinerPass(RunOutliner) { unused("the outliner"); }
UNREGISTERED(MachineOutlinerPass)
EMPTY(GlobalMergeFuncPass)
UNREGISTERED(GlobalMergeFuncPassWrapperPass)
EMPTY(SelectOptimizePass)
UNREGISTERED(SelectOptimizePass)
EMPTY(ObjCARCContractPass)
UNREGISTERED(ObjCARCContractLegacyPassPass)

// Passes of other targets, and those that only print.
UNREGISTERED(MachinePipelinerPass)
UNREGISTERED(ModuloScheduleTestPass)
UNREGISTERED(HardwareLoopsLegacyPass)
UNREGISTERED(TypePromotionLegacyPass)
UNREGISTERED(InterleavedLoadCombinePass)
UNREGISTERED(MachineCFGPrinterPass)
UNREGISTERED(MIRNamerPass)
UNREGISTERED(MIRCanonicalizerPass)
UNREGISTERED(RABasicPass)
UNREGISTERED(MIR2VecPrinterLegacyPassPass)
UNREGISTERED(MIR2VecVocabLegacyAnalysisPass)
UNREGISTERED(MIR2VecVocabPrinterLegacyPassPass)
UNREGISTERED(MachineCycleInfoPrinterLegacyPass)
UNREGISTERED(MachineUniformityInfoPrinterPassPass)

// Matrix tiles (AMX), and hardening against speculation.
EMPTY(X86LowerAMXTypeLegacyPass)
EMPTY(X86LowerAMXIntrinsicsLegacyPass)
EMPTY(X86TileConfigLegacyPass)
EMPTY(X86PreTileConfigLegacyPass)
EMPTY(X86FastTileConfigLegacyPass)
EMPTY(X86FastPreTileConfigLegacyPass)
EMPTY(X86LowerTileCopyLegacyPass)
EMPTY(X86SpeculativeLoadHardeningPass)
EMPTY(X86LoadValueInjectionLoadHardeningPass)
EMPTY(X86LoadValueInjectionRetHardeningPass)
EMPTY(X86SpeculativeExecutionSideEffectSuppression)
UNREGISTERED(X86LowerAMXTypeLegacyPassPass)
UNREGISTERED(X86LowerAMXIntrinsicsLegacyPassPass)
UNREGISTERED(X86TileConfigLegacyPass)
UNREGISTERED(X86PreTileConfigLegacyPass)
UNREGISTERED(X86FastTileConfigLegacyPass)
UNREGISTERED(X86FastPreTileConfigLegacyPass)
UNREGISTERED(X86LowerTileCopyLegacyPass)
UNREGISTERED(X86SpeculativeLoadHardeningPassPass)
UNREGISTERED(X86LoadValueInjectionLoadHardeningPassPass)
UNREGISTERED(X86LoadValueInjectionRetHardeningPassPass)
UNREGISTERED(X86SpeculativeExecutionSideEffectSuppressionPass)

} // namespace llvm
#endif
