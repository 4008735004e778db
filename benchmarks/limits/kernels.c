// The block kernels as plain C with OpenMP, for orientation: what a compiler makes of the obvious loops.
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

void histogram_u8(const uint8_t *data, ptrdiff_t n, int64_t *bins) {
  memset(bins, 0, 256 * sizeof *bins);
#pragma omp parallel
  {
    int64_t mine[256] = {0};
#pragma omp for schedule(static)
    for (ptrdiff_t i = 0; i < n; i++) mine[data[i]]++;
#pragma omp critical
    for (int b = 0; b < 256; b++) bins[b] += mine[b];
  }
}

// Accelerations of n bodies of mass m at (x, y, z), softened by eps: sum of m_j (r_j - r_i) / (|r_j - r_i|^2 + eps)^(3/2).
void nbody_f32(const float *restrict x, const float *restrict y, const float *restrict z, const float *restrict m, float eps, int n,
               float *restrict ax, float *restrict ay, float *restrict az) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < n; i++) {
    float sx = 0, sy = 0, sz = 0;
#pragma clang loop vectorize(enable)
    for (int j = 0; j < n; j++) {
      float dx = x[j] - x[i], dy = y[j] - y[i], dz = z[j] - z[i];
      float r2 = dx * dx + dy * dy + dz * dz + eps;
      float f = m[j] / (r2 * sqrtf(r2));
      sx += dx * f;
      sy += dy * f;
      sz += dz * f;
    }
    ax[i] = sx;
    ay[i] = sy;
    az[i] = sz;
  }
}

// c = a b, all n x n, rows contiguous; blocked so that a block of b stays in the cache.
void matmul_f32(const float *restrict a, const float *restrict b, float *restrict c, int n) {
  enum { BLOCK = 64 };
#pragma omp parallel for schedule(static)
  for (int i0 = 0; i0 < n; i0 += BLOCK) {
    int i1 = i0 + BLOCK < n ? i0 + BLOCK : n;
    memset(c + (size_t)i0 * n, 0, sizeof(float) * (size_t)(i1 - i0) * n);
    for (int k0 = 0; k0 < n; k0 += BLOCK)
      for (int i = i0; i < i1; i++)
        for (int k = k0; k < (k0 + BLOCK < n ? k0 + BLOCK : n); k++) {
          float f = a[(size_t)i * n + k];
          for (int j = 0; j < n; j++) c[(size_t)i * n + j] += f * b[(size_t)k * n + j];
        }
  }
}
