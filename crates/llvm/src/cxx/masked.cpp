// Masked loads that stay where they are.
//
// InstCombine of LLVM 22 makes one masked load of `select(mask, masked load, other)`, at the place of the select: behind stores to the same memory that stood between the two,
// whose elements it then reads. (`if x[i] > 0: v = y[i]; y[i] = 0.0` and `v` read behind it, in a loop that becomes vectors.) Loads that
// something is stored behind, or that other blocks use, are frozen first: that changes no number, and InstCombine does not look through it.
#include "masked.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {

bool isMaskedLoad(const Instruction &I) {
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  return Call && Call->getIntrinsicID() == Intrinsic::masked_load;
}

bool isFrozen(const Instruction &Load) { return all_of(Load.users(), [](const User *U) { return isa<FreezeInst>(U); }); }

bool isUsedElsewhere(const Instruction &Load) {
  return any_of(Load.users(), [&](const User *U) { return isa<PHINode>(U) || cast<Instruction>(U)->getParent() != Load.getParent(); });
}

void freeze(Instruction &Load) {
  auto *Frozen = new FreezeInst(&Load, "", std::next(Load.getIterator()));
  Load.replaceUsesWithIf(Frozen, [&](const Use &U) { return U.getUser() != Frozen; });
}

} // namespace

PreservedAnalyses MaskedLoadsStayPass::run(Function &F, FunctionAnalysisManager &) {
  SmallVector<Instruction *, 8> Movable;
  for (BasicBlock &Block : F) {
    bool IsWritten = false;
    for (Instruction &I : reverse(Block)) {
      if (isMaskedLoad(I) && !isFrozen(I) && (IsWritten || isUsedElsewhere(I)))
        Movable.push_back(&I);
      IsWritten |= I.mayWriteToMemory();
    }
  }
  for (Instruction *Load : Movable)
    freeze(*Load);
  if (Movable.empty())
    return PreservedAnalyses::all();
  PreservedAnalyses Kept;
  Kept.preserveSet<CFGAnalyses>();
  return Kept;
}
