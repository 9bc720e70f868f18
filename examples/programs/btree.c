// A B-tree index: random keys are inserted, then looked up.
//
//   btree [KEYS [LOOKUPS [SEED]]]
//
// Nodes of 15 keys and 16 children, as of an index in memory (four lines of 64 bytes and more). Checks that
// every key that was inserted is found with its value, and that none is that was not.
#include <string.h>

#include "program.h"

enum { kKeys = 15 };

typedef struct Node {
  uint64_t keys[kKeys];
  uint64_t values[kKeys];
  struct Node* children[kKeys + 1];  // null in a leaf
  int count;
} Node;

static Node* new_node(void) { return allocated(1, sizeof(Node)); }

// Where a key is among those of a node, or would be.
static int place_of(const Node* node, uint64_t key) {
  int low = 0, high = node->count;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (node->keys[middle] < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Cuts a full child in two; its middle key comes up.
static void split(Node* parent, int at) {
  Node *left = parent->children[at], *right = new_node();
  const int half = kKeys / 2;
  right->count = kKeys - half - 1;
  memcpy(right->keys, left->keys + half + 1, sizeof(uint64_t) * (size_t)right->count);
  memcpy(right->values, left->values + half + 1, sizeof(uint64_t) * (size_t)right->count);
  memcpy(right->children, left->children + half + 1, sizeof(Node*) * (size_t)(right->count + 1));
  left->count = half;
  const size_t behind = (size_t)(parent->count - at);
  memmove(parent->keys + at + 1, parent->keys + at, sizeof(uint64_t) * behind);
  memmove(parent->values + at + 1, parent->values + at, sizeof(uint64_t) * behind);
  memmove(parent->children + at + 2, parent->children + at + 1, sizeof(Node*) * behind);
  parent->keys[at] = left->keys[half];
  parent->values[at] = left->values[half];
  parent->children[at + 1] = right;
  ++parent->count;
}

// Adds a key, or changes its value; gives the root, which may be a new one.
static Node* insert(Node* root, uint64_t key, uint64_t value) {
  if (root->count == kKeys) {
    Node* above = new_node();
    above->children[0] = root;
    split(above, 0);
    root = above;
  }
  Node* node = root;
  for (;;) {
    int at = place_of(node, key);
    if (at < node->count && node->keys[at] == key) {
      node->values[at] = value;
      return root;
    }
    if (node->children[0] == NULL) {
      const size_t behind = (size_t)(node->count - at);
      memmove(node->keys + at + 1, node->keys + at, sizeof(uint64_t) * behind);
      memmove(node->values + at + 1, node->values + at, sizeof(uint64_t) * behind);
      node->keys[at] = key;
      node->values[at] = value;
      ++node->count;
      return root;
    }
    if (node->children[at]->count == kKeys) {
      split(node, at);
      if (node->keys[at] < key) ++at;
      else if (node->keys[at] == key) continue;  // it came up
    }
    node = node->children[at];
  }
}

// The value of a key; 0 if there is none.
static uint64_t find(const Node* node, uint64_t key) {
  while (node != NULL) {
    const int at = place_of(node, key);
    if (at < node->count && node->keys[at] == key) return node->values[at];
    node = node->children[at];
  }
  return 0;
}

// The n-th key: odd ones are there, so that even ones are not. A bijection, so that none is there twice.
static uint64_t key_of(uint64_t n, uint64_t seed) {
  uint64_t state = seed + n;
  return next_random(&state) | 1;
}

int main(int argc, char** argv) {
  const uint64_t keys = argument(argc, argv, 1, 200000), lookups = argument(argc, argv, 2, 400000);
  const uint64_t seed = argument(argc, argv, 3, 1);
  Node* root = new_node();
  for (uint64_t n = 0; n < keys; ++n) root = insert(root, key_of(n, seed), key_of(n, seed) ^ seed);
  uint64_t state = ~seed, found = 0, wrong = 0;
  for (uint64_t i = 0; i < lookups; ++i) {
    const uint64_t key = key_of(random_below(&state, keys), seed);
    if (find(root, key) == (key ^ seed)) ++found;
    if (i % 16 == 0 && find(root, key ^ 1) != 0) ++wrong;
  }
  return finished("btree: keys found", found, found == lookups && wrong == 0);
}
