// What the programs share: arguments, a deterministic random stream, a checksum.
#ifndef CXLOOM_EXAMPLES_PROGRAM_H
#define CXLOOM_EXAMPLES_PROGRAM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
static inline uint64_t next_random(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Any number below `bound`, with a bias of at most bound / 2^64.
static inline uint64_t random_below(uint64_t* state, uint64_t bound) { return next_random(state) % bound; }

// In [0, 1).
static inline double random_unit(uint64_t* state) { return (double)(next_random(state) >> 11) * 0x1p-53; }

// The whole number that is argument `index`, or `otherwise` if there is none. Ends the program if it is no
// number from 1 on.
static inline uint64_t argument(int argc, char** argv, int index, uint64_t otherwise) {
  if (index >= argc) return otherwise;
  char* end;
  const uint64_t value = strtoull(argv[index], &end, 10);
  if (*end != '\0' || value == 0 || argv[index][0] == '-') {
    fprintf(stderr, "%s: not a whole number from 1 on: '%s'\n", argv[0], argv[index]);
    exit(2);
  }
  return value;
}

// Memory for `count` things of `size` bytes, all zero. Ends the program if there is none.
static inline void* allocated(uint64_t count, uint64_t size) {
  void* memory = calloc(count, size);
  if (memory == NULL) {
    fprintf(stderr, "not enough memory\n");
    exit(1);
  }
  return memory;
}

// What every program ends with: its result, and whether that is right.
static inline int finished(const char* what, uint64_t result, int right) {
  printf("%s: %llu%s\n", what, (unsigned long long)result, right ? "" : ", which is wrong");
  return right ? 0 : 1;
}

#endif
