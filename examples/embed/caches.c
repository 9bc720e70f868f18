/* A program that embeds cxloom and has the caches of two hosts itself: they write the same line in turns, and
 * each write asks the memory's coherency agent for the line, which takes it from the other.
 *
 *   cxloom resolve examples/embed/shared.yaml > shared.json
 *   ./caches shared.json                   compiled as chase.c beside it */
#include <cxloom/cxloom.h>
#include <stdio.h>

enum { kWrites = 1000 };

typedef struct {
  int number; /* of the device */
  int state;  /* how it holds the line */
  uint64_t value;
} host_t;

static cxloom_simulation* simulation;
static host_t hosts[2];
static uint64_t memory; /* the value there */
static int writes;
static int64_t latency;

static int own(host_t* host) {
  const cxloom_access access = {.address = 0, .bytes = 64, .intent = CXLOOM_OWN, .memory = CXLOOM_MAPPED};
  return cxloom_give(simulation, host->number, &access);
}

/* The line is here, alone: it is written, and the other host asks for it. */
static void tell(void* user, const cxloom_answer* answer) {
  host_t* host = user;
  host->state = CXLOOM_MODIFIED;
  host->value = memory + 1;
  latency += answer->latency;
  if (++writes < kWrites) own(host == &hosts[0] ? &hosts[1] : &hosts[0]);
}

/* The agent wants it back: its data go to memory. */
static void snooped(void* user, uint64_t id, uint64_t address, int purpose) {
  host_t* host = user;
  (void)address, (void)purpose;
  if (host->state == CXLOOM_MODIFIED) memory = host->value;
  host->state = cxloom_snooped(simulation, host->number, id, host->state);
}

int main(int argc, char** argv) {
  static char json[1 << 16];
  char* error = NULL;
  FILE* file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) return fprintf(stderr, "usage: caches SHARED.json\n"), 2;
  json[fread(json, 1, sizeof json - 1, file)] = '\0';
  fclose(file);
  simulation = cxloom_open(json, NULL, &error);
  if (!simulation) return fprintf(stderr, "%s: %s\n", argv[1], error ? error : "out of memory"), 2;
  int failed = 0;
  for (int i = 0; i < 2; ++i) {
    hosts[i].number = cxloom_device(simulation, i ? "right" : "left");
    failed |= cxloom_external_cache(simulation, hosts[i].number, snooped, &hosts[i]) ||
              cxloom_answers(simulation, hosts[i].number, tell, &hosts[i]);
  }
  if (failed || own(&hosts[0]) || cxloom_finish(simulation))
    return fprintf(stderr, "%s\n", cxloom_error(simulation)), 1;
  const host_t* last = hosts[0].state == CXLOOM_MODIFIED ? &hosts[0] : &hosts[1];
  printf("%d writes, the last value is %llu, %.2f ns each\n", writes, (unsigned long long)last->value,
         (double)latency / writes / 1000);
  cxloom_close(simulation);
  return 0;
}
