// Flushes of known lines, by instructions and by marks; prints their addresses, in their order, and whether
// they leave the cache.
#include <cxloom/persist.h>
#include <cxloom/roi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLines = 16 };
static char lines[64 * kLines] __attribute__((aligned(64)));
static struct {
  const char* line;
  char kind;
} told[256];
static unsigned count;

static void tell(const void* line, char kind) {
  told[count].line = line;
  told[count++].kind = kind;
}

// Told beforehand, so that the instructions of a form stand alone.
static void tell_all(char kind) {
  for (int i = 0; i < kLines; ++i) tell(lines + 64 * i, kind);
}

static void by_instructions(char** pointers) {
  tell_all('K');
  for (char* line = lines; line < lines + sizeof lines; line += 64)
    __asm__ __volatile__("clwb (%0)" : : "r"(line) : "memory");
  tell_all('F');
  for (long i = 0; i < kLines; ++i)
    __asm__ __volatile__("clflushopt (%0,%1,8)" : : "r"(lines), "r"(8 * i) : "memory");
  tell_all('F');
  for (int i = 0; i < kLines; ++i) __asm__ __volatile__("clflush (%0)" : : "r"(pointers[i]) : "memory");
  __asm__ __volatile__("sfence" : : : "memory");
  tell(lines + 128, 'K');
  tell(lines + 192, 'K');
  tell(lines, 'F');
  __asm__ __volatile__("clwb 128(%0)\n\tclwb 192(%0)\n\tclflush %1" : : "r"(lines), "m"(lines[0]) : "memory");
  __asm__ __volatile__("mfence" : : : "memory");
  // The pointer is moved on before and behind them, with no access between.
  tell(lines + 64, 'K');
  tell(lines + 256, 'F');
  tell(lines + 192, 'K');
  char* line = lines;
  __asm__ __volatile__(
      "addq $64, %0\n\tclwb (%0)\n\tclflushopt %1\n\tleaq 128(%0), %0\n\tclwb (%0)\n\tsubq $64, %0"
      : "+&r"(line)
      : "m"(lines[256])
      : "memory", "cc");
}

static void by_marks(void) {
  tell_all('K');
  cxloom_flush(lines + 63, 64 * (kLines - 2) + 2);  // a byte of the first and of the last
  tell_all('F');
  cxloom_flush_out(lines, sizeof lines);
  cxloom_fence();
  tell(lines + 64, 'K');
  cxloom_persist(lines + 100, 8);
  cxloom_persist(lines, 0);
  cxloom_fence();  // there is nothing to wait for
}

// The register is changed before the flush and behind it, with no access between.
static void unknown(void) {
  char* line = lines;
  __asm__ __volatile__("addq $64, %0\n\tclwb (%0)\n\tshlq $1, %0" : "+r"(line) : : "memory", "cc");
}

int main(int argc, char** argv) {
  char* pointers[kLines];
  for (int i = 0; i < kLines; ++i) pointers[i] = lines + 64 * i;
  cxloom_roi_begin();
  if (argc > 1 && strcmp(argv[1], "instructions") == 0) by_instructions(pointers);
  if (argc > 1 && strcmp(argv[1], "marks") == 0) by_marks();
  if (argc > 1 && strcmp(argv[1], "unknown") == 0) unknown();
  cxloom_roi_end();
  for (unsigned i = 0; i < count; ++i) printf("%p %c\n", (const void*)told[i].line, told[i].kind);
  return 0;
}
