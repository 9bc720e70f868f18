/* A medium outside: `medium TEST SYSTEM.json`. */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 3000, kTime = 45000 };

static cxloom_simulation* s;
static int host, memory, problems, answers, begun, outside, most_outside, writes;
static int64_t at[kMost];
static int tags[kMost], tagged;

#define EXPECT(what)                                       \
  do {                                                     \
    if (!(what)) {                                         \
      printf("not so: %s (%s)\n", #what, cxloom_error(s)); \
      ++problems;                                          \
    }                                                      \
  } while (0)
#define SAYS(text) (strstr(cxloom_error(s), text) != 0)

static void tell(void* user, const cxloom_answer* answer) {
  int64_t sum = 0;
  (void)user;
  ++answers;
  for (int i = 0; i < cxloom_segments(); ++i) sum += answer->segments[i];
  EXPECT(sum == answer->latency);
  at[answer->tag] = answer->picoseconds;
}

/* What the program has, by the time of its end. */
static struct {
  uint64_t id;
  int64_t end;
} held[kMost];
static int first, last;

static void note(const cxloom_medium_access* access) {
  ++begun;
  writes += access->write;
  EXPECT(access->memory == memory && access->requester == host);
  if (access->has_tag) tags[access->tag] += 1, ++tagged;
}
static void at_once(void* user, const cxloom_medium_access* access) {
  (void)user;
  note(access);
  EXPECT(cxloom_medium_done(s, memory, access->id, cxloom_now(s) + kTime) == 0);
}
static void later(void* user, const cxloom_medium_access* access) {
  (void)user;
  note(access);
  held[last].id = access->id;
  held[last++].end = cxloom_now(s) + kTime;
  if (++outside > most_outside) most_outside = outside;
}
static void keep(void* user, const cxloom_medium_access* access) { *(cxloom_medium_access*)user = *access; }

static void give_all(void) {
  uint64_t state = 7;
  for (int i = 0; i < kMost; ++i) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    const cxloom_access access = {(state >> 33) % (1u << 24) * 64,
                                  (uint64_t)i,
                                  i * 1500,
                                  64,
                                  (state >> 20) % 3 ? CXLOOM_READ : CXLOOM_WRITE,
                                  CXLOOM_MAPPED};
    EXPECT(cxloom_give(s, host, &access) == 0);
  }
}

/* Its own time and the simulation's go together: what ends is told when it ends. */
static void play(void) {
  while (answers < kMost && !problems) {
    const int64_t next = cxloom_next_event(s);
    if (first < last && held[first].end <= next) {
      EXPECT(cxloom_run_until(s, held[first].end) == 0);
      EXPECT(cxloom_medium_done(s, memory, held[first].id, 0) == 0);
      ++first;
      --outside;
    } else {
      EXPECT(next < INT64_MAX && cxloom_run_until(s, next) == 0);
    }
  }
}

static void misuse(void) {
  static cxloom_medium_access kept;
  cxloom_access access = {0, 0, 0, 64, CXLOOM_READ, CXLOOM_MAPPED};
  EXPECT(cxloom_external_medium(s, 99, keep, &kept) == -1 && SAYS("no device of that number"));
  EXPECT(cxloom_external_medium(s, host, keep, &kept) == -1 && SAYS("without memory"));
  EXPECT(cxloom_external_medium(s, memory, 0, 0) == -1 && SAYS("NULL"));
  EXPECT(cxloom_medium_done(s, memory, 1, 0) == -1 && SAYS("is not outside"));
  EXPECT(cxloom_external_medium(s, memory, keep, &kept) == 0);
  EXPECT(cxloom_external_medium(s, memory, keep, &kept) == -1 && SAYS("outside already"));
  EXPECT(cxloom_give(s, host, &access) == 0);
  EXPECT(cxloom_medium_done(s, memory, 0, 0) == -1 && SAYS("no access of that number"));
  EXPECT(cxloom_run_until(s, 1000000) == 0 && kept.id && answers == 0);
  EXPECT(cxloom_next_event(s) == INT64_MAX);
  EXPECT(cxloom_external_medium(s, memory, keep, &kept) == -1 && SAYS("has run"));
  EXPECT(cxloom_medium_done(s, memory, kept.id + 1, 0) == -1 && SAYS("no access of that number"));
  EXPECT(cxloom_medium_done(s, memory, kept.id, 999999) == -1 && SAYS("before now"));
  EXPECT(cxloom_medium_done(s, memory, kept.id, INT64_MAX - 1) == -1 && SAYS("too late"));
  EXPECT(cxloom_finish(s) == -1 && SAYS("found 1;") && SAYS("media outside"));
  EXPECT(cxloom_medium_done(s, memory, kept.id, 0) == 0);
  EXPECT(cxloom_medium_done(s, memory, kept.id, 0) == -1 && SAYS("no access of that number"));
  EXPECT(cxloom_finish(s) == 0 && answers == 1);
  EXPECT(at[0] > 1000000);
  EXPECT(cxloom_external_medium(s, memory, keep, &kept) == -1 && SAYS("is over"));
}

int main(int argc, char** argv) {
  static char json[1 << 17];
  char* error = 0;
  FILE* file = fopen(argv[argc - 1], "r");
  (void)!fread(json, 1, sizeof json - 1, file);
  fclose(file);
  s = cxloom_open(json, 0, &error);
  if (!s) return puts(error), 1;
  host = cxloom_device(s, "host");
  memory = cxloom_device(s, "memory");
  EXPECT(cxloom_answers(s, host, tell, 0) == 0);
  if (!strcmp(argv[1], "misuse")) {
    misuse();
  } else {
    const int own = !strcmp(argv[1], "own");
    if (!own) EXPECT(cxloom_external_medium(s, memory, strcmp(argv[1], "later") ? at_once : later, 0) == 0);
    give_all();
    if (!strcmp(argv[1], "later")) play();
    EXPECT(cxloom_finish(s) == 0 && answers == kMost);
    EXPECT(own || begun == kMost);
    if (!own && argc == 3)
      for (int i = 0; i < kMost; ++i) EXPECT(tags[i] == 1);
    for (int i = 0; i < kMost; ++i) printf("%lld\n", (long long)at[i]);
    fprintf(stderr, "%d %d %d\n", most_outside, writes, tagged);
  }
  cxloom_close(s);
  return problems > 0;
}
