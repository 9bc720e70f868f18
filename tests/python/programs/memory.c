// Pointer chases in fixed cycles, a triad, pages, branches: what they do to memory and the core is known
// beforehand.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cxloom/roi.h"

static int chase(size_t lines, size_t steps) {
  void** memory = aligned_alloc(64, lines * 64);
  size_t* order = malloc(lines * sizeof *order);
  for (size_t i = 0; i < lines; ++i) order[i] = i;
  uint64_t state = 1;
  for (size_t i = lines - 1; i > 0; --i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const size_t j = (state >> 33) % i, other = order[i];
    order[i] = order[j];
    order[j] = other;
  }
  for (size_t i = 0; i < lines; ++i) memory[order[i] * 8] = memory + order[(i + 1) % lines] * 8;
  void** at = memory;
  void** const other = calloc(1, 1 << 20);
  cxloom_roi_begin();
  for (size_t i = 0; i < steps; ++i) at = *at;
  at += other[1 << 16] != NULL;  // a line that no cache has
  cxloom_roi_end();
  printf("%d\n", at != NULL);
  return 7;
}

// A line of each of so many pages, 97 pages from one to the next, which reaches all if their number is a
// power of two.
static char* page_line(char* memory, size_t bytes, size_t page) {
  return memory + page * bytes + page % 64 * 64;
}

static int pages(size_t count, size_t bytes, size_t steps) {
  char* const memory = aligned_alloc(2 << 20, count * bytes);
  for (size_t i = 0; i < count; ++i)
    *(void**)page_line(memory, bytes, i) = page_line(memory, bytes, (i + 97) % count);
  void** at = (void**)memory;
  void** const other = calloc(1, 1 << 20);
  for (size_t i = 0; i < 2 * count; ++i) at = *at;
  cxloom_roi_begin();
  for (size_t i = 0; i < steps; ++i) at = *at;
  at += other[1 << 16] != NULL;  // a line that no cache has
  cxloom_roi_end();
  printf("%d\n", at != NULL);
  return 0;
}

// The same, and before each step another line of the page, which the step does not wait for.
static int beside(size_t count, size_t bytes, size_t steps) {
  char* const memory = aligned_alloc(2 << 20, count * bytes);
  for (size_t i = 0; i < count; ++i)
    *(void**)page_line(memory, bytes, i) = page_line(memory, bytes, (i + 97) % count);
  void** at = (void**)memory;
  for (size_t i = 0; i < 2 * count; ++i) at = *at;
  cxloom_roi_begin();
  for (size_t i = 0; i < steps; ++i) {
    (void)*(volatile char*)((size_t)at ^ 2048);
    at = *at;
  }
  cxloom_roi_end();
  printf("%d\n", at != NULL);
  return 0;
}

// The lines of the chase through pages, none of which waits for another.
static int touch(size_t count, size_t bytes) {
  volatile char* const memory = aligned_alloc(2 << 20, count * bytes);
  for (size_t i = 0; i < count; ++i) memory[i * bytes + i % 64 * 64] = 1;
  size_t total = 0;
  cxloom_roi_begin();
  for (size_t round = 0; round < 4; ++round) {
    for (size_t i = 0, page = 0; i < count; ++i, page = (page + 97) % count)
      total += memory[page * bytes + page % 64 * 64];
  }
  cxloom_roi_end();
  printf("%zu\n", total);
  return 0;
}

#include <pthread.h>

static void** start_;
static size_t steps_;

static void* walk(void* offset) {
  void** at = (void**)((char*)start_ + (size_t)offset);
  for (size_t i = 0; i < steps_; ++i) at = *at;
  return at;
}

#define SINES "fsin\n fsin\n fsin\n fsin\n fsin\n fsin\n fsin\n fsin\n"

// Little for a core, and much for an emulator: meanwhile another thread comes to its end.
static void dawdle(void) {
  for (int i = 0; i < 3000; ++i)
    __asm__ volatile("fld1\n" SINES SINES SINES SINES SINES SINES SINES "fstp %%st(0)" ::: "st", "memory");
}

// Two chases through memory of their own: side by side, or one after the other.
static int pair(size_t lines, int in_turn, int late) {
  const size_t bytes = lines * 64;
  start_ = aligned_alloc(64, 2 * bytes);
  steps_ = lines;
  for (size_t half = 0; half < 2; ++half) {
    char* const memory = (char*)start_ + half * bytes;
    for (size_t i = 0; i < lines; ++i)  // a step of 97 lines reaches all, if their number is a power of two
      *(void**)(memory + i * 64) = memory + (i + 97) % lines * 64;
  }
  cxloom_roi_begin();
  pthread_t other;
  pthread_create(&other, NULL, walk, NULL);
  if (late) dawdle();
  if (in_turn) pthread_join(other, NULL);
  void* const last = walk((void*)bytes);
  if (!in_turn) pthread_join(other, NULL);
  cxloom_roi_end();
  printf("%d\n", last != NULL);
  return 0;
}

static pthread_barrier_t all_are_there_;

static void* sum(void* lines) {
  const size_t bytes = (size_t)lines * 64;
  const volatile char* const memory = calloc(1, bytes);
  pthread_barrier_wait(&all_are_there_);
  size_t total = 0;
  for (size_t i = 0; i < bytes; i += 64) total += memory[i];
  return (void*)total;
}

// Threads that each read so many lines of their own.
static int sums(size_t lines, size_t threads) {
  pthread_t others[64];
  pthread_barrier_init(&all_are_there_, NULL, (unsigned)threads);
  cxloom_roi_begin();
  for (size_t i = 0; i < threads; ++i) pthread_create(&others[i], NULL, sum, (void*)lines);
  for (size_t i = 0; i < threads; ++i) pthread_join(others[i], NULL);
  cxloom_roi_end();
  return 0;
}

static int triad(size_t count) {
  double *a = malloc(count * 8), *b = malloc(count * 8), *c = malloc(count * 8);
  for (size_t i = 0; i < count; ++i) a[i] = 0, b[i] = 1, c[i] = 2;
  cxloom_roi_begin();
  for (size_t i = 0; i < count; ++i) a[i] = b[i] + 3 * c[i];
  cxloom_roi_end();
  printf("%.0f\n", a[count - 1]);
  return 0;
}

// So many branches, each of which goes one way or the other by chance.
static int branches(size_t count) {
  uint64_t state = 1, sum = 0;
  const volatile char* const other = calloc(1, 1 << 20);
  cxloom_roi_begin();
  for (size_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    if (state >> 63) __asm__ volatile("add $1, %0" : "+r"(sum));
    else __asm__ volatile("sub $3, %0" : "+r"(sum));
  }
  sum += other[1 << 17];
  cxloom_roi_end();
  printf("%d\n", sum != 0);
  return 0;
}

// So many rounds in registers, one cycle each.
static int nothing(size_t count) {
  cxloom_roi_begin();
  for (size_t round = 0; round < count; ++round) __asm__ volatile("" : "+r"(round));
  cxloom_roi_end();
  return 3;
}

#define BRANCH(BIT) \
  if (ways >> (BIT) & 1) __asm__ volatile("nop")
#define EIGHT_BRANCHES(BIT) \
  BRANCH(BIT);              \
  BRANCH(BIT + 1);          \
  BRANCH(BIT + 2);          \
  BRANCH(BIT + 3);          \
  BRANCH(BIT + 4);          \
  BRANCH(BIT + 5);          \
  BRANCH(BIT + 6);          \
  BRANCH(BIT + 7)

// So many times 32 branches, each of which goes the same way each time.
static int many(size_t count) {
  const volatile char* const other = calloc(1, 1 << 20);
  unsigned ways = 0x6A35C9E2;
  cxloom_roi_begin();
  for (size_t i = 0; i < count; ++i) {
    __asm__ volatile("" : "+r"(ways));
    EIGHT_BRANCHES(0);
    EIGHT_BRANCHES(8);
    EIGHT_BRANCHES(16);
    EIGHT_BRANCHES(24);
  }
  const int last = other[1 << 17];
  cxloom_roi_end();
  return last;
}

int main(int argc, char** argv) {
  if (argc > 2 && strcmp(argv[1], "many") == 0) return many(strtoull(argv[2], NULL, 10));
  if (argc > 2 && strcmp(argv[1], "chase") == 0) return chase(strtoull(argv[2], NULL, 10), 20000);
  if (argc > 3 && strcmp(argv[1], "pages") == 0)
    return pages(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), 20000);
  if (argc > 3 && strcmp(argv[1], "beside") == 0)
    return beside(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10), 20000);
  if (argc > 3 && strcmp(argv[1], "touch") == 0)
    return touch(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
  if (argc > 2 && strcmp(argv[1], "triad") == 0) return triad(strtoull(argv[2], NULL, 10));
  if (argc > 2 && strcmp(argv[1], "pair") == 0) return pair(strtoull(argv[2], NULL, 10), 0, 0);
  if (argc > 2 && strcmp(argv[1], "in-turn") == 0) return pair(strtoull(argv[2], NULL, 10), 1, 0);
  if (argc > 2 && strcmp(argv[1], "late") == 0) return pair(strtoull(argv[2], NULL, 10), 1, 1);
  if (argc > 3 && strcmp(argv[1], "sums") == 0)
    return sums(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
  if (argc > 2 && strcmp(argv[1], "branches") == 0) return branches(strtoull(argv[2], NULL, 10));
  if (argc > 2 && strcmp(argv[1], "nothing") == 0) return nothing(strtoull(argv[2], NULL, 10));
  return 2;
}
