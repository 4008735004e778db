// Loops that read memory, made to have several reads under way at once.
#pragma once

#include "llvm/IR/PassManager.h"

namespace llvm {

// Asks for the short innermost loops of a GPU's thread that read memory to be unrolled, however often they run. LLVM's own pass does what it is asked for.
struct AskToUnrollPass : PassInfoMixin<AskToUnrollPass> {
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &Functions);
};

} // namespace llvm
