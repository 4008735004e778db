// Loops bound by memory, as plain C with OpenMP: what the compiler and the machine move without any care.
#include <stddef.h>

void saxpy_f32(float a, const float *restrict x, float *restrict y, ptrdiff_t n) {
#pragma omp parallel for schedule(static)
  for (ptrdiff_t i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}

void triad_f64(double s, const double *restrict b, const double *restrict c, double *restrict a, ptrdiff_t n) {
#pragma omp parallel for schedule(static)
  for (ptrdiff_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}
