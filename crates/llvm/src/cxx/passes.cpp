// The passes that run over a module, by what the code is, and the analyses they ask for.
//
// LLVM's own way to name a pipeline is a text, which brings in every pass that LLVM has. Here passes are named as types, and what is not named is not linked.
// A pass must find every analysis it asks for registered: whoever adds one makes sure that the `…::Key`s its object file refers to (nm -C) are registered below.
#include "loads.h"
#include "masked.h"
#include "unroll.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/BasicAliasAnalysis.h"
#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/BranchProbabilityInfo.h"
#include "llvm/Analysis/CycleAnalysis.h"
#include "llvm/Analysis/DemandedBits.h"
#include "llvm/Analysis/DependenceAnalysis.h"
#include "llvm/Analysis/LastRunTrackingAnalysis.h"
#include "llvm/Analysis/LazyValueInfo.h"
#include "llvm/Analysis/LoopAccessAnalysis.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/MemoryDependenceAnalysis.h"
#include "llvm/Analysis/MemorySSA.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"
#include "llvm/Analysis/PhiValues.h"
#include "llvm/Analysis/PostDominators.h"
#include "llvm/Analysis/ProfileSummaryInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScopedNoAliasAA.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/Analysis/TypeBasedAliasAnalysis.h"
#include "llvm/Analysis/UniformityAnalysis.h"
#include "llvm-c/TargetMachine.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/IR/PassInstrumentation.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/BDCE.h"
#include "llvm/Transforms/Scalar/ConstraintElimination.h"
#include "llvm/Transforms/Scalar/CorrelatedValuePropagation.h"
#include "llvm/Transforms/Scalar/DeadStoreElimination.h"
#include "llvm/Transforms/Scalar/DivRemPairs.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/InferAlignment.h"
#include "llvm/Transforms/Scalar/InstSimplifyPass.h"
#include "llvm/Transforms/Scalar/JumpThreading.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopDeletion.h"
#include "llvm/Transforms/Scalar/LoopIdiomRecognize.h"
#include "llvm/Transforms/Scalar/LoopInstSimplify.h"
#include "llvm/Transforms/Scalar/LoopLoadElimination.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopSimplifyCFG.h"
#include "llvm/Transforms/Scalar/LoopSink.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/MemCpyOptimizer.h"
#include "llvm/Transforms/Scalar/MergedLoadStoreMotion.h"
#include "llvm/Transforms/Scalar/Reassociate.h"
#include "llvm/Transforms/Scalar/SCCP.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimpleLoopUnswitch.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Scalar/SpeculativeExecution.h"
#include "llvm/Transforms/Vectorize/LoopVectorize.h"
#include "llvm/Transforms/Vectorize/SLPVectorizer.h"
#include "llvm/Transforms/Vectorize/VectorCombine.h"

using namespace llvm;

namespace {

// What lies in different memories of a GPU is not the same: 1 global, 3 shared, 4 constant, 5 local, as NVPTX numbers them. 0 is any of them.
class SpacesResult : public AAResultBase {
public:
  AliasResult alias(const MemoryLocation &A, const MemoryLocation &B, AAQueryInfo &, const Instruction *) {
    unsigned First = A.Ptr->getType()->getPointerAddressSpace(), Second = B.Ptr->getType()->getPointerAddressSpace();
    bool Apart = First != Second && isOneMemory(First) && isOneMemory(Second);
    return Apart ? AliasResult::NoAlias : AliasResult::MayAlias;
  }
  bool invalidate(Function &, const PreservedAnalyses &, FunctionAnalysisManager::Invalidator &) { return false; }

private:
  static bool isOneMemory(unsigned Space) { return Space == 1 || Space == 3 || Space == 4 || Space == 5; }
};

class Spaces : public AnalysisInfoMixin<Spaces> {
public:
  using Result = SpacesResult;
  Result run(Function &, FunctionAnalysisManager &) { return Result(); }

private:
  friend AnalysisInfoMixin<Spaces>;
  static AnalysisKey Key;
};
AnalysisKey Spaces::Key;

// The analyses of one module's run, each made when a pass first asks for it.
struct Analyses {
  LoopAnalysisManager Loops;
  FunctionAnalysisManager Functions;
  ModuleAnalysisManager Modules;

  Analyses(Module &M, TargetMachine &Machine, bool IsGpu) {
    registerAliases(IsGpu);
    registerTarget(M, Machine);
    registerFunction();
    Loops.registerPass([] { return PassInstrumentationAnalysis(); });
    Loops.registerPass([] { return ShouldRunExtraSimpleLoopUnswitch(); });
    Modules.registerPass([] { return PassInstrumentationAnalysis(); });
    Modules.registerPass([] { return ProfileSummaryAnalysis(); });
    Modules.registerPass([this] { return FunctionAnalysisManagerModuleProxy(Functions); });
    Functions.registerPass([this] { return ModuleAnalysisManagerFunctionProxy(Modules); });
    Functions.registerPass([this] { return LoopAnalysisManagerFunctionProxy(Loops); });
    Loops.registerPass([this] { return FunctionAnalysisManagerLoopProxy(Functions); });
  }

private:
  void registerAliases(bool IsGpu) {
    AAManager Aliases;
    Aliases.registerFunctionAnalysis<BasicAA>();
    Aliases.registerFunctionAnalysis<ScopedNoAliasAA>();
    Aliases.registerFunctionAnalysis<TypeBasedAA>();
    if (IsGpu)
      Aliases.registerFunctionAnalysis<Spaces>();
    Functions.registerPass([&] { return std::move(Aliases); });
    Functions.registerPass([] { return BasicAA(); });
    Functions.registerPass([] { return ScopedNoAliasAA(); });
    Functions.registerPass([] { return TypeBasedAA(); });
    Functions.registerPass([] { return Spaces(); });
  }

  void registerTarget(Module &M, TargetMachine &Machine) {
    Functions.registerPass([&] { return Machine.getTargetIRAnalysis(); });
    Functions.registerPass([&] { return TargetLibraryAnalysis(TargetLibraryInfoImpl(M.getTargetTriple())); });
  }

  template <typename... As> void add() { (Functions.registerPass([] { return As(); }), ...); }

  void registerFunction() {
    add<PassInstrumentationAnalysis, AssumptionAnalysis, DominatorTreeAnalysis, PostDominatorTreeAnalysis, LoopAnalysis, CycleAnalysis,
        ScalarEvolutionAnalysis, MemorySSAAnalysis, MemoryDependenceAnalysis, BlockFrequencyAnalysis, BranchProbabilityAnalysis, LazyValueAnalysis,
        DemandedBitsAnalysis, DependenceAnalysis, LoopAccessAnalysis, PhiValuesAnalysis, OptimizationRemarkEmitterAnalysis, UniformityInfoAnalysis,
        LastRunTrackingAnalysis, ShouldRunExtraVectorPasses>();
  }
};

// Unrolls a loop whole if it is known how often it runs at most. LLVM's pass sizes up every loop first, whose body is its neighbours' too in a nest; for gangs, whose
// operations it splits into registers to price them, that takes longer than all other passes.
struct UnrollShortPass : PassInfoMixin<UnrollShortPass> {
  PreservedAnalyses run(Loop &L, LoopAnalysisManager &Loops, LoopStandardAnalysisResults &Known, LPMUpdater &Updater) {
    if (Known.SE.getSmallConstantMaxTripCount(&L) == 0)
      return PreservedAnalyses::all();
    return LoopFullUnrollPass().run(L, Loops, Known, Updater);
  }
};

void addCombining(FunctionPassManager &Passes) {
  Passes.addPass(MaskedLoadsStayPass());
  Passes.addPass(InstCombinePass());
}

// Locals into registers and common subexpressions: for functions that seldom run.
FunctionPassManager rarePasses() {
  FunctionPassManager Passes;
  Passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  Passes.addPass(EarlyCSEPass(true));
  Passes.addPass(SimplifyCFGPass());
  return Passes;
}

FunctionPassManager gangPasses() {
  // Locals into registers, common subexpressions, invariants out of loops, loops of few iterations unrolled. Against the passes for scalar code this makes code of the same speed
  // (Mandelbrot, AVX2: within 3 %) in a quarter of the time.
  FunctionPassManager Passes;
  LoopPassManager Invariants, Unrolling;
  Invariants.addPass(LoopRotatePass());
  Invariants.addPass(LICMPass(LICMOptions()));
  Unrolling.addPass(UnrollShortPass());
  Passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  Passes.addPass(EarlyCSEPass(true));
  addCombining(Passes);
  Passes.addPass(SimplifyCFGPass());
  Passes.addPass(createFunctionToLoopPassAdaptor(std::move(Invariants), true));
  Passes.addPass(createFunctionToLoopPassAdaptor(std::move(Unrolling)));
  Passes.addPass(GVNPass());
  addCombining(Passes);
  Passes.addPass(SimplifyCFGPass());
  return Passes;
}

SimplifyCFGOptions switches() { return SimplifyCFGOptions().convertSwitchRangeToICmp(true); }

// What is done to the loops of scalar code while it is made simpler: LLVM's order at its highest level.
void addLoopPasses(FunctionPassManager &Passes) {
  LoopPassManager Shape, Meaning;
  ExtraLoopPassManager<ShouldRunExtraSimpleLoopUnswitch> Again;
  Shape.addPass(LoopInstSimplifyPass());
  Shape.addPass(LoopSimplifyCFGPass());
  Shape.addPass(LICMPass(100, 250, /*AllowSpeculation=*/false));
  Shape.addPass(LoopRotatePass());
  Shape.addPass(LICMPass(LICMOptions()));
  Shape.addPass(SimpleLoopUnswitchPass(/*NonTrivial=*/true));
  Passes.addPass(createFunctionToLoopPassAdaptor(std::move(Shape), true));
  Passes.addPass(SimplifyCFGPass(switches()));
  addCombining(Passes);
  Meaning.addPass(LoopIdiomRecognizePass());
  Meaning.addPass(IndVarSimplifyPass());
  Again.addPass(SimpleLoopUnswitchPass(/*NonTrivial=*/true));
  Meaning.addPass(std::move(Again));
  Meaning.addPass(LoopDeletionPass());
  Meaning.addPass(LoopFullUnrollPass(3));
  Passes.addPass(createFunctionToLoopPassAdaptor(std::move(Meaning)));
}

void addHoisting(FunctionPassManager &Passes) {
  LoopPassManager Loops;
  Loops.addPass(LICMPass(LICMOptions()));
  Passes.addPass(createFunctionToLoopPassAdaptor(std::move(Loops), true));
}

// Scalar code made simpler: what LLVM does at its highest level inside one function.
void addSimplification(FunctionPassManager &Passes, bool IsGpu) {
  Passes.addPass(SimplifyCFGPass(SimplifyCFGOptions()));
  Passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  Passes.addPass(EarlyCSEPass(true));
  if (IsGpu)
    Passes.addPass(SpeculativeExecutionPass(/*OnlyIfDivergentTarget=*/true));
  Passes.addPass(JumpThreadingPass());
  Passes.addPass(CorrelatedValuePropagationPass());
  Passes.addPass(SimplifyCFGPass(switches()));
  addCombining(Passes);
  Passes.addPass(ReassociatePass());
  Passes.addPass(ConstraintEliminationPass());
  addLoopPasses(Passes);
  Passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  Passes.addPass(VectorCombinePass(/*TryEarlyFoldsOnly=*/true));
  Passes.addPass(MergedLoadStoreMotionPass());
  Passes.addPass(GVNPass());
  Passes.addPass(SCCPPass());
  Passes.addPass(BDCEPass());
  addCombining(Passes);
  Passes.addPass(JumpThreadingPass());
  Passes.addPass(CorrelatedValuePropagationPass());
  Passes.addPass(ADCEPass());
  Passes.addPass(MemCpyOptPass());
  Passes.addPass(DSEPass());
  addHoisting(Passes);
  Passes.addPass(SimplifyCFGPass(switches().convertSwitchToArithmetic(true).hoistCommonInsts(true).sinkCommonInsts(true)));
  addCombining(Passes);
}

// Loops and neighbouring values into vectors, for CPUs.
void addVectorisation(FunctionPassManager &Passes) {
  Passes.addPass(LoopVectorizePass(LoopVectorizeOptions()));
  Passes.addPass(InferAlignmentPass());
  Passes.addPass(LoopLoadEliminationPass());
  addCombining(Passes);
  Passes.addPass(SimplifyCFGPass(switches()
                                     .forwardSwitchCondToPhi(true)
                                     .convertSwitchToArithmetic(true)
                                     .convertSwitchToLookupTable(true)
                                     .needCanonicalLoops(false)
                                     .hoistCommonInsts(true)
                                     .sinkCommonInsts(true)));
  Passes.addPass(SLPVectorizerPass());
  Passes.addPass(VectorCombinePass());
  addCombining(Passes);
}

// Scalar code in the form that code is generated from.
void addLowering(FunctionPassManager &Passes, bool IsGpu) {
  if (IsGpu)
    Passes.addPass(AskToUnrollPass());
  Passes.addPass(LoopUnrollPass(LoopUnrollOptions(3)));
  Passes.addPass(SROAPass(SROAOptions::PreserveCFG));
  Passes.addPass(InferAlignmentPass());
  addCombining(Passes);
  addHoisting(Passes);
  Passes.addPass(LoopSinkPass());
  Passes.addPass(InstSimplifyPass());
  Passes.addPass(DivRemPairsPass());
  Passes.addPass(SimplifyCFGPass(
      switches().convertSwitchToArithmetic(true).speculateUnpredictables(true).hoistLoadsStoresWithCondFaulting(true)));
}

FunctionPassManager scalarPasses(bool IsGpu) {
  FunctionPassManager Passes;
  addSimplification(Passes, IsGpu);
  LoopPassManager Rotation;
  Rotation.addPass(LoopRotatePass());
  Rotation.addPass(LoopDeletionPass());
  Passes.addPass(createFunctionToLoopPassAdaptor(std::move(Rotation)));
  if (!IsGpu)
    addVectorisation(Passes);
  else {
    Passes.addPass(InferAlignmentPass());
    Passes.addPass(SimplifyCFGPass(switches().needCanonicalLoops(false).hoistCommonInsts(true).sinkCommonInsts(true)));
    addCombining(Passes);
  }
  addLowering(Passes, IsGpu);
  return Passes;
}

// Many passes, and the selection of instructions, take time that grows with the square of a function's blocks, or of the instructions of one of them. No loop is hot in code
// that is this long, so that it gets the passes of functions that seldom run, and instructions without a search for the best ones.
constexpr unsigned ManyBlocks = 1200, ManyInstructions = 60000, ManyInOneBlock = 5000;

bool isHuge(const Function &F) {
  auto IsLong = [](const BasicBlock &Block) { return Block.size() > ManyInOneBlock; };
  return F.size() > ManyBlocks || F.getInstructionCount() > ManyInstructions || any_of(F, IsLong);
}

void selectQuickly(Function &F) {
  F.addFnAttr(Attribute::OptimizeNone);
  F.addFnAttr(Attribute::NoInline);
}

bool holdsVectors(Function &F) {
  for (BasicBlock &Block : F)
    for (Instruction &I : Block)
      if (I.getType()->isVectorTy())
        return true;
  return false;
}

// Does it call a function of the module that is not a rare one, or hand one to the runtime, which runs it?
bool startsOther(const Instruction &I) {
  auto IsOther = [](const Value *V) {
    auto *F = dyn_cast<Function>(V);
    return F && !F->isDeclaration() && !F->hasFnAttribute(Attribute::Cold);
  };
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && any_of(Call->operands(), [&](const Use &U) { return IsOther(U.get()); });
}

bool startsOther(const Loop &L) {
  return any_of(L.blocks(), [](const BasicBlock *Block) { return any_of(*Block, [](const Instruction &I) { return startsOther(I); }); });
}

// Are there loops, and do all innermost ones start other functions, where the time goes then? Statements on whole arrays are such code.
bool innermostLoopsStartOthers(const LoopInfo &Loops) {
  return !Loops.empty() && all_of(Loops.getLoopsInPreorder(), [](const Loop *L) { return !L->isInnermost() || startsOther(*L); });
}

bool isOfLocal(const LoadInst &Load) { return isa<AllocaInst>(Load.getPointerOperand()); }

// Does it compute with floats, or with what it takes from memory? Copies and what counts their elements do not.
bool computes(const Instruction &I) {
  if (isa<LoadInst, StoreInst, PHINode, SelectInst>(I))
    return false;
  return any_of(I.operands(), [](const Use &U) {
    auto *Load = dyn_cast<LoadInst>(U.get());
    return U->getType()->isFloatingPointTy() || (Load && !isOfLocal(*Load));
  });
}

// A loop of the program's own, one element after the other, that LLVM may make vectors of.
bool isScalarWork(const Loop &L) {
  auto IsVector = [](const Instruction &I) { return I.getType()->isVectorTy(); };
  return L.isInnermost() && none_of(L.blocks(), [&](const BasicBlock *Block) { return any_of(*Block, IsVector); }) &&
         any_of(L.blocks(), [](const BasicBlock *Block) { return any_of(*Block, computes); });
}

// Statements on whole arrays are gangs that were inlined; loops may stand beside them.
bool hasScalarWork(const LoopInfo &Loops) { return any_of(Loops.getLoopsInPreorder(), [](const Loop *L) { return isScalarWork(*L); }); }

// Floats that a loop computes with and that are known when it is compiled.
unsigned constantsIn(const Loop &L) {
  SmallPtrSet<const Value *, 32> Constants;
  for (const BasicBlock *Block : L.blocks())
    for (const Instruction &I : *Block)
      for (const Value *Operand : I.operands())
        if (isa<Constant>(Operand) && Operand->getType()->isFPOrFPVectorTy())
          Constants.insert(Operand);
  return Constants.size();
}

// As many constants in a loop leave registers for nothing else.
constexpr unsigned ManyConstants = 16;

// Do all loops that hold no loop hold many constants, as polynomials have them?
bool isFullOfConstants(const LoopInfo &Loops) {
  return all_of(Loops.getLoopsInPreorder(), [](const Loop *L) { return !L->isInnermost() || constantsIn(*L) >= ManyConstants; });
}

// Keeps the code generator from moving constants out of loops that are full of them: they do not fit the registers, and the register allocator takes its time to put them back.
class ConstantsStay : public OptPassGate {
public:
  bool isEnabled() const override { return true; }
  bool shouldRunPass(StringRef Pass, StringRef) const override { return Pass != "Early Machine Loop Invariant Code Motion"; }
};

} // namespace

// As `Pipeline` in pipeline.rs.
enum Pipeline : int { Gang, Scalar, Simt };

extern "C" void weft_llvm_optimize(LLVMModuleRef module, LLVMTargetMachineRef machine, int pipeline) {
  Module &M = *unwrap(module);
  bool IsGpu = pipeline == Simt;
  registerExactLoads();
  Analyses All(M, *reinterpret_cast<TargetMachine *>(machine), IsGpu);
  AlwaysInlinerPass(/*InsertLifetime=*/false).run(M, All.Modules);
  FunctionPassManager ForGangs = gangPasses(), ForScalars = scalarPasses(IsGpu), ForRare = rarePasses();
  bool AllFull = !IsGpu;
  for (Function &F : M) {
    if (F.isDeclaration())
      continue;
    bool IsHuge = isHuge(F), IsRare = IsHuge || F.hasFnAttribute(Attribute::Cold);
    bool IsGang = pipeline == Gang || (pipeline == Scalar && holdsVectors(F) && !hasScalarWork(All.Functions.getResult<LoopAnalysis>(F)));
    bool IsSmall = IsGang || (!IsGpu && innermostLoopsStartOthers(All.Functions.getResult<LoopAnalysis>(F)));
    (IsRare ? ForRare : IsSmall ? ForGangs : ForScalars).run(F, All.Functions);
    AllFull &= IsRare || (IsGang && isFullOfConstants(All.Functions.getResult<LoopAnalysis>(F)));
    All.Functions.clear(F, F.getName());
    if (IsHuge && !IsGpu && !IsGang)
      selectQuickly(F);
  }
  static ConstantsStay Gate;
  if (AllFull)
    M.getContext().setOptPassGate(Gate);
}
