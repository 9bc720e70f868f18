// Two hosts hand a number over to each other in a line that they share, and fill a table in turn.
//
//   handover ADDRESS SIDE [ROUNDS]
//
// Started on each of two hosts, with the address of the bytes that both share and with 0 and 1 as SIDE. Each
// checks what the other has written: that the number goes up by one, and all of the table.
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kWords = 64, kWordsOfALine = 8 };

typedef struct {
  _Atomic uint64_t turn;  // whose turn it is: even numbers are of the first host
  uint64_t rest_of_line[kWordsOfALine - 1];
  uint64_t table[kWords];
} Shared;

int main(int argc, char** argv) {
  if (argc < 3) {
    fprintf(stderr, "handover ADDRESS SIDE [ROUNDS]\n");
    return 2;
  }
  Shared* shared = (Shared*)strtoull(argv[1], NULL, 0);
  const uint64_t side = strtoull(argv[2], NULL, 0);
  const uint64_t rounds = argc > 3 ? strtoull(argv[3], NULL, 0) : 100;
  uint64_t wrong = 0;
  for (uint64_t turn = side; turn < 2 * rounds; turn += 2) {
    while (atomic_load_explicit(&shared->turn, memory_order_acquire) != turn) {
    }
    for (uint64_t word = 0; word < kWords; ++word) {
      wrong += shared->table[word] != (turn == 0 ? 0 : turn * kWords + word);
      shared->table[word] = (turn + 1) * kWords + word;
    }
    atomic_store_explicit(&shared->turn, turn + 1, memory_order_release);
  }
  printf("handover: side %d saw %d wrong words in %d rounds\n", (int)side, (int)wrong, (int)rounds);
  return wrong != 0;
}
