/* Estimates beside caches outside, and what is refused: `idle TEST SYSTEM.json`, a system with the hosts
 * `left` and `right` whose caches are outside, `plain` whose is not, and the memory `pool.0`. */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cxloom_simulation* s;
static int left, right, plain, pool, problems;
static int64_t latency;

#define EXPECT(what)                                       \
  do {                                                     \
    if (!(what)) {                                         \
      printf("not so: %s (%s)\n", #what, cxloom_error(s)); \
      ++problems;                                          \
    }                                                      \
  } while (0)
#define SAYS(text) (strstr(cxloom_error(s), text) != 0)

static void tell(void* user, const cxloom_answer* answer) {
  (void)user;
  latency = answer->latency;
}

static void snooped(void* user, uint64_t id, uint64_t address, int purpose) {
  (void)address, (void)purpose;
  cxloom_snooped(s, *(int*)user, id, CXLOOM_INVALID);
}

static cxloom_access line(uint64_t number, int intent) {
  const cxloom_access access = {number * 64, 0, 0, 64, intent, CXLOOM_MAPPED};
  return access;
}

static int64_t estimate(uint64_t number, int intent) {
  const cxloom_access access = line(number, intent);
  return cxloom_estimate(s, left, &access);
}

static int64_t alone(uint64_t number, int intent) {
  const cxloom_access access = line(number, intent);
  EXPECT(cxloom_give(s, left, &access) == 0);
  EXPECT(cxloom_run_until(s, cxloom_now(s) + 10000000) == 0);
  return latency;
}

/* The filter has four entries: what it keeps of one estimate would be evicted for another. */
static void estimates(void) {
  static const int intents[] = {CXLOOM_READ,       CXLOOM_OWN,         CXLOOM_UPGRADE, CXLOOM_WRITE,
                                CXLOOM_WRITE_BACK, CXLOOM_CLEAN_EVICT, CXLOOM_CURRENT};
  int64_t first[7];
  for (int i = 0; i < 7; ++i) {
    first[i] = estimate(0, intents[i]);
    EXPECT(first[i] > 0);
  }
  for (uint64_t number = 0; number < 12; ++number)
    for (int i = 0; i < 7; ++i) EXPECT(estimate(number, intents[6 - i]) == first[6 - i]);
  EXPECT(alone(0, CXLOOM_READ) == first[0]);
  /* Granted exclusive already: nothing is asked. An upgrade has a way to the home, and brings no data. */
  EXPECT(alone(0, CXLOOM_UPGRADE) < first[2] && first[2] < first[1]);
  EXPECT(alone(0, CXLOOM_CLEAN_EVICT) == first[5]);
  EXPECT(alone(1, CXLOOM_OWN) == first[1]);
  EXPECT(alone(1, CXLOOM_WRITE_BACK) == first[4]);
  EXPECT(alone(2, CXLOOM_WRITE) == first[3]);
}

static void refused(void) {
  double value = 0;
  cxloom_access access = line(0, CXLOOM_OWN);
  EXPECT(cxloom_estimate(s, plain, &access) == -1 && SAYS("no cache outside"));
  access.intent = CXLOOM_WRITE_BACK;
  EXPECT(cxloom_estimate(s, plain, &access) == -1 && SAYS("no cache outside"));
  EXPECT(cxloom_estimate(s, pool, &access) == -1);
  EXPECT(cxloom_estimate(s, left, 0) == -1 && SAYS("NULL"));
  EXPECT(cxloom_give(s, left, 0) == -1 && SAYS("NULL"));
  access = line(0, CXLOOM_READ);
  EXPECT(cxloom_give(s, right, &access) == -1 && SAYS("'right' is outside, and nobody has it"));
  access.ready = INT64_MAX - 1;
  EXPECT(cxloom_give(s, left, &access) == -1 && SAYS("too late"));
  access.ready = INT64_MAX / 2 + 1;
  EXPECT(cxloom_give(s, left, &access) == -1 && SAYS("too late"));
  EXPECT(cxloom_snooped(s, -1, 5, CXLOOM_INVALID) == -1 && SAYS("-1") && !SAYS("4294967295"));
  EXPECT(cxloom_snooped(s, plain, 5, CXLOOM_INVALID) == -1 && SAYS("'plain'"));
  EXPECT(cxloom_medium_done(s, pool, 1, 0) == -1 && SAYS("'pool.0'"));
  EXPECT(cxloom_medium_done(s, 99, 1, 0) == -1 && SAYS("99"));
  EXPECT(cxloom_new_window(s) == 0);
  EXPECT(alone(0, CXLOOM_READ) > 0);
  EXPECT(cxloom_new_window(s) == 0);
  EXPECT(cxloom_measure(s, "requests", &value) == 0 && value == 1);
  EXPECT(cxloom_measure(s, "per_memory.pool.0.reads", &value) == 0 && value == 1);
  EXPECT(cxloom_measure(s, "write.latency_ns.mean", &value) == 0 && value != value); /* of nothing */
  EXPECT(cxloom_measure(s, "requests", 0) == -1 && SAYS("NULL"));
  EXPECT(cxloom_measure(s, "requests.", &value) == -1);
  EXPECT(cxloom_measure(s, "latency_ns..mean", &value) == -1 && SAYS("no measure of that name"));
  EXPECT(cxloom_measure(s, "latency_ns.mean.", &value) == -1);
  EXPECT(cxloom_measure(s, "", &value) == -1);
}

int main(int argc, char** argv) {
  static char json[1 << 17];
  FILE* file = argc == 3 ? fopen(argv[2], "r") : 0;
  if (!file) return 2;
  (void)!fread(json, 1, sizeof json - 1, file);
  fclose(file);
  char* error = 0;
  s = cxloom_open(json, 0, &error);
  if (!s) return puts(error), 1;
  left = cxloom_device(s, "left"), right = cxloom_device(s, "right");
  plain = cxloom_device(s, "plain"), pool = cxloom_device(s, "pool.0");
  EXPECT(left >= 0 && right >= 0 && plain >= 0 && pool >= 0);
  EXPECT(cxloom_external_cache(s, left, snooped, &left) == 0);
  EXPECT(cxloom_answers(s, left, tell, 0) == 0 && cxloom_answers(s, right, tell, 0) == 0);
  if (!strcmp(argv[1], "estimates")) estimates();
  else refused();
  cxloom_close(s);
  return problems > 0;
}
