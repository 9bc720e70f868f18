// A hash map of chained items in persistent memory: items are put, changed, taken out and looked up.
//
// An item is durable before its chain leads to it, by one word; so are changes of a value, and what leads
// past an item that is taken out.
#include "persistent.h"

struct Item {
  uint64_t key;
  uint64_t value;
  struct Item* next;
  char pad[kLine - 3 * sizeof(uint64_t)];
};

static struct Item** chains;  // in the pool
static uint64_t count_of_chains;
static struct Item* spare;  // items that were taken out

static struct Item** place_of(uint64_t key) {
  uint64_t state = key;
  struct Item** place = &chains[random_below(&state, count_of_chains)];
  while (*place != NULL && (*place)->key != key) place = &(*place)->next;
  return place;
}

static void put(uint64_t key, uint64_t value) {
  struct Item** const place = place_of(key);
  struct Item* item = *place;
  if (item != NULL) {
    item->value = value;
    persist(&item->value, sizeof item->value);
    return;
  }
  item = spare;
  if (item != NULL) spare = item->next;
  else item = pool_take(sizeof *item);
  item->key = key;
  item->value = value;
  item->next = NULL;
  persist(item, sizeof *item);
  *place = item;
  persist(place, sizeof *place);
}

static void take_out(uint64_t key) {
  struct Item** const place = place_of(key);
  struct Item* const item = *place;
  if (item == NULL) return;
  *place = item->next;
  persist(place, sizeof *place);
  item->next = spare;
  spare = item;
}

int main(int argc, char** argv) {
  const uint64_t keys = argument(argc, argv, 1, 1000);
  const uint64_t operations = argument(argc, argv, 2, 4000);
  uint64_t random = argument(argc, argv, 3, 1);
  count_of_chains = 1 + keys / 4;
  pool_open((count_of_chains + 8) * sizeof *chains + keys * sizeof(struct Item));
  chains = pool_take(count_of_chains * sizeof *chains);
  uint64_t* const expected = allocated(keys, sizeof *expected);  // 0: it is not there
  uint64_t hits = 0;
  int right = 1;
  cxloom_roi_begin();
  for (uint64_t i = 0; i < operations; ++i) {
    const uint64_t key = random_below(&random, keys);
    const uint64_t choice = random_below(&random, 100);
    if (choice < 40) {
      const struct Item* const found = *place_of(key);
      right &= (found == NULL ? 0 : found->value) == expected[key];
      hits += found != NULL;
    } else if (choice < 85) {
      put(key, expected[key] = 1 + next_random(&random) % 1000);
      acknowledge(i + 1);
    } else {
      take_out(key);
      expected[key] = 0;
      acknowledge(i + 1);
    }
  }
  cxloom_roi_end();
  uint64_t sum = hits;
  for (uint64_t key = 0; key < keys; ++key) {
    const struct Item* const found = *place_of(key);
    right &= (found == NULL ? 0 : found->value) == expected[key];
    sum += expected[key];
  }
  return finished("hashmap", sum, right);
}
