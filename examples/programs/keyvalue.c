// A key-value store: a hash table of chained entries whose values are blocks of their own, under GET and SET
// requests.
//
//   keyvalue [KEYS [REQUESTS [SEED]]]
//
// Three requests of four are GET, as in many caches; keys are drawn with a skew. A SET that does not fit the
// old block takes a new one. Checks every value that a GET finds.
#include <string.h>

#include "program.h"

typedef struct Item {
  struct Item* next;
  uint64_t key;
  uint32_t version;
  uint32_t length;
  unsigned char* value;
} Item;

typedef struct {
  Item** buckets;
  uint64_t mask;
} Store;

static uint64_t hash(uint64_t key) {
  uint64_t state = key;
  return next_random(&state);
}

static Item* find(const Store* store, uint64_t key) {
  Item* item = store->buckets[hash(key) & store->mask];
  while (item != NULL && item->key != key) item = item->next;
  return item;
}

// Lengths differ by key and by version, from 64 to 575 bytes.
static uint32_t length_of(uint64_t key, uint32_t version) {
  return 64 + (uint32_t)(hash(key * 31 + version) % 512);
}

static unsigned char byte_of(uint64_t key, uint32_t version) { return (unsigned char)(hash(key) + version); }

static void set(Store* store, uint64_t key, uint32_t version) {
  Item* item = find(store, key);
  if (item == NULL) {
    item = allocated(1, sizeof(Item));
    Item** bucket = &store->buckets[hash(key) & store->mask];
    item->key = key;
    item->next = *bucket;
    *bucket = item;
  }
  const uint32_t length = length_of(key, version);
  if (length > item->length) {
    free(item->value);
    item->value = allocated(length, 1);
  }
  item->length = length;
  item->version = version;
  memset(item->value, byte_of(key, version), length);
}

// True if the value is whole.
static int get(const Store* store, uint64_t key, unsigned char* reply) {
  const Item* item = find(store, key);
  if (item == NULL) return 0;
  memcpy(reply, item->value, item->length);
  const unsigned char wanted = byte_of(key, item->version);
  return item->length == length_of(key, item->version) && reply[0] == wanted &&
         reply[item->length - 1] == wanted;
}

int main(int argc, char** argv) {
  const uint64_t keys = argument(argc, argv, 1, 50000), requests = argument(argc, argv, 2, 300000);
  uint64_t state = argument(argc, argv, 3, 1), size = 1;
  while (size < keys) size *= 2;
  Store store = {allocated(size, sizeof(Item*)), size - 1};
  unsigned char reply[1024];
  for (uint64_t key = 0; key < keys; ++key) set(&store, key, 0);
  uint64_t gets = 0, right = 0;
  for (uint64_t i = 0; i < requests; ++i) {
    const double unit = random_unit(&state);
    const uint64_t key = hash((uint64_t)(unit * unit * (double)keys)) % keys;  // the frequent ones anywhere
    if (next_random(&state) % 4 == 0) {
      set(&store, key, (uint32_t)i);
    } else {
      ++gets;
      right += (uint64_t)get(&store, key, reply);
    }
  }
  return finished("keyvalue: values read", right, right == gets);
}
