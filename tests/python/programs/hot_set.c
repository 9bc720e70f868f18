/* hot_set NODE PAGES HOT PASSES: touches pages on a node, forgets that they were wanted there, and reads a
 * line of each of the first HOT of them again and again. Says how many of these are on each node before and
 * after. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPage = 4096, kNodes = 8, kBind = 2, kDefault = 0, kLine = 64 };

static void say(const char* when, char* memory, size_t pages) {
  int found[kNodes] = {0};
  for (size_t i = 0; i < pages; ++i) {
    void* page = memory + i * kPage;
    int node = -1;
    syscall(SYS_move_pages, 0, 1UL, &page, NULL, &node, 0);
    if (node >= 0 && node < kNodes) ++found[node];
  }
  printf("%s:", when);
  for (int i = 0; i < kNodes; ++i) {
    if (found[i] > 0) printf(" node %d %d", i, found[i]);
  }
  printf("\n");
  fflush(stdout);
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const unsigned long node = strtoul(argv[1], NULL, 10);
  const size_t pages = strtoul(argv[2], NULL, 10), hot = strtoul(argv[3], NULL, 10),
               passes = strtoul(argv[4], NULL, 10);
  const unsigned long mask = 1UL << node;
  char* memory = mmap(NULL, pages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || syscall(SYS_set_mempolicy, kBind, &mask, 64UL) != 0) return 1;
  madvise(memory, pages * kPage, MADV_NOHUGEPAGE);
  for (size_t i = 0; i < pages; ++i) memory[i * kPage] = 1;
  syscall(SYS_set_mempolicy, kDefault, NULL, 0UL);
  say("before", memory, hot);
  uint64_t sum = 0;
  for (size_t pass = 0; pass < passes; ++pass) {
    /* Another line in each pass, so that caches do not hold them. */
    for (size_t i = 0; i < hot; ++i)
      sum += (uint64_t)memory[i * kPage + (pass * 7 + i) % (kPage / kLine) * kLine];
  }
  say("after", memory, hot);
  return sum == 0 ? 1 : 0;
}
