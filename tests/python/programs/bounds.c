/* Bounds, estimates and windows: `bounds TEST NUMBER SYSTEM.json`. */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cxloom_simulation* s;
static int host, other, problems, given, answers;
static int64_t latency, promise;
static int promise_given = -2; /* -2: nothing is promised */
static uint64_t state;

#define EXPECT(what)                                       \
  do {                                                     \
    if (!(what)) {                                         \
      printf("not so: %s (%s)\n", #what, cxloom_error(s)); \
      ++problems;                                          \
    }                                                      \
  } while (0)
#define SAYS(text) (strstr(cxloom_error(s), text) != 0)

static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (state >> 33) % below;
}

static void tell(void* user, const cxloom_answer* answer) {
  (void)user;
  ++answers;
  latency = answer->latency;
  /* What it said within an answer before holds until this one, if nothing was given since. */
  if (promise_given == given) EXPECT(promise <= cxloom_now(s));
  if (promise_given >= -1) {
    promise = cxloom_next_call(s);
    promise_given = given;
  }
}

static int lines_alone;
static cxloom_access any(void) {
  static const uint32_t sizes[] = {64, 64, 64, 8, 200, 4096};
  const cxloom_access access = {draw(1u << 14) * 64,
                                (uint64_t)given,
                                draw(3) ? 0 : cxloom_now(s) + (int64_t)draw(300000),
                                lines_alone ? 64 : sizes[draw(6)],
                                draw(3) ? CXLOOM_READ : CXLOOM_WRITE,
                                CXLOOM_MAPPED};
  return access;
}
static void give(void) {
  const cxloom_access access = any();
  EXPECT(cxloom_give(s, other >= 0 && draw(2) ? other : host, &access) == 0);
  ++given;
}

/* No answer comes before the bound, which is never before the next event. */
static void bound(int most, int at_once) {
  int wakes = 0, useful = 0;
  promise_given = -1;
  EXPECT(cxloom_next_call(s) == INT64_MAX);
  while (answers < most && !problems) {
    while (given < most && given - answers < at_once && draw(4)) give();
    if (given == answers) continue;
    const int64_t earliest = cxloom_next_call(s);
    EXPECT(earliest < INT64_MAX && earliest >= cxloom_now(s) && earliest >= cxloom_next_event(s));
    const int before = answers;
    /* Now and then it comes earlier, for more accesses: the bound is another one then. */
    if (draw(5) == 0 && earliest - cxloom_now(s) > 2) {
      EXPECT(cxloom_run_until(s, cxloom_now(s) + (earliest - cxloom_now(s)) / 2) == 0);
      EXPECT(answers == before);
      continue;
    }
    if (earliest > cxloom_now(s)) EXPECT(cxloom_run_until(s, earliest - 1) == 0 && answers == before);
    EXPECT(cxloom_run_until(s, earliest) == 0);
    ++wakes;
    useful += answers > before;
  }
  EXPECT(cxloom_finish(s) == 0 && answers == most);
  EXPECT(cxloom_next_call(s) == INT64_MAX);
  printf("%d %d %d\n", most, wakes, useful);
}

/* What an access alone takes is what was estimated, before it and after it. */
static void estimate(int most) {
  for (int i = 0; i < most && !problems; ++i) {
    cxloom_access access = any();
    access.ready = 0;
    const int64_t before = cxloom_estimate(s, host, &access);
    EXPECT(cxloom_give(s, host, &access) == 0);
    EXPECT(cxloom_run_until(s, cxloom_now(s) + 100000000) == 0 && answers == i + 1);
    const int64_t after = cxloom_estimate(s, host, &access);
    if (before != latency || after != latency) {
      printf("%u bytes at %llu: %lld, estimated %lld and %lld\n", access.bytes,
             (unsigned long long)access.address, (long long)latency, (long long)before, (long long)after);
      ++problems;
    }
  }
  cxloom_access access = any();
  access.bytes = 0;
  EXPECT(cxloom_estimate(s, host, &access) == -1 && SAYS("0 bytes"));
  access = any();
  access.address = 1ull << 60;
  EXPECT(cxloom_estimate(s, host, &access) == -1 && SAYS("no region"));
  EXPECT(cxloom_estimate(s, 99, &access) == -1 && SAYS("no device of that number"));
}

/* The first memory is bound to another host, the second to this one. */
static void unbound(uint64_t second) {
  cxloom_access access = {0, 0, 0, 64, CXLOOM_READ, CXLOOM_MAPPED};
  EXPECT(cxloom_estimate(s, host, &access) == -1 && SAYS("without data"));
  access.address = second;
  EXPECT(cxloom_estimate(s, host, &access) > 0);
  EXPECT(cxloom_now(s) == 0);
}

/* Accesses up to 4 us, of which the window that is looked at begins at `at`, if there is one. */
static void window(int64_t at) {
  for (int i = 0; i < 400; ++i) {
    cxloom_access access = any();
    access.tag = (uint64_t)i;
    access.ready = (int64_t)draw(4000000) + 1;
    EXPECT(cxloom_give(s, host, &access) == 0);
  }
  double first = 0, second = 0, whole = 0, mean = 0;
  EXPECT(cxloom_measure(s, "requests", &first) == -1 && SAYS("no window has ended"));
  if (at) {
    EXPECT(cxloom_run_until(s, at) == 0);
    EXPECT(cxloom_new_window(s) == 0);
    EXPECT(cxloom_measure(s, "requests", &first) == 0 && first == answers);
    EXPECT(cxloom_measure(s, "latency_ns.mean", &mean) == 0 && mean > 0);
    EXPECT(cxloom_measure(s, "per_memory.memory.accesses", &whole) == -1 && SAYS("no measure of that name"));
    EXPECT(cxloom_measure(s, "stop_reason", &whole) == -1 && SAYS("no number"));
    char* summary = cxloom_summary(s);
    EXPECT(summary != 0);
    cxloom_free(summary);
  }
  EXPECT(cxloom_finish(s) == 0 && answers == 400);
  if (at) {
    /* The window ends before the last are answered: what was under way when it began has their place. */
    EXPECT(cxloom_measure(s, "requests", &second) == 0 && second > 250 && first + second <= 400);
    EXPECT(cxloom_new_window(s) == -1 && SAYS("is over"));
  }
  char* summary = cxloom_summary(s);
  puts(summary ? summary : cxloom_error(s));
  cxloom_free(summary);
}

int main(int argc, char** argv) {
  static char json[1 << 18];
  char* error = 0;
  FILE* file = argc == 4 ? fopen(argv[3], "r") : 0;
  if (!file) return 2;
  (void)!fread(json, 1, sizeof json - 1, file);
  fclose(file);
  s = cxloom_open(json, 0, &error);
  if (!s) return puts(error), 1;
  host = cxloom_device(s, "host");
  other = cxloom_device(s, "other");
  const long long number = atoll(argv[2]);
  state = strcmp(argv[1], "window") ? (uint64_t)number : 5;
  EXPECT(cxloom_answers(s, host, tell, 0) == 0);
  if (other >= 0) EXPECT(cxloom_answers(s, other, tell, 0) == 0);
  if (!strcmp(argv[1], "bound")) bound(400, 1 + (int)draw(24));
  else if (!strcmp(argv[1], "alone")) lines_alone = 1, bound(400, 1);
  else if (!strcmp(argv[1], "lines")) lines_alone = 1, bound(400, 16);
  else if (!strcmp(argv[1], "estimate")) estimate((int)number);
  else if (!strcmp(argv[1], "unbound")) unbound(number);
  else window(number);
  cxloom_close(s);
  return problems > 0;
}
