// Allocates by memkind in memory on CXL, as a device or as nodes.
//
//   memkinds /dev/dax0.0   by a kind of all of the device
//   memkinds               by MEMKIND_DAX_KMEM; says on which node the first page is
// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include <cxloom/dax.h>
#include <memkind.h>
#include <sys/syscall.h>

enum { PIECES = 1000, BYTES = 5000, PAGE = 4096 };

// Whether pieces of a kind keep what is written, from a place on and before another.
static int keeps(memkind_t kind, uintptr_t from, uintptr_t to) {
  static unsigned char* pieces[PIECES];
  int right = 1;
  for (int i = 0; i < PIECES; ++i) {
    pieces[i] = memkind_malloc(kind, BYTES);
    if (!pieces[i]) return 0;
    right &= (uintptr_t)pieces[i] >= from && (uintptr_t)pieces[i] + BYTES <= to;
    memset(pieces[i], i % 251, BYTES);
  }
  for (int i = 0; i < PIECES; ++i) {
    right &= pieces[i][0] == i % 251 && pieces[i][BYTES - 1] == i % 251;
    memkind_free(kind, pieces[i]);
  }
  return right;
}

static int in_device(const char* path) {
  cxloom_dax* memory = cxloom_dax_open(path);
  if (!memory) return perror(path), 1;
  const size_t bytes = cxloom_dax_statistics_of(memory).largest_free;
  void* const all = cxloom_dax_allocate(memory, bytes);
  memkind_t kind;
  if (memkind_create_fixed(all, bytes, &kind)) return fputs("no kind\n", stderr), 1;
  puts(keeps(kind, (uintptr_t)all, (uintptr_t)all + bytes) ? "in the device" : "wrong");
  return memkind_destroy_kind(kind);
}

static int in_nodes(void) {
  char* const memory = memkind_malloc(MEMKIND_DAX_KMEM, 1 << 20);
  if (!memory) return fputs("no memory\n", stderr), 1;
  memset(memory, 1, 1 << 20);
  void* page = (void*)(((uintptr_t)memory + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
  int node = -1;
  if (syscall(SYS_move_pages, 0, 1ul, &page, NULL, &node, 0)) return perror("move_pages"), 1;
  memkind_free(MEMKIND_DAX_KMEM, memory);
  if (!keeps(MEMKIND_DAX_KMEM, 0, UINTPTR_MAX)) return fputs("wrong\n", stderr), 1;
  printf("on node %d\n", node);
  return 0;
}

int main(int argc, char** argv) { return argc > 1 ? in_device(argv[1]) : in_nodes(); }
