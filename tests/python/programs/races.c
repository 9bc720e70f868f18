/* Two accesses of one host to a line beside one of another: `races FIRST SECOND SYSTEM.json` (intents). The
 * cache of the left host writes the line as soon as it may, and the right one asks for it at each time. No
 * answer to a snoop is refused, and all are answered. Prints how many snoops met the line modified with an
 * access of its host under way. */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>

static cxloom_simulation* s;
static int numbers[2], states[2], under_way[2], answers, problems, met;

static void check(int truth, const char* what, int64_t value) {
  if (truth) return;
  if (++problems <= 10)
    printf("%lld ps: %s, %lld (%s)\n", (long long)cxloom_now(s), what, (long long)value, cxloom_error(s));
}

static int leaves_nothing; /* the second access of the left host */

static void tell(void* user, const cxloom_answer* answer) {
  const int host = *(int*)user;
  ++answers;
  --under_way[host];
  if (answer->granted != CXLOOM_INVALID && !(under_way[host] > 0 && leaves_nothing)) {
    states[host] = answer->granted == CXLOOM_EXCLUSIVE ? CXLOOM_MODIFIED : answer->granted;
    check(states[host] != CXLOOM_MODIFIED || states[!host] == CXLOOM_INVALID, "a writer beside a copy", host);
  }
  if (answer->tag == CXLOOM_OWN || answer->tag == CXLOOM_UPGRADE)
    check(answer->granted == CXLOOM_EXCLUSIVE, "granted to a writer", answer->granted);
}

static void snooped(void* user, uint64_t id, uint64_t address, int purpose) {
  const int host = *(int*)user;
  const int held = states[host];
  (void)address;
  met += held == CXLOOM_MODIFIED && under_way[host] > 0;
  states[host] = cxloom_snooped(s, numbers[host], id, held);
  check(states[host] >= 0 && states[host] <= held, "left by a snoop", states[host]);
  check(purpose != CXLOOM_TO_INVALIDATE || states[host] == CXLOOM_INVALID, "left by an invalidation",
        states[host]);
}

static void give(int host, int intent, int64_t ready) {
  const cxloom_access access = {0, (uint64_t)intent, ready, 64, intent, CXLOOM_MAPPED};
  ++under_way[host];
  check(cxloom_give(s, numbers[host], &access) == 0, "an access is refused", intent);
}

static void race(const char* json, int first, int second, int64_t later, int64_t right) {
  static int hosts[2] = {0, 1};
  s = cxloom_open(json, 0, 0);
  answers = 0;
  leaves_nothing = second == CXLOOM_WRITE;
  for (int i = 0; i < 2; ++i) {
    states[i] = CXLOOM_INVALID;
    under_way[i] = 0;
    numbers[i] = cxloom_device(s, i ? "right" : "left");
    check(cxloom_external_cache(s, numbers[i], snooped, &hosts[i]) == 0, "no cache", i);
    check(cxloom_answers(s, numbers[i], tell, &hosts[i]) == 0, "no answers", i);
  }
  give(0, first, 0);
  give(0, second, later);
  give(1, CXLOOM_OWN, right);
  check(cxloom_run_until(s, 20000000) == 0 && answers == 3, "not all are answered", answers);
  /* The line goes on: nothing is left behind. */
  give(0, CXLOOM_OWN, 0);
  give(1, CXLOOM_READ, 20500000);
  check(cxloom_finish(s) == 0 && answers == 5, "not all are answered behind it", answers);
  cxloom_close(s);
}

int main(int argc, char** argv) {
  static char json[1 << 17];
  FILE* file = argc == 4 ? fopen(argv[3], "r") : 0;
  if (!file) return 2;
  (void)!fread(json, 1, sizeof json - 1, file);
  fclose(file);
  for (int64_t later = 0; later <= 500000; later += 250000)
    for (int64_t right = 0; right <= 600000; right += 4000)
      race(json, atoi(argv[1]), atoi(argv[2]), later, right);
  printf("%d\n", met);
  return problems > 0;
}
