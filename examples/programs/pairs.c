// A store of keys and values under one kind of operation, after what the CXL-DMSim paper does with Viper.
//
//   pairs [PAIRS [OPERATIONS [KIND [KEY BYTES [VALUE BYTES [SEED]]]]]]
//
// KIND is 1 to insert pairs, 2 to update values, 3 to get them, 4 to delete pairs. Pairs are in slots, and a
// table of hashes says in which one each is. All are inserted first, but for those that are to be; keys are
// drawn evenly. The marked part is the operations. Checks each value that it gets, and behind the marks what
// it has changed.
#include <cxloom/roi.h>
#include <string.h>
#include <sys/prctl.h>

#include "program.h"

enum { kInsert = 1, kUpdate, kGet, kDelete };
static const uint32_t kNone = UINT32_MAX, kDeleted = UINT32_MAX - 1;

static uint64_t mask, key_bytes, value_bytes, used;
static uint32_t* table;
static unsigned char *slots, *key, *value;

static unsigned char* slot(uint32_t number) { return slots + number * (key_bytes + value_bytes); }

// Makes the key of a number.
static void make_key(uint64_t number) {
  memset(key, 'k', key_bytes);
  memcpy(key, &number, sizeof(number));
}

static void make_value(uint64_t number, uint64_t version) {
  memset(value, (int)((number + version) % 251), value_bytes);
}

// Where the table has the key that was made, or would have it.
static uint64_t find(uint64_t number) {
  uint64_t hash = number;
  uint64_t at = next_random(&hash) & mask;
  while (table[at] != kNone && (table[at] == kDeleted || memcmp(slot(table[at]), key, key_bytes) != 0))
    at = (at + 1) & mask;
  return at;
}

static int insert(uint64_t number) {
  make_key(number);
  make_value(number, 0);
  const uint64_t at = find(number);
  if (table[at] != kNone) return 0;
  table[at] = (uint32_t)used++;
  memcpy(slot(table[at]), key, key_bytes);
  memcpy(slot(table[at]) + key_bytes, value, value_bytes);
  return 1;
}

static int update(uint64_t number) {
  make_key(number);
  make_value(number, 1);
  const uint64_t at = find(number);
  if (table[at] == kNone) return 0;
  memcpy(slot(table[at]) + key_bytes, value, value_bytes);
  return 1;
}

// True if the value is whole, of whichever version.
static int get(uint64_t number) {
  make_key(number);
  const uint64_t at = find(number);
  if (table[at] == kNone) return 0;
  memcpy(value, slot(table[at]) + key_bytes, value_bytes);
  const uint64_t version = (value[0] + 251 - number % 251) % 251;
  return version <= 1 && value[value_bytes - 1] == value[0];
}

static int delete(uint64_t number) {
  make_key(number);
  const uint64_t at = find(number);
  if (table[at] == kNone) return 0;
  memset(slot(table[at]), 0, key_bytes);
  table[at] = kDeleted;
  return 1;
}

// Fisher and Yates.
static void shuffle(uint32_t* order, uint64_t count, uint64_t* state) {
  for (uint64_t i = count - 1; i > 0; --i) {
    const uint64_t other = random_below(state, i + 1);
    const uint32_t kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

int main(int argc, char** argv) {
  const uint64_t pairs = argument(argc, argv, 1, 20000), operations = argument(argc, argv, 2, 5000);
  const uint64_t kind = argument(argc, argv, 3, kGet);
  key_bytes = argument(argc, argv, 4, 16);
  value_bytes = argument(argc, argv, 5, 200);
  uint64_t state = argument(argc, argv, 6, 1), size = 1;
  if (kind > kDelete || operations > pairs || key_bytes < sizeof(uint64_t)) {
    fprintf(stderr, "%s: no more operations than pairs, kinds from 1 to 4, and keys of 8 bytes or more\n",
            argv[0]);
    return 2;
  }
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
  while (size < 2 * pairs) size *= 2;
  mask = size - 1;
  table = allocated(size, sizeof(uint32_t));
  memset(table, 0xff, size * sizeof(uint32_t));
  slots = allocated(pairs, key_bytes + value_bytes);
  key = allocated(1, key_bytes);
  value = allocated(1, value_bytes);
  uint32_t* order = allocated(pairs, sizeof(uint32_t));
  for (uint64_t i = 0; i < pairs; ++i) order[i] = (uint32_t)i;
  shuffle(order, pairs, &state);
  uint64_t right = 0;
  const uint64_t before = kind == kInsert ? operations : 0;
  for (uint64_t i = before; i < pairs; ++i) right += (uint64_t)insert(order[i]);
  if (kind != kInsert) shuffle(order, pairs, &state);  // slots are in the order of the first one

  static int (*const kDo[])(uint64_t) = {NULL, insert, update, get, delete};
  cxloom_roi_begin();
  for (uint64_t i = 0; i < operations; ++i) right += (uint64_t)kDo[kind](order[i]);
  cxloom_roi_end();

  if (kind != kGet)
    for (uint64_t i = 0; i < operations; ++i) right += (uint64_t)(get(order[i]) == (kind != kDelete));
  const uint64_t asked = kind == kGet ? operations : 2 * operations;
  return finished("pairs: what is right", right, right == pairs - before + asked);
}
