// What LLVM's static libraries ask of zlib and zstd. LLVM calls these only to read or write compressed debug sections, which Weft
// never has; each of them therefore answers that it cannot, and no compression library is needed to build or run Weft.
// The checksum is the real one, since LLVM uses it outside compression too.
#include <stddef.h>
#include <stdint.h>

enum { Z_MEM_ERROR = -4 };

int compress2(unsigned char *to, unsigned long *to_size, const unsigned char *from, unsigned long size, int level) {
  (void)to, (void)to_size, (void)from, (void)size, (void)level;
  return Z_MEM_ERROR;
}
unsigned long compressBound(unsigned long size) { return size; }
int uncompress(unsigned char *to, unsigned long *to_size, const unsigned char *from, unsigned long size) {
  (void)to, (void)to_size, (void)from, (void)size;
  return Z_MEM_ERROR;
}

unsigned long crc32(unsigned long crc, const unsigned char *bytes, unsigned size) {
  uint32_t c = ~(uint32_t)crc;
  for (unsigned i = 0; i < size; i++) {
    c ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0);
  }
  return (uint32_t)~c;
}

static const size_t ZSTD_error = (size_t)-1;
void *ZSTD_createCCtx(void) { return NULL; }
size_t ZSTD_freeCCtx(void *context) { return (void)context, 0; }
size_t ZSTD_CCtx_setParameter(void *context, int parameter, int value) { return (void)context, (void)parameter, (void)value, ZSTD_error; }
size_t ZSTD_compress2(void *context, void *to, size_t to_size, const void *from, size_t size) {
  (void)context, (void)to, (void)to_size, (void)from, (void)size;
  return ZSTD_error;
}
size_t ZSTD_compressBound(size_t size) { return size; }
size_t ZSTD_decompress(void *to, size_t to_size, const void *from, size_t size) { return (void)to, (void)to_size, (void)from, (void)size, ZSTD_error; }
unsigned ZSTD_isError(size_t code) { return code == ZSTD_error; }
const char *ZSTD_getErrorName(size_t code) { return (void)code, "compression is not built in"; }
