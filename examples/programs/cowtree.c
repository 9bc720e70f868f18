// A B-tree in persistent memory whose nodes are never changed: who changes one writes another, and those on
// the way to the root.
//
// All new nodes are durable before the root leads to them, by one word, as in LMDB. What they replace is free
// then.
#include "persistent.h"

enum { kMost = 15 };  // keys of a node

struct Node {
  uint64_t count;
  uint64_t is_leaf;
  uint64_t keys[kMost];
  union {
    uint64_t values[kMost];
    struct Node* children[kMost];  // as many as keys, each the smallest key of its child
  };
};

static struct Node** root;  // in the pool
static struct Node* spare;  // nodes that are free
static struct Node* replaced[64];
static unsigned count_of_replaced;

static struct Node* new_node(uint64_t is_leaf) {
  struct Node* const node = spare != NULL ? spare : pool_take(sizeof *node);
  if (node == spare) spare = *(struct Node**)node;
  node->count = 0;
  node->is_leaf = is_leaf;
  return node;
}

static void add(struct Node* to, const struct Node* from, uint64_t at) {
  to->keys[to->count] = from->keys[at];
  to->values[to->count++] = from->values[at];
}

static uint64_t slot_of(const struct Node* node,
                        uint64_t key) {  // the last one that is not above the key, or 0
  uint64_t slot = 0;
  while (slot + 1 < node->count && node->keys[slot + 1] <= key) ++slot;
  return slot;
}

// Entries of one node in two: the first `kept` and the others, the first of which is where `made` is put.
struct Made {
  struct Node* first;
  struct Node* second;  // NULL: it was not split
};

// A copy of the node with another entry in the place of that at `at` (`replaces`) or before it, split in two
// if it is too long.
static struct Made copied(const struct Node* node, uint64_t at, int replaces, const struct Node* entries) {
  struct Node whole[2] = {{.count = 0}, {.count = 0}};
  const uint64_t count = node->count + entries->count - (replaces ? 1 : 0);
  const uint64_t kept = count > kMost ? count / 2 : count;
  uint64_t done = 0;
  for (uint64_t i = 0; i <= node->count; ++i) {
    if (i == at) {
      for (uint64_t j = 0; j < entries->count; ++j) add(&whole[done++ >= kept], entries, j);
      if (replaces) continue;
    }
    if (i < node->count) add(&whole[done++ >= kept], node, i);
  }
  struct Made made = {NULL, NULL};
  for (unsigned half = 0; half < 2 && whole[half].count > 0; ++half) {
    struct Node* const copy = new_node(node->is_leaf);
    for (uint64_t i = 0; i < whole[half].count; ++i) add(copy, &whole[half], i);
    flush(copy, sizeof *copy);
    if (half == 0) made.first = copy;
    else made.second = copy;
  }
  replaced[count_of_replaced++] = (struct Node*)node;
  return made;
}

static struct Made with(const struct Node* node, uint64_t key, uint64_t value) {
  const uint64_t slot = slot_of(node, key);
  if (node->is_leaf) {
    const struct Node entry = {.count = 1, .keys = {key}, .values = {value}};
    const int same = node->count > 0 && node->keys[slot] == key;
    const uint64_t behind = node->count > 0 && node->keys[slot] < key;
    return copied(node, same ? slot : slot + behind, same, &entry);
  }
  const struct Made below = with(node->children[slot], key, value);
  struct Node entries = {.count = 1, .keys = {below.first->keys[0]}, .children = {below.first}};
  if (below.second != NULL) {
    entries.keys[1] = below.second->keys[0];
    entries.children[1] = below.second;
    entries.count = 2;
  }
  return copied(node, slot, 1, &entries);
}

static void put(uint64_t key, uint64_t value) {
  struct Made made = with(*root, key, value);
  if (made.second != NULL) {
    struct Node* const top = new_node(0);
    top->count = 2;
    top->keys[0] = made.first->keys[0];
    top->keys[1] = made.second->keys[0];
    top->children[0] = made.first;
    top->children[1] = made.second;
    flush(top, sizeof *top);
    made.first = top;
  }
  fence();
  *root = made.first;
  persist(root, sizeof *root);
  while (count_of_replaced > 0) {
    struct Node* const node = replaced[--count_of_replaced];
    *(struct Node**)node = spare;
    spare = node;
  }
}

static uint64_t find(uint64_t key) {
  const struct Node* node = *root;
  while (!node->is_leaf) node = node->children[slot_of(node, key)];
  const uint64_t slot = slot_of(node, key);
  return node->count > 0 && node->keys[slot] == key ? node->values[slot] : 0;
}

int main(int argc, char** argv) {
  const uint64_t keys = argument(argc, argv, 1, 2000);
  const uint64_t operations = argument(argc, argv, 2, 2000);
  uint64_t random = argument(argc, argv, 3, 1);
  pool_open((keys + 256) * sizeof(struct Node));
  root = pool_take(sizeof *root);
  *root = new_node(1);
  persist(*root, sizeof **root);
  persist(root, sizeof *root);
  uint64_t* const expected = allocated(keys, sizeof *expected);  // 0: it is not there
  uint64_t sum = 0;
  int right = 1;
  cxloom_roi_begin();
  for (uint64_t i = 0; i < operations; ++i) {
    const uint64_t key = random_below(&random, keys);
    if (random_below(&random, 2) == 0) {
      put(key, expected[key] = 1 + next_random(&random) % 1000);
      acknowledge(i + 1);
    } else {
      const uint64_t found = find(key);
      right &= found == expected[key];
      sum += found;
    }
  }
  cxloom_roi_end();
  for (uint64_t key = 0; key < keys; ++key) right &= find(key) == expected[key];
  return finished("cowtree", sum, right);
}
