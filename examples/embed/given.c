/* A program that embeds cxloom as the last memory of a processor simulator: many accesses under way, each
 * with a tag, one function for all answers, and where their time went.
 *
 *   cxloom resolve examples/embed/system.yaml > system.json
 *   ./given system.json                    compiled as chase.c beside it */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>

enum { kAccesses = 1000, kAtOnce = 8, kMost = 64 };

static cxloom_simulation* simulation;
static int host, memory, made, answered;
static int64_t latency, segments[kMost];

/* Given when the program knows of it, 3 ns before it comes: its latency begins then. */
static int give(void) {
  const cxloom_access access = {.address = (uint64_t)made * 64, /* an offset in the memory */
                                .tag = (uint64_t)made,
                                .ready = cxloom_now(simulation) + 3000,
                                .bytes = 64,
                                .intent = made % 4 ? CXLOOM_READ : CXLOOM_WRITE,
                                .memory = memory};
  ++made;
  return cxloom_give(simulation, host, &access);
}

static void tell(void* user, const cxloom_answer* answer) {
  (void)user;
  ++answered;
  latency += answer->latency;
  for (int i = 0; i < cxloom_segments(); ++i) segments[i] += answer->segments[i];
  if (made < kAccesses) give();
}

int main(int argc, char** argv) {
  static char json[1 << 16];
  char* error = NULL;
  FILE* file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) return fprintf(stderr, "usage: given SYSTEM.json\n"), 2;
  json[fread(json, 1, sizeof json - 1, file)] = '\0';
  fclose(file);
  simulation = cxloom_open(json, NULL, &error);
  if (!simulation) return fprintf(stderr, "%s: %s\n", argv[1], error ? error : "out of memory"), 2;
  host = cxloom_device(simulation, "host");
  memory = cxloom_device(simulation, "memory");
  int failed = cxloom_answers(simulation, host, tell, NULL);
  while (!failed && made < kAtOnce) failed = give();
  if (failed || cxloom_finish(simulation)) return fprintf(stderr, "%s\n", cxloom_error(simulation)), 1;
  printf("%d answers, %.2f ns each:\n", answered, (double)latency / answered / 1000);
  for (int i = 0; i < cxloom_segments(); ++i)
    if (segments[i]) printf("  %-16s %.2f\n", cxloom_segment_name(i), (double)segments[i] / answered / 1000);
  cxloom_close(simulation);
  return 0;
}
