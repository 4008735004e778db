// The CPU limit for Mandelbrot: the best that hand-written vector code reaches on this machine's widest registers.
// Pixel (row j, column i) is c = x0 + i*(x1-x0)/w + 1i*(y0 + j*(y1-y0)/h); out is the iteration at which |z|^2 >= 4, else iters.
//
// Several variants are exported, because which is fastest depends on the machine; the benchmark times them all and calls the fastest one the limit.
//   mandelbrot_count_U   each lane counts its iterations; one test an iteration (any lane live)
//   mandelbrot_lazy_U    the uniform counter is blended into the result only in iterations where some lane leaves
// U is the number of vectors in flight, which hides the latency of the chain multiply - add - fused multiply-add.
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define UNROLL _Pragma("unroll")
#define UNLIKELY(x) __builtin_expect((x), 0)

#if defined(__AVX512F__)

enum { LANES = 8 };
typedef __m512d vec;
typedef __m512i ivec;
typedef __mmask8 mask;
static inline vec splat(double x) { return _mm512_set1_pd(x); }
static inline ivec isplat(int64_t x) { return _mm512_set1_epi64(x); }
static inline vec lanes(void) { return _mm512_set_pd(7, 6, 5, 4, 3, 2, 1, 0); }
static inline vec fma_(vec a, vec b, vec c) { return _mm512_fmadd_pd(a, b, c); }
static inline vec fms_(vec a, vec b, vec c) { return _mm512_fmsub_pd(a, b, c); }
static inline mask ones(void) { return 0xff; }
static inline mask none(void) { return 0; }
static inline mask below(vec a, vec b, mask on) { return _mm512_mask_cmp_pd_mask(on, a, b, _CMP_LT_OQ); }
static inline mask reached(vec a, vec b, mask on) { return _mm512_mask_cmp_pd_mask(on, a, b, _CMP_GE_OQ); }
static inline mask or_(mask a, mask b) { return a | b; }
static inline mask minus(mask a, mask b) { return a & ~b; }
static inline int any(mask m) { return m != 0; }
static inline ivec count(ivec n, mask on) { return _mm512_mask_add_epi64(n, on, n, _mm512_set1_epi64(1)); }
static inline ivec blend(ivec old, ivec new, mask on) { return _mm512_mask_mov_epi64(old, on, new); }

#elif defined(__AVX2__) && defined(__FMA__)

enum { LANES = 4 };
typedef __m256d vec;
typedef __m256i ivec;
typedef __m256d mask;
static inline vec splat(double x) { return _mm256_set1_pd(x); }
static inline ivec isplat(int64_t x) { return _mm256_set1_epi64x(x); }
static inline vec lanes(void) { return _mm256_set_pd(3, 2, 1, 0); }
static inline vec fma_(vec a, vec b, vec c) { return _mm256_fmadd_pd(a, b, c); }
static inline vec fms_(vec a, vec b, vec c) { return _mm256_fmsub_pd(a, b, c); }
static inline mask ones(void) { return _mm256_castsi256_pd(_mm256_set1_epi64x(-1)); }
static inline mask none(void) { return _mm256_setzero_pd(); }
static inline mask below(vec a, vec b, mask on) { return _mm256_and_pd(on, _mm256_cmp_pd(a, b, _CMP_LT_OQ)); }
static inline mask reached(vec a, vec b, mask on) { return _mm256_and_pd(on, _mm256_cmp_pd(a, b, _CMP_GE_OQ)); }
static inline mask or_(mask a, mask b) { return _mm256_or_pd(a, b); }
static inline mask minus(mask a, mask b) { return _mm256_andnot_pd(b, a); }
static inline int any(mask m) { return !_mm256_testz_pd(m, m); }
static inline ivec count(ivec n, mask on) { return _mm256_sub_epi64(n, _mm256_castpd_si256(on)); }
static inline ivec blend(ivec old, ivec new, mask on) {
  return _mm256_castpd_si256(_mm256_blendv_pd(_mm256_castsi256_pd(old), _mm256_castsi256_pd(new), on));
}

#else
#error "no hand-written limit for this machine's vector unit yet"
#endif

static inline void store(int32_t *out, ivec n, int left) {
  int64_t lane[LANES];
  __builtin_memcpy(lane, &n, sizeof lane);
  for (int q = 0; q < LANES && q < left; q++) out[q] = (int32_t)lane[q];
}

// One iteration of vector u: z = z*z + c, then |z|^2, in fused steps.
#define STEP(u)                                                     \
  vec t = fma_(zr[u] + zr[u], zi[u], ci);                           \
  zr[u] = fms_(zr[u], zr[u], zi[u] * zi[u]) + cr[u];                \
  zi[u] = t;                                                        \
  vec mag = fma_(zi[u], zi[u], zr[u] * zr[u]);

#define START(u)                                                                                    \
  cr[u] = fma_(splat(i + LANES * (u)) + lanes(), splat(dx), splat(x0));                             \
  zr[u] = zi[u] = splat(0);                                                                         \
  live[u] = ones();

#define COUNT_ROW(U)                                                                                            \
  static void count_row_##U(double x0, double dx, double y, int w, int iters, int32_t *out) {                   \
    vec ci = splat(y), four = splat(4);                                                                         \
    for (int i = 0; i < w; i += LANES * U) {                                                                    \
      vec cr[U], zr[U], zi[U];                                                                                  \
      ivec n[U];                                                                                                \
      mask live[U];                                                                                             \
      UNROLL for (int u = 0; u < U; u++) { START(u) n[u] = isplat(0); }                                         \
      for (int k = 0; k < iters; k++) {                                                                         \
        mask some = none();                                                                                     \
        UNROLL for (int u = 0; u < U; u++) {                                                                    \
          STEP(u)                                                                                               \
          live[u] = below(mag, four, live[u]);                                                                  \
          n[u] = count(n[u], live[u]);                                                                          \
          some = or_(some, live[u]);                                                                            \
        }                                                                                                       \
        if (UNLIKELY(!any(some))) break;                                                                        \
      }                                                                                                         \
      UNROLL for (int u = 0; u < U; u++) store(out + i + LANES * u, n[u], w - (i + LANES * u));                 \
    }                                                                                                           \
  }

#define LAZY_ROW(U)                                                                                             \
  static void lazy_row_##U(double x0, double dx, double y, int w, int iters, int32_t *out) {                    \
    vec ci = splat(y), four = splat(4);                                                                         \
    for (int i = 0; i < w; i += LANES * U) {                                                                    \
      vec cr[U], zr[U], zi[U];                                                                                  \
      ivec n[U];                                                                                                \
      mask live[U];                                                                                             \
      UNROLL for (int u = 0; u < U; u++) { START(u) n[u] = isplat(iters); }                                     \
      for (int k = 0; k < iters; k++) {                                                                         \
        mask leaves[U], some = none();                                                                          \
        UNROLL for (int u = 0; u < U; u++) {                                                                    \
          STEP(u)                                                                                               \
          leaves[u] = reached(mag, four, live[u]);                                                              \
          some = or_(some, leaves[u]);                                                                          \
        }                                                                                                       \
        if (UNLIKELY(any(some))) {                                                                              \
          mask left = none();                                                                                   \
          UNROLL for (int u = 0; u < U; u++) {                                                                  \
            n[u] = blend(n[u], isplat(k), leaves[u]);                                                           \
            live[u] = minus(live[u], leaves[u]);                                                                \
            left = or_(left, live[u]);                                                                          \
          }                                                                                                     \
          if (!any(left)) break;                                                                                \
        }                                                                                                       \
      }                                                                                                         \
      UNROLL for (int u = 0; u < U; u++) store(out + i + LANES * u, n[u], w - (i + LANES * u));                 \
    }                                                                                                           \
  }

// Rows of the picture on OpenMP threads.
#define PICTURE(kind, U)                                                                                        \
  void mandelbrot_##kind##_##U(double x0, double x1, double y0, double y1, int w, int h, int iters, int32_t *out) { \
    double dx = (x1 - x0) / w, dy = (y1 - y0) / h;                                                              \
    _Pragma("omp parallel for schedule(dynamic, 4)") for (int j = 0; j < h; j++)                                \
        kind##_row_##U(x0, dx, y0 + j * dy, w, iters, out + (size_t)j * w);                                     \
  }

#define VARIANTS(U) COUNT_ROW(U) LAZY_ROW(U) PICTURE(count, U) PICTURE(lazy, U)
VARIANTS(1)
VARIANTS(2)
VARIANTS(3)
VARIANTS(4)
VARIANTS(5)
