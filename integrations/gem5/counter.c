// Two hosts count in lines that they share: by an addition, by a compare and swap, and with a lock.
//
//   counter ADDRESS SIDE [ROUNDS]
//
// Started as handover is. Each counts to the number of rounds in each of the three ways, waits for the other,
// and checks that nothing was lost.
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kHosts = 2, kLine = 64 };

typedef struct {
  _Alignas(kLine) _Atomic uint64_t added;
  _Alignas(kLine) _Atomic uint64_t swapped;
  _Alignas(kLine) _Atomic uint32_t lock;
  uint64_t locked;  // beside its lock
  _Alignas(kLine) _Atomic uint64_t done;
} Shared;

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "counter ADDRESS SIDE [ROUNDS]\n");
    return 2;
  }
  Shared* shared = (Shared*)strtoull(argv[1], NULL, 0);
  const uint64_t rounds = argc > 3 ? strtoull(argv[3], NULL, 0) : 100;
  for (uint64_t i = 0; i < rounds; ++i) {
    atomic_fetch_add(&shared->added, 1);
    uint64_t seen = atomic_load(&shared->swapped);
    while (!atomic_compare_exchange_weak(&shared->swapped, &seen, seen + 1)) {
    }
    while (atomic_exchange(&shared->lock, 1)) {
    }
    ++shared->locked;
    atomic_store(&shared->lock, 0);
  }
  atomic_fetch_add(&shared->done, 1);
  while (atomic_load(&shared->done) != kHosts) {
  }
  const uint64_t added = atomic_load(&shared->added);
  const uint64_t swapped = atomic_load(&shared->swapped);
  printf("counter: side %s counted %d %d %d\n", argv[2], (int)added, (int)swapped, (int)shared->locked);
  return added != kHosts * rounds || swapped != kHosts * rounds || shared->locked != kHosts * rounds;
}
