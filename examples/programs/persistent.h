// What the programs with persistent memory share: a pool of it, and what makes its lines durable.
//
// The flushes are the marks of <cxloom/persist.h>; with -DINSTRUCTIONS they are those of the processor. They
// leave lines in the cache (clwb), with -DFLUSH_OUT they take them out (clflush). If PERSIST_HISTORY names a
// file, it gets all that is made durable, in its order: crash_program.py makes of it what memory holds when
// the power fails.
#ifndef CXLOOM_EXAMPLES_PERSISTENT_H
#define CXLOOM_EXAMPLES_PERSISTENT_H

#include <cxloom/persist.h>
#include <cxloom/roi.h>
#include <string.h>
#include <sys/mman.h>

#include "program.h"

enum { kLine = 64 };
// Always at the same place, so that its pointers hold when it is mapped again.
#define POOL_AT ((char*)0x10000000000)

static struct {
  uint64_t bytes;
  uint64_t taken;
  FILE* history;
} pool;

// An empty pool, all zero, as if somebody had mapped a file of persistent memory.
static inline void pool_open(uint64_t bytes) {
  bytes = (bytes + kLine - 1) / kLine * kLine;
  void* const memory = mmap(POOL_AT, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_POPULATE, -1, 0);
  if (memory != POOL_AT) {
    fprintf(stderr, "no room for a pool of persistent memory\n");
    exit(2);
  }
  pool.bytes = bytes;
  const char* const name = getenv("PERSIST_HISTORY");
  if (name != NULL && (pool.history = fopen(name, "wb")) == NULL) {
    fprintf(stderr, "cannot write %s\n", name);
    exit(2);
  }
}

// Whole lines that nobody else has.
static inline void* pool_take(uint64_t bytes) {
  bytes = (bytes + kLine - 1) / kLine * kLine;
  if (pool.taken + bytes > pool.bytes) {
    fprintf(stderr, "the pool of persistent memory is full\n");
    exit(2);
  }
  pool.taken += bytes;
  return POOL_AT + pool.taken - bytes;
}

// A word of the history: what happened, and where in the pool or which.
static inline void pool_note(char what, uint64_t number) {
  const uint64_t word = number << 8 | (unsigned char)what;
  fwrite(&word, sizeof word, 1, pool.history);
}

static inline void flush_line(const void* line) {
#if defined(INSTRUCTIONS) && defined(FLUSH_OUT)
  __asm__ __volatile__("clflushopt (%0)" : : "r"(line) : "memory");
#elif defined(INSTRUCTIONS)
  __asm__ __volatile__("clwb (%0)" : : "r"(line) : "memory");
#elif defined(FLUSH_OUT)
  cxloom_flush_out(line, 1);
#else
  cxloom_flush(line, 1);
#endif
}

// Begins to make these bytes durable: they are when the next fence is over.
static inline void flush(const void* address, uint64_t bytes) {
  const char* const end = (const char*)address + bytes;
  for (const char* line = (const char*)((uintptr_t)address & ~(uintptr_t)(kLine - 1)); line < end;
       line += kLine) {
    flush_line(line);
    if (__builtin_expect(pool.history != NULL, 0)) {
      pool_note('F', (uint64_t)(line - POOL_AT));
      fwrite(line, kLine, 1, pool.history);
    }
  }
}

static inline void fence(void) {
#if defined(INSTRUCTIONS)
  __asm__ __volatile__("sfence" : : : "memory");
#else
  cxloom_fence();
#endif
  if (__builtin_expect(pool.history != NULL, 0)) pool_note('S', 0);
}

static inline void persist(const void* address, uint64_t bytes) {
  flush(address, bytes);
  fence();
}

// Somebody is told that the operation of this number is done: it must not be lost from now on.
static inline void acknowledge(uint64_t operation) {
  if (__builtin_expect(pool.history != NULL, 0)) pool_note('A', operation);
}

#endif
