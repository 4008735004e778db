// LLVM IR from text, and only from text: LLVM's C function for this would read its binary form too.
#include "llvm-c/Types.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBufferRef.h"
#include "llvm/Support/SourceMgr.h"

using namespace llvm;

// What is wrong with a text, and where (from 1).
struct Mistake {
  unsigned line, column;
  char *message;
};

// Null and a mistake, whose message is the caller's to free as LLVM's own, if the text (which ends with a null byte behind its length) is not LLVM IR.
extern "C" LLVMModuleRef weft_llvm_parse(LLVMContextRef context, const char *text, size_t length, Mistake *mistake) {
  SMDiagnostic Diagnostic;
  std::unique_ptr<Module> M = parseAssembly(MemoryBufferRef(StringRef(text, length), "weft"), Diagnostic, *unwrap(context));
  if (!M) {
    mistake->line = Diagnostic.getLineNo();
    mistake->column = Diagnostic.getColumnNo() + 1;
    mistake->message = strdup(Diagnostic.getMessage().str().c_str());
  }
  return wrap(M.release());
}
