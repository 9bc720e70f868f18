// Writes and reads all of some devices of memory, or says on which nodes pages of its own are.
//
//   memory_check /dev/dax0.0 ...   each device: "/dev/dax0.0: 4194304 lines, 0 wrong"; 1 if any is
//   memory_check pages N           touches N pages: "node 0: 3072, node 1: 1024"
// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { LINE = 64, PAGE = 4096, NODES = 16 };

// What no two lines have alike, whatever bits of their addresses are lost or exchanged.
static uint64_t content(uint64_t device, uint64_t at) {
  uint64_t mixed = (at + 1) * 0x9e3779b97f4a7c15u + device * 0xd1342543de82ef95u;
  return mixed ^ mixed >> 29;
}

static size_t size_of(const char* path) {
  struct stat status;
  if (stat(path, &status)) return 0;
  char name[96];
  snprintf(name, sizeof name, "/sys/dev/char/%u:%u/size", major(status.st_rdev), minor(status.st_rdev));
  FILE* file = fopen(name, "r");
  unsigned long long size = 0;
  if (file) {
    if (fscanf(file, "%llu", &size) != 1) size = 0;
    fclose(file);
  }
  return size;
}

static char* map(const char* path, size_t size) {
  const int file = open(path, O_RDWR);
  if (file < 0) return MAP_FAILED;
  char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory;
}

static int check(int count, char** paths) {
  char* memories[NODES];
  size_t sizes[NODES];
  // All are written before any is read: what one holds must not be another's.
  for (int each = 0; each < count; ++each) {
    sizes[each] = size_of(paths[each]);
    memories[each] = sizes[each] ? map(paths[each], sizes[each]) : MAP_FAILED;
    if (memories[each] == MAP_FAILED) return perror(paths[each]), 2;
    for (size_t at = 0; at < sizes[each]; at += LINE)
      *(volatile uint64_t*)(memories[each] + at) = content((uint64_t)each, at);
  }
  size_t all = 0;
  for (int each = 0; each < count; ++each) {
    size_t wrong = 0;
    for (size_t at = 0; at < sizes[each]; at += LINE)
      wrong += *(volatile uint64_t*)(memories[each] + at) != content((uint64_t)each, at);
    printf("%s: %zu lines, %zu wrong\n", paths[each], sizes[each] / LINE, wrong);
    all += wrong;
  }
  return all != 0;
}

static int pages(size_t count) {
  char* memory = mmap(NULL, count * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return perror("mmap"), 2;
  size_t found[NODES] = {0};
  for (size_t page = 0; page < count; ++page) {
    memory[page * PAGE] = 1;
    void* address = memory + page * PAGE;
    int node = -1;
    if (syscall(SYS_move_pages, 0, 1ul, &address, NULL, &node, 0) || node < 0 || node >= NODES)
      return perror("move_pages"), 2;
    ++found[node];
  }
  const char* between = "";
  for (int node = 0; node < NODES; ++node)
    if (found[node]) printf("%snode %d: %zu", between, node, found[node]), between = ", ";
  printf("\n");
  return 0;
}

int main(int count, char** words) {
  if (count == 3 && !strcmp(words[1], "pages")) return pages((size_t)atol(words[2]));
  if (count < 2 || count - 1 > NODES) return 2;
  return check(count - 1, words + 1);
}
