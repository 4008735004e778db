// Has every later code generation for a GPU read no element that the program does not read.
void registerExactLoads();
