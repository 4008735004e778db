// Loops that read memory, made to have several reads under way at once.
//
// A read of a GPU's memory takes hundreds of cycles, and a thread goes on until it needs what it reads: a loop whose turns each read one element and use it has one read under
// way. Unrolled, it has as many as there are copies, and what is computed of them stays in its order. LLVM unrolls only where it is cheap to know how often a loop will run, and
// only what it takes for small; here a division before the loop is worth it.
#include "unroll.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {

// Up to so many instructions a loop gets so many copies; longer ones have something to do while they read.
constexpr struct {
  unsigned Instructions, Copies;
} Sizes[] = {{14, 8}, {40, 4}};

// Does it read memory that is slow to read: a GPU's own, or any, as NVPTX numbers them, that is not the thread's.
bool isSlow(const LoadInst &Load) {
  unsigned Space = Load.getPointerAddressSpace();
  return Load.isSimple() && (Space == 1 || (Space == 0 && !isa<AllocaInst>(getUnderlyingObject(Load.getPointerOperand()))));
}

// How many copies a loop should have; 0 if it had better be left alone.
unsigned copiesOf(const Loop &L) {
  bool Reads = false;
  unsigned Instructions = 0;
  for (const Instruction &I : *L.getHeader()) {
    if (isa<PHINode>(I) || I.isDebugOrPseudoInst())
      continue;
    ++Instructions;
    if (auto *Call = dyn_cast<CallBase>(&I))
      if (Call->isConvergent() || !isa<IntrinsicInst>(Call))
        return 0;
    if (auto *Load = dyn_cast<LoadInst>(&I))
      Reads |= isSlow(*Load) && !L.isLoopInvariant(Load->getPointerOperand());
  }
  for (auto Size : Sizes)
    if (Reads && Instructions <= Size.Instructions)
      return Size.Copies;
  return 0;
}

// A loop goes on while its number and a step are below a bound. That the step is positive is known of its value, but not of the expression that LLVM counts turns with: it is
// made one that says so.
bool showStep(Loop &L, const DataLayout &Layout) {
  using namespace PatternMatch;
  auto *Jump = dyn_cast<BranchInst>(L.getHeader()->getTerminator());
  if (!Jump || !Jump->isConditional())
    return false;
  auto *Compare = dyn_cast<ICmpInst>(Jump->getCondition());
  if (!Compare)
    return false;
  for (Value *Side : Compare->operands()) {
    auto *Next = dyn_cast<BinaryOperator>(Side);
    Value *Number, *Step;
    if (!Next || !L.contains(Next) || !match(Next, m_NSWAdd(m_Value(Number), m_Value(Step))))
      continue;
    if (isa<PHINode>(Step) && L.contains(cast<PHINode>(Step)))
      std::swap(Number, Step);
    if (isa<Constant>(Step) || !L.isLoopInvariant(Step) || !isKnownPositive(Step, SimplifyQuery(Layout)))
      continue;
    Instruction *Behind = &*L.getHeader()->getParent()->getEntryBlock().getFirstInsertionPt();
    if (auto *Made = dyn_cast<Instruction>(Step)) {
      auto At = Made->getInsertionPointAfterDef();
      if (!At)
        continue;
      Behind = &**At;
    }
    Value *Shown = IRBuilder<>(Behind).CreateBinaryIntrinsic(Intrinsic::smax, Step, ConstantInt::get(Step->getType(), 1));
    Next->replaceUsesOfWith(Step, Shown);
    return true;
  }
  return false;
}

bool isCountable(const Loop &L, ScalarEvolution &Numbers) { return !isa<SCEVCouldNotCompute>(Numbers.getBackedgeTakenCount(&L)); }

bool ask(Loop &L, ScalarEvolution &Numbers, const DataLayout &Layout) {
  // Of one block, which is all that its turns do.
  if (!L.isInnermost() || L.getNumBlocks() != 1 || L.getLoopLatch() != L.getHeader() || findOptionMDForLoop(&L, "llvm.loop.unroll.disable"))
    return false;
  unsigned Copies = copiesOf(L);
  unsigned Most = Numbers.getSmallConstantMaxTripCount(&L);
  if (Copies == 0 || Numbers.getSmallConstantTripCount(&L) != 0 || (Most != 0 && Most < Copies))
    return false;
  bool Changed = false;
  if (!isCountable(L, Numbers)) {
    Changed = showStep(L, Layout);
    if (Changed)
      Numbers.forgetLoop(&L);
    if (!Changed || !isCountable(L, Numbers))
      return Changed;
  }
  addStringMetadataToLoop(&L, "llvm.loop.unroll.count", Copies);
  return true;
}

} // namespace

PreservedAnalyses AskToUnrollPass::run(Function &F, FunctionAnalysisManager &Functions) {
  auto &Loops = Functions.getResult<LoopAnalysis>(F);
  auto &Numbers = Functions.getResult<ScalarEvolutionAnalysis>(F);
  bool Changed = false;
  for (Loop *L : Loops.getLoopsInPreorder())
    Changed |= ask(*L, Numbers, F.getDataLayout());
  if (!Changed)
    return PreservedAnalyses::all();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  Kept.preserve<LoopAnalysis>();
  Kept.preserve<DominatorTreeAnalysis>();
  return Kept;
}
