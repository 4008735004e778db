// Loads for GPUs that read what the program reads and nothing behind it.
//
// LLVM makes vectors of neighbouring loads where alignment allows. Three elements it reads as four, one of which nobody asked for: aligned so it lies on the same page, but it
// may lie behind the end of the array, where memory checkers look and where it belongs to somebody else.
#include "loads.h"

#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/InitializePasses.h"
#include "llvm/Pass.h"
#include "llvm/PassRegistry.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Target/RegisterTargetPassConfigCallback.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;

namespace {

// A load of a vector, and up to which lane somebody wants it.
struct Wide {
  Instruction *Load;
  Value *Address;
  FixedVectorType *Type;
  Align Alignment;
  unsigned Lanes;
};

// The lanes that a mask known when it is compiled lets through, up to the last one.
unsigned lanesOf(const Constant *Mask, unsigned Most) {
  unsigned Lanes = 0;
  for (unsigned Lane = 0; Lane < Most; ++Lane) {
    const Constant *Bit = Mask->getAggregateElement(Lane);
    if (!Bit || !Bit->isNullValue())
      Lanes = Lane + 1;
  }
  return Lanes;
}

bool isWide(Instruction &I, Wide &Found) {
  auto *Type = dyn_cast<FixedVectorType>(I.getType());
  if (!Type)
    return false;
  unsigned All = Type->getNumElements();
  if (auto *Load = dyn_cast<LoadInst>(&I)) {
    Found = {Load, Load->getPointerOperand(), Type, Load->getAlign(), All};
    return Load->isSimple() && !isPowerOf2_32(All);
  }
  auto *Call = dyn_cast<IntrinsicInst>(&I);
  if (!Call || Call->getIntrinsicID() != Intrinsic::masked_load)
    return false;
  auto *Mask = dyn_cast<Constant>(Call->getArgOperand(1));
  if (!Mask || !isa<UndefValue>(Call->getArgOperand(2)))
    return false;
  Found = {Call, Call->getArgOperand(0), Type, Call->getParamAlign(0).valueOrOne(), lanesOf(Mask, All)};
  return Found.Lanes < All;
}

// Puts lanes from `First` on into the vector, as few powers of two at a time.
Value *filled(IRBuilder<> &Builder, const Wide &Of) {
  Type *Element = Of.Type->getElementType();
  uint64_t Bytes = Of.Load->getDataLayout().getTypeStoreSize(Element);
  Value *Whole = PoisonValue::get(Of.Type);
  for (unsigned First = 0; First < Of.Lanes;) {
    unsigned Count = bit_floor(Of.Lanes - First);
    Type *Part = Count == 1 ? Element : FixedVectorType::get(Element, Count);
    Value *At = First == 0 ? Of.Address : Builder.CreateConstInBoundsGEP1_64(Element, Of.Address, First);
    LoadInst *Load = Builder.CreateAlignedLoad(Part, At, commonAlignment(Of.Alignment, First * Bytes));
    Load->copyMetadata(*Of.Load);
    for (unsigned Lane = 0; Lane < Count; ++Lane) {
      Value *One = Count == 1 ? static_cast<Value *>(Load) : Builder.CreateExtractElement(Load, Lane);
      Whole = Builder.CreateInsertElement(Whole, One, First + Lane);
    }
    First += Count;
  }
  return Whole;
}

struct ExactLoads : FunctionPass {
  static char ID;
  ExactLoads() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Loads without unused ends"; }
  void getAnalysisUsage(AnalysisUsage &Usage) const override { Usage.setPreservesCFG(); }

  bool runOnFunction(Function &F) override {
    SmallVector<Wide, 8> All;
    Wide Found;
    for (Instruction &I : instructions(F))
      if (isWide(I, Found))
        All.push_back(Found);
    for (const Wide &One : All) {
      IRBuilder<> Builder(One.Load);
      One.Load->replaceAllUsesWith(filled(Builder, One));
      One.Load->eraseFromParent();
    }
    return !All.empty();
  }
};
char ExactLoads::ID;

void insertBehindVectoriser(TargetMachine &Machine, legacy::PassManagerBase &, TargetPassConfig *Passes) {
  if (!Machine.getTargetTriple().isNVPTX())
    return;
  PassRegistry &Registry = *PassRegistry::getPassRegistry();
  initializeLoadStoreVectorizerLegacyPassPass(Registry);
  if (const PassInfo *Vectoriser = Registry.getPassInfo(StringRef("load-store-vectorizer")))
    Passes->insertPass(Vectoriser->getTypeInfo(), IdentifyingPassPtr(new ExactLoads));
}

} // namespace

void registerExactLoads() {
  // LLVM asks it whenever it puts passes together, for as long as the process lives.
  static auto *Registered = new RegisterTargetPassConfigCallback(insertBehindVectoriser);
  (void)Registered;
}
