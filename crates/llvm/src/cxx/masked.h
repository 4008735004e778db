// Masked loads that stay where they are.
#pragma once

#include "llvm/IR/PassManager.h"

namespace llvm {

// Goes before every run of InstCombine.
struct MaskedLoadsStayPass : PassInfoMixin<MaskedLoadsStayPass> {
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &Functions);
};

} // namespace llvm
