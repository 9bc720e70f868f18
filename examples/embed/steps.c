/* A program with a clock of its own that embeds cxloom: it sleeps until an answer can be there, measures each
 * of its phases by itself, and has a mode without time, in which an access takes what it takes alone.
 *
 *   cxloom resolve examples/embed/system.yaml > system.json
 *   ./steps system.json                    compiled as chase.c beside it */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>

enum { kAccesses = 256 };

static cxloom_simulation* simulation;
static int host, answered;

static int ended(const char* what) { return fprintf(stderr, "%s: %s\n", what, cxloom_error(simulation)), 1; }

static cxloom_access line(int number) {
  const cxloom_access access = {.address = (uint64_t)number * 64,
                                .tag = (uint64_t)number,
                                .bytes = 64,
                                .intent = CXLOOM_READ,
                                .memory = CXLOOM_MAPPED};
  return access;
}

static void tell(void* user, const cxloom_answer* answer) {
  (void)user;
  (void)answer;
  ++answered;
}

/* All accesses of a phase, so many at once. Gives how often the program woke, or -1. */
static int phase(int at_once) {
  int made = 0, wakes = 0;
  for (answered = 0; answered < kAccesses; ++wakes) {
    for (; made < kAccesses && made - answered < at_once; ++made) {
      const cxloom_access access = line(made);
      if (cxloom_give(simulation, host, &access)) return -1;
    }
    const int64_t next = cxloom_next_call(simulation); /* no answer comes before */
    if (next < 0 || cxloom_run_until(simulation, next) < 0) return -1;
  }
  return wakes;
}

int main(int argc, char** argv) {
  static const int kAtOnce[] = {1, 4, 64};
  static char json[1 << 16];
  char* error = NULL;
  FILE* file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) return fprintf(stderr, "usage: steps SYSTEM.json\n"), 2;
  json[fread(json, 1, sizeof json - 1, file)] = '\0';
  fclose(file);
  simulation = cxloom_open(json, NULL, &error);
  if (!simulation) return fprintf(stderr, "%s: %s\n", argv[1], error ? error : "out of memory"), 2;
  host = cxloom_device(simulation, "host");
  if (cxloom_answers(simulation, host, tell, NULL)) return ended("host");
  const cxloom_access first = line(0);
  const int64_t alone = cxloom_estimate(simulation, host, &first);
  if (alone < 0) return ended("an estimate");
  printf("alone: %.2f ns\n", (double)alone / 1000);
  for (size_t i = 0; i < sizeof kAtOnce / sizeof *kAtOnce; ++i) {
    double mean = 0, reads = 0;
    const int wakes = phase(kAtOnce[i]);
    if (wakes < 0 || cxloom_new_window(simulation)) return ended("a phase"); /* its window ends */
    if (cxloom_measure(simulation, "latency_ns.mean", &mean) ||
        cxloom_measure(simulation, "per_memory.memory.reads", &reads))
      return ended("a measure");
    printf("%d at once: %.0f reads, %.2f ns each, %d wakes\n", kAtOnce[i], reads, mean, wakes);
  }
  cxloom_close(simulation);
  return 0;
}
