// The CPU limit for the haversine mesh: hand-written vector code with Intel's SVML.
// SVML is proprietary: a yardstick only, never a dependency. It comes with PyPI's icc-rt and intel-cmplr-lib-rt.
// out[y, x] = s * atan2(a, 1 - a), a = sin^2(0.008726645 (lat2 - lat1)) + cos(0.01745329 lat1) cos(0.01745329 lat2) sin^2(0.008726645 (lon2 - lon1)),
// lat1 from xb to xe over x, lon1 from yb to ye over y, both ends included. Angles in degrees.
//
// Every point computes its two sines, cosine and arc tangent, as an element-wise function of two broadcast inputs does.
#include <immintrin.h>
#include <math.h>
#include <stddef.h>

#if defined(__AVX512F__)

enum { LANES = 8 };
typedef __m512d vec;
vec __svml_sin8(vec);
vec __svml_cos8(vec);
vec __svml_atan28(vec, vec);
#define SIN __svml_sin8
#define COS __svml_cos8
#define ATAN2 __svml_atan28
static inline vec splat(double x) { return _mm512_set1_pd(x); }
static inline vec lanes(void) { return _mm512_set_pd(7, 6, 5, 4, 3, 2, 1, 0); }
static inline vec fma_(vec a, vec b, vec c) { return _mm512_fmadd_pd(a, b, c); }
static inline void store(double *p, vec v) { _mm512_storeu_pd(p, v); }

#elif defined(__AVX2__) && defined(__FMA__)

enum { LANES = 4 };
typedef __m256d vec;
vec __svml_sin4(vec);
vec __svml_cos4(vec);
vec __svml_atan24(vec, vec);
#define SIN __svml_sin4
#define COS __svml_cos4
#define ATAN2 __svml_atan24
static inline vec splat(double x) { return _mm256_set1_pd(x); }
static inline vec lanes(void) { return _mm256_set_pd(3, 2, 1, 0); }
static inline vec fma_(vec a, vec b, vec c) { return _mm256_fmadd_pd(a, b, c); }
static inline void store(double *p, vec v) { _mm256_storeu_pd(p, v); }

#else
#error "no hand-written limit for this machine's vector unit yet"
#endif

void haversine_svml(double lat2, double lon2, double xb, double xe, double yb, double ye, double s, int nx, int ny, double *restrict out) {
  double dx = (xe - xb) / (nx - 1), dy = (ye - yb) / (ny - 1), c2 = cos(0.01745329 * lat2);
  const vec half = splat(0.008726645), degree = splat(0.01745329), one = splat(1);
#pragma omp parallel for schedule(static)
  for (int y = 0; y < ny; y++) {
    double lon1 = dy * y + yb;
    for (int x = 0; x < nx; x += LANES) {
      vec lat1 = fma_(splat(x) + lanes(), splat(dx), splat(xb));
      vec p = SIN(half * (splat(lat2) - lat1));
      vec q = SIN(half * splat(lon2 - lon1));
      vec a = fma_(p, p, COS(degree * lat1) * splat(c2) * (q * q));
      vec r = ATAN2(a, one - a) * splat(s);
      if (x + LANES <= nx) {
        store(out + (size_t)y * nx + x, r);
      } else {
        double tail[LANES];
        store(tail, r);
        for (int q = 0; x + q < nx; q++) out[(size_t)y * nx + x + q] = tail[q];
      }
    }
  }
}
