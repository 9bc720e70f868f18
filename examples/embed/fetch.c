/* A program that embeds cxloom as a serving simulator would: blocks of KV caches come from CXL memory to a
 * GPU, two at a time, and share its link.
 *
 *   cxloom resolve examples/embed/gpu.yaml > gpu.json
 *   ./fetch gpu.json                       compiled as chase.c beside it */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBlocks = 8, kAtOnce = 2 };
static const uint64_t kBytes = 2 << 20;

static cxloom_simulation* simulation;
static int64_t begun[kBlocks];
static int next;

static void fetched(void* user, int64_t picoseconds, uint64_t bytes);

static int fetch(void) {
  const int block = next++;
  begun[block] = cxloom_now(simulation);
  return cxloom_transfer(simulation, "gpu", kBytes, (uint64_t)block * kBytes, CXLOOM_ITSELF, fetched,
                         &begun[block]);
}

static void fetched(void* user, int64_t picoseconds, uint64_t bytes) {
  const int64_t* since = user;
  printf("block %d: %llu bytes in %.1f us\n", (int)(since - begun), (unsigned long long)bytes,
         (double)(picoseconds - *since) / 1e6);
  if (next < kBlocks) fetch();
}

int main(int argc, char** argv) {
  static char json[1 << 16];
  char* error = NULL;
  FILE* file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) return fprintf(stderr, "usage: fetch GPU.json\n"), 2;
  json[fread(json, 1, sizeof json - 1, file)] = '\0';
  fclose(file);
  simulation = cxloom_open(json, NULL, &error);
  if (!simulation) return fprintf(stderr, "%s: %s\n", argv[1], error ? error : "out of memory"), 2;
  int failed = cxloom_drive(simulation, "gpu");
  while (!failed && next < kAtOnce) failed = fetch();
  if (failed || cxloom_finish(simulation)) return fprintf(stderr, "%s\n", cxloom_error(simulation)), 1;
  printf("%d blocks in %.1f us\n", next, (double)cxloom_now(simulation) / 1e6);
  cxloom_close(simulation);
  return 0;
}
