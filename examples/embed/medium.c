/* A program that embeds cxloom and is itself the medium of its memory: a row buffer, 15 ns for a hit and 45
 * ns for another row, one access after the other.
 *
 *   cxloom resolve examples/embed/system.yaml > system.json
 *   ./medium system.json                   compiled as chase.c beside it */
#include <cxloom/cxloom.h>
#include <stdio.h>

enum { kAccesses = 1000, kAtOnce = 4 };

static cxloom_simulation* simulation;
static int host, made, answered, hits;
static int64_t latency, free_at;
static uint64_t open_row = UINT64_MAX;

/* An access begins: when it ends is known at once. */
static void medium(void* user, const cxloom_medium_access* access) {
  const uint64_t row = access->address / 8192;
  const int64_t now = cxloom_now(simulation);
  (void)user;
  if (free_at < now) free_at = now;
  free_at += row == open_row ? 15000 : 45000;
  hits += row == open_row;
  open_row = row;
  cxloom_medium_done(simulation, access->memory, access->id, free_at);
}

static int give(void) {
  const cxloom_access access = {.address = (uint64_t)made * 256,
                                .tag = (uint64_t)made,
                                .bytes = 64,
                                .intent = CXLOOM_READ,
                                .memory = CXLOOM_MAPPED};
  ++made;
  return cxloom_give(simulation, host, &access);
}

static void tell(void* user, const cxloom_answer* answer) {
  (void)user;
  ++answered;
  latency += answer->latency;
  if (made < kAccesses) give();
}

int main(int argc, char** argv) {
  static char json[1 << 16];
  char* error = NULL;
  FILE* file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) return fprintf(stderr, "usage: medium SYSTEM.json\n"), 2;
  json[fread(json, 1, sizeof json - 1, file)] = '\0';
  fclose(file);
  simulation = cxloom_open(json, NULL, &error);
  if (!simulation) return fprintf(stderr, "%s: %s\n", argv[1], error ? error : "out of memory"), 2;
  host = cxloom_device(simulation, "host");
  int failed = cxloom_answers(simulation, host, tell, NULL) ||
               cxloom_external_medium(simulation, cxloom_device(simulation, "memory"), medium, NULL);
  while (!failed && made < kAtOnce) failed = give();
  if (failed || cxloom_finish(simulation)) return fprintf(stderr, "%s\n", cxloom_error(simulation)), 1;
  printf("%d reads, %d in an open row, %.2f ns each\n", answered, hits, (double)latency / answered / 1000);
  cxloom_close(simulation);
  return 0;
}
