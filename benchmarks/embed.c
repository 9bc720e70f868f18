/* The instructions of an access that a program gives: `cxloom_embed WAY ACCESSES SYSTEM.json`, where WAY is
 * `give` (by number and tag), `inject` (by name, with a function), or `workload`, in which the system makes
 * its accesses itself. benchmarks/embed.py counts them. */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kAtOnce = 64 };
static const uint64_t kBytes = 1ull << 30;

static cxloom_simulation* simulation;
static uint64_t made, wanted, state = 1;
static int host;

static uint64_t address(void) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (state >> 20) % (kBytes / 64) * 64;
}

static int give(void) {
  const cxloom_access access = {.address = address(),
                                .tag = made,
                                .bytes = 64,
                                .intent = made % 3 == 0 ? CXLOOM_WRITE : CXLOOM_READ,
                                .memory = CXLOOM_MAPPED};
  ++made;
  return cxloom_give(simulation, host, &access);
}
static void tell(void* user, const cxloom_answer* answer) {
  (void)user, (void)answer;
  if (made < wanted) give();
}

static void answered(void* user, int64_t picoseconds);
static int inject(void) {
  const int write = made % 3 == 0;
  ++made;
  return cxloom_inject(simulation, "host", address(), 64, write, answered, &made);
}
static void answered(void* user, int64_t picoseconds) {
  (void)user, (void)picoseconds;
  if (made < wanted) inject();
}

int main(int argc, char** argv) {
  static char json[1 << 17];
  char* error = NULL;
  FILE* file = argc == 4 ? fopen(argv[3], "r") : NULL;
  if (!file) return fprintf(stderr, "usage: cxloom_embed give|inject|workload ACCESSES SYSTEM.json\n"), 2;
  json[fread(json, 1, sizeof json - 1, file)] = '\0';
  fclose(file);
  wanted = strtoull(argv[2], NULL, 10);
  simulation = cxloom_open(json, NULL, &error);
  if (!simulation) return fprintf(stderr, "%s\n", error ? error : "out of memory"), 2;
  int failed = 0;
  if (!strcmp(argv[1], "give")) {
    host = cxloom_device(simulation, "host");
    failed = cxloom_answers(simulation, host, tell, NULL);
    while (!failed && made < kAtOnce) failed = give();
  } else if (!strcmp(argv[1], "inject")) {
    failed = cxloom_drive(simulation, "host");
    while (!failed && made < kAtOnce) failed = inject();
  }
  if (failed || cxloom_finish(simulation)) return fprintf(stderr, "%s\n", cxloom_error(simulation)), 1;
  cxloom_close(simulation);
  return 0;
}
