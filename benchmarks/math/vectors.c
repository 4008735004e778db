// Loops over the vector functions of Intel's SVML and of glibc's libmvec, called directly: one hardware vector at a time, as a compiler that
// vectorises a loop for this machine would call them. SVML is proprietary: a yardstick only, never a dependency.
//
// Built three times: with -DFAMILY=1 for SVML's default accuracy (at most 4 ULP), 2 for its high accuracy (at most 1 ULP), 3 for libmvec. Every function
// becomes `<name>_f64(x, out, n, passes)` and `<name>_f32`, or with a second input `(x, y, out, n, passes)`. n is a multiple of 64.
#include <immintrin.h>

#if defined(__AVX512F__)
typedef __m512d wide;
typedef __m512 narrow;
#define LANES64 8
#define LANES32 16
#define ISA e
#else
typedef __m256d wide;
typedef __m256 narrow;
#define LANES64 4
#define LANES32 8
#define ISA d
#endif

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
#define SYMBOL_(a, b, c, d, e) a##b##c##d##e
#define SYMBOL(a, b, c, d, e) SYMBOL_(a, b, c, d, e)

#if FAMILY == 1
#define UNARY64(name) SYMBOL(__svml_, name, LANES64, , )
#define UNARY32(name) SYMBOL(__svml_, name, f, LANES32, )
#define BINARY64 UNARY64
#define BINARY32 UNARY32
#elif FAMILY == 2
#define UNARY64(name) SYMBOL(__svml_, name, LANES64, _ha, )
#define UNARY32(name) SYMBOL(__svml_, name, f, LANES32, _ha)
#define BINARY64 UNARY64
#define BINARY32 UNARY32
#else
#define UNARY64(name) SYMBOL(PASTE(_ZGV, ISA), N, PASTE(LANES64, v_), name, )
#define UNARY32(name) SYMBOL(PASTE(_ZGV, ISA), N, PASTE(LANES32, v_), name, f)
#define BINARY64(name) SYMBOL(PASTE(_ZGV, ISA), N, PASTE(LANES64, vv_), name, )
#define BINARY32(name) SYMBOL(PASTE(_ZGV, ISA), N, PASTE(LANES32, vv_), name, f)
#endif

#define LOOP1(symbol, out_name, number, vector, lanes)                                     \
  vector symbol(vector);                                                                   \
  void out_name(const number *x, number *out, long n, long passes) {                       \
    for (long pass = 0; pass < passes; pass++)                                             \
      for (long i = 0; i < n; i += lanes) *(vector *)(out + i) = symbol(*(vector *)(x + i)); \
  }
#define LOOP2(symbol, out_name, number, vector, lanes)                                                            \
  vector symbol(vector, vector);                                                                                  \
  void out_name(const number *x, const number *y, number *out, long n, long passes) {                             \
    for (long pass = 0; pass < passes; pass++)                                                                    \
      for (long i = 0; i < n; i += lanes) *(vector *)(out + i) = symbol(*(vector *)(x + i), *(vector *)(y + i));    \
  }

#define ONE(name)                                                          \
  LOOP1(UNARY64(name), PASTE(name, _f64), double, wide, LANES64)           \
  LOOP1(UNARY32(name), PASTE(name, _f32), float, narrow, LANES32)
#define TWO(name)                                                          \
  LOOP2(BINARY64(name), PASTE(name, _f64), double, wide, LANES64)          \
  LOOP2(BINARY32(name), PASTE(name, _f32), float, narrow, LANES32)

ONE(sin)
ONE(cos)
ONE(tan)
ONE(asin)
ONE(acos)
ONE(atan)
ONE(sinh)
ONE(cosh)
ONE(tanh)
ONE(asinh)
ONE(acosh)
ONE(atanh)
ONE(exp)
ONE(exp2)
ONE(exp10)
ONE(expm1)
ONE(log)
ONE(log2)
ONE(log10)
ONE(log1p)
ONE(cbrt)
ONE(erf)
ONE(erfc)
TWO(atan2)
TWO(pow)
TWO(hypot)
