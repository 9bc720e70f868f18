// Threads that read their shares of an array side by side, pass after pass. Between the marks no page is
// touched for the first time, and they wait for each other at the barrier before each pass alone.
//
//   readers THREADS LINES PASSES
//
#include <cxloom/roi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLine = 64, kMostThreads = 16 };

static const volatile char* memory;
static uint64_t threads, lines, passes;
static pthread_barrier_t barrier;

static void* reads(void* number) {
  const uint64_t share = (uint64_t)number;
  uint64_t sum = 0;
  pthread_barrier_wait(&barrier);
  if (share == 0) cxloom_roi_begin();
  for (uint64_t pass = 0; pass < passes; ++pass) {
    pthread_barrier_wait(&barrier);
    for (uint64_t i = lines * share / threads; i < lines * (share + 1) / threads; ++i)
      sum += memory[i * kLine];
  }
  pthread_barrier_wait(&barrier);
  if (share == 0) cxloom_roi_end();
  pthread_barrier_wait(&barrier);
  return (void*)sum;
}

int main(int count, char** words) {
  if (count != 4) return 2;
  threads = strtoull(words[1], NULL, 10);
  lines = strtoull(words[2], NULL, 10);
  passes = strtoull(words[3], NULL, 10);
  char* all = aligned_alloc(4096, lines * kLine);
  if (all == NULL || threads == 0 || threads > kMostThreads) return 2;
  for (uint64_t i = 0; i < lines; ++i) all[i * kLine] = (char)(i % 7);
  memory = all;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  pthread_t others[kMostThreads];
  for (uint64_t i = 1; i < threads; ++i) pthread_create(&others[i], NULL, reads, (void*)i);
  uint64_t sum = (uint64_t)reads((void*)0);
  for (uint64_t i = 1; i < threads; ++i) {
    void* other = NULL;
    pthread_join(others[i], &other);
    sum += (uint64_t)other;
  }
  uint64_t right = 0;
  for (uint64_t i = 0; i < lines; ++i) right += i % 7;
  printf("%s\n", sum == right * passes ? "right" : "wrong");
  return sum != right * passes;
}
