// What programs do, each in a function of its own that a capture can name: the first argument says which.
#define _GNU_SOURCE
#include <cxloom/roi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kNodes = 1000 };

struct node {
  struct node* next;
  char rest[120];
};
static struct node nodes[2][kNodes];
static long sums[kNodes];
static void* volatile result;  // so that nothing is left out because nobody needs it

static void tie(struct node* list) {
  for (int i = 0; i < kNodes; ++i) list[i].next = &list[(i + 367) % kNodes];
}

// A thousand loads, each of an address that the one before read.
__attribute__((noinline)) struct node* chase(struct node* at) {
  for (int i = 0; i < kNodes; ++i) at = at->next;
  return at;
}

// Two thousand loads of addresses that are counted up.
__attribute__((noinline, optimize("no-tree-vectorize"))) long streams(const long* one, const long* other) {
  long sum = 0;
  for (int i = 0; i < kNodes; ++i) sum += one[i] ^ other[kNodes - 1 - i];
  return sum;
}

// A tree of nodes with a line of keys and a line of children.
struct inner {
  long keys[8];
  struct inner* children[8];
};
static struct inner inner[1 + 8 + 64 + 512] __attribute__((aligned(128)));

static void grow(void) {
  const int all = sizeof inner / sizeof *inner;
  for (int i = 0; i < all; ++i) {
    for (int j = 0; j < 8; ++j) {
      inner[i].keys[j] = j;
      inner[i].children[j] = 8 * i + 1 + j < all ? &inner[8 * i + 1 + j] : NULL;
    }
  }
}

// Looks for a child in four levels; which one is found does not make the address of the keys, but of the next
// node.
__attribute__((noinline)) struct inner* descend(struct inner* node, long key) {
  for (int level = 0; level < 3; ++level) {
    long slot = 0;
    while (slot < 7 && node->keys[slot] < key) ++slot;
    node = node->children[slot];
  }
  return node;
}

static void* chase_many(void* list) {
  for (int i = 0; i < 20; ++i) list = chase(list);
  return list;
}

static int threads(void) {
  pthread_t two[2];
  for (int i = 0; i < 2; ++i) pthread_create(&two[i], NULL, chase_many, nodes[i]);
  for (int i = 0; i < 2; ++i) pthread_join(two[i], NULL);
  return 0;
}

static int forks(void) {
  const pid_t child = fork();
  result = chase(nodes[0]);
  if (child == 0) _exit(7);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

static int closes(void) {
  for (int file = 0; file < 1024; ++file) close(file);
  result = chase(nodes[0]);
  return 5;
}

static volatile int* nowhere;
static int crashes(void) {
  result = chase(nodes[0]);
  return *nowhere;
}

// A signal while something else runs, many times.
static void on_signal(int number) { sums[1] += number; }
static int signals(void) {
  signal(SIGUSR1, on_signal);
  for (int i = 0; i < 50; ++i) {
    kill(getpid(), SIGUSR1);
    result = chase(nodes[0]);
  }
  return sums[1] != 50 * SIGUSR1;
}

static int marks(void) {
  streams(sums, sums);
  for (int i = 0; i < 2; ++i) {
    cxloom_roi_begin();
    result = chase(nodes[0]);
    cxloom_roi_end();
  }
  streams(sums, sums);
  return 0;
}

static int starts(char** command) {
  execv(command[0], command);
  return 1;
}

static int endless(void) {
  for (;;) result = chase(nodes[0]);
}

// What others count, too: numbers in order, a product of matrices, words in a table.
static int numbers[4000];
__attribute__((noinline)) static void sift(int at, int end) {
  for (int child; (child = 2 * at + 1) < end; at = child) {
    if (child + 1 < end && numbers[child + 1] > numbers[child]) ++child;
    if (numbers[at] >= numbers[child]) return;
    const int moved = numbers[at];
    numbers[at] = numbers[child];
    numbers[child] = moved;
  }
}
static int sorts(void) {
  unsigned seed = 1;
  for (int i = 0; i < 4000; ++i) numbers[i] = (int)((seed = seed * 1664525 + 1013904223) >> 8);
  for (int i = 1999; i >= 0; --i) sift(i, 4000);
  for (int end = 3999; end > 0; --end) {
    const int largest = numbers[0];
    numbers[0] = numbers[end];
    numbers[end] = largest;
    sift(0, end);
  }
  return numbers[0] > numbers[3999];
}
enum { kSide = 60 };
static double factors[2][kSide][kSide], product[kSide][kSide];
__attribute__((noinline)) static void multiply(double (*to)[kSide], double (*one)[kSide],
                                               double (*other)[kSide]) {
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j) {
      for (int k = 0; k < kSide; ++k) to[i][j] += one[i][k] * other[k][j];
    }
  }
}
static int multiplies(void) {
  for (int i = 0; i < kSide; ++i) factors[0][i][i] = factors[1][i][1] = i;
  multiply(product, factors[0], factors[1]);
  result = product;
  return 0;
}
static int hashes(void) {
  static unsigned table[1 << 16];
  char word[32];
  for (int i = 0; i < 2000; ++i) {
    snprintf(word, sizeof word, "word %d", i % 999);
    unsigned hash = 5381;
    for (const char* at = word; *at; ++at) hash = hash * 33 + (unsigned char)*at;
    ++table[hash & 0xFFFF];
  }
  return table[0] == 1;
}

int main(int count, char** words) {
  const char* what = count > 1 ? words[1] : "";
  tie(nodes[0]);
  tie(nodes[1]);
  grow();
  if (!strcmp(what, "chase")) return chase(nodes[0]) == NULL;
  if (!strcmp(what, "streams")) return streams(sums, sums) != 0;
  if (!strcmp(what, "tree")) return descend(inner, 5) == NULL;
  if (!strcmp(what, "threads")) return threads();
  if (!strcmp(what, "forks")) return forks();
  if (!strcmp(what, "closes")) return closes();
  if (!strcmp(what, "crashes")) return crashes();
  if (!strcmp(what, "signals")) return signals();
  if (!strcmp(what, "marks")) return marks();
  if (!strcmp(what, "starts")) return starts(words + 2);
  if (!strcmp(what, "endless")) return endless();
  if (!strcmp(what, "sorts")) return sorts();
  if (!strcmp(what, "multiplies")) return multiplies();
  if (!strcmp(what, "hashes")) return hashes();
  return 2;
}
