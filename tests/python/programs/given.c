/* Gives accesses by number and tag: `given TEST SYSTEM.json`. Says what is not as it must be, and how many.
 */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cxloom_simulation* s;
static int host, problems, answers, failures;
static int64_t at[4096], latencies[4096], last_segments[64];
static int targets[4096];

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
  ++answers;
  failures += answer->failed;
  *(int*)user += 1;
  for (int i = 0; i < cxloom_segments(); ++i) {
    sum += answer->segments[i];
    last_segments[i] = answer->segments[i];
    EXPECT(answer->segments[i] >= 0);
  }
  EXPECT(sum == answer->latency);
  EXPECT(answer->picoseconds == cxloom_now(s));
  if (answer->tag < 4096) {
    at[answer->tag] = answer->picoseconds;
    latencies[answer->tag] = answer->latency;
    targets[answer->tag] = answer->target;
  }
}

static int segment(const char* name) {
  for (int i = 0; i < cxloom_segments(); ++i)
    if (strcmp(cxloom_segment_name(i), name) == 0) return i;
  return -1;
}

static cxloom_access access_of(uint64_t address, uint64_t tag) {
  cxloom_access access = {address, tag, 0, 64, CXLOOM_READ, CXLOOM_MAPPED};
  return access;
}

/* 10 process + 16 B and 16 + 64 B at 32 GB/s + twice 2 x 25 port and 5 wire + 40 controller + 45 media. */
static void alone(void) {
  cxloom_access access = access_of(0, 7);
  EXPECT(cxloom_give(s, host, &access) == 0);
  EXPECT(cxloom_run_until(s, 1000000) == 0 && answers == 1);
  EXPECT(latencies[7] == 10000 + 500 + 2500 + 2 * (2 * 25000 + 5000) + 40000 + 45000);
  EXPECT(at[7] == latencies[7]);
  EXPECT(last_segments[segment("process")] == 10000);
  EXPECT(last_segments[segment("controller")] == 40000);
  EXPECT(last_segments[segment("media")] == 45000);
  EXPECT(last_segments[segment("port_delay")] == 100000);
  EXPECT(last_segments[segment("propagation")] == 10000);
  EXPECT(targets[7] == cxloom_device(s, "memory"));
  EXPECT(cxloom_segment_name(-1) == 0 && cxloom_segment_name(cxloom_segments()) == 0);
  /* The memory by its number: the same place, and so the same time. */
  access.memory = cxloom_device(s, "memory");
  access.tag = 8;
  EXPECT(cxloom_give(s, host, &access) == 0);
  EXPECT(cxloom_run_until(s, 2000000) == 0 && answers == 2 && latencies[8] == latencies[7]);
}

/* Those that come later are answered as if they had been given then, in whatever order they are given. */
static void later(void) {
  cxloom_access access = access_of(0, 1);
  access.ready = 900000;
  EXPECT(cxloom_give(s, host, &access) == 0);
  access.tag = 2;
  access.ready = 300000;
  EXPECT(cxloom_give(s, host, &access) == 0);
  access.tag = 3;
  access.ready = 0;
  EXPECT(cxloom_give(s, host, &access) == 0);
  EXPECT(cxloom_run_until(s, 250000) == 0 && answers == 1);
  EXPECT(cxloom_run_until(s, 550000) == 0 && answers == 2);
  access.tag = 4;
  access.ready = 549999;
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("ready before now") && SAYS("550"));
  /* Those that are expected come even after the end was asked for. */
  EXPECT(cxloom_finish(s) == 0 && answers == 3);
  EXPECT(latencies[1] == latencies[3] && latencies[2] == latencies[3]);
  EXPECT(at[2] == 300000 + latencies[3] && at[1] == 900000 + latencies[3]);
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("the simulation is over"));
  char* summary = cxloom_summary(s);
  EXPECT(summary && strstr(summary, "\"requests\": 3"));
  cxloom_free(summary);
}

/* With room for two the others wait, and their latency begins when they are ready all the same. */
static void full(void) {
  for (uint64_t i = 0; i < 4; ++i) {
    cxloom_access access = access_of(i * 64, i);
    access.ready = i % 2 ? 0 : 1000;
    EXPECT(cxloom_give(s, host, &access) == 0);
  }
  EXPECT(cxloom_finish(s) == 0 && answers == 4);
  int64_t last = 0;
  for (int i = 0; i < 4; ++i) {
    EXPECT(latencies[i] == at[i] - (i % 2 ? 0 : 1000));
    if (at[i] > last) last = at[i];
  }
  EXPECT(last > 2 * (10000 + 40000 + 45000)); /* two turns */
  EXPECT(last_segments[segment("requester_queue")] > 10000 + 40000 + 45000);
}

static void refused(void) {
  cxloom_access access = access_of(0, 0);
  const int memory = cxloom_device(s, "memory");
  const int others = 7777;
  EXPECT(cxloom_device(s, "hots") == -1 && SAYS("'hots'"));
  EXPECT(cxloom_device(s, 0) == -1);
  EXPECT(cxloom_answers(s, others, tell, &answers) == -1 && SAYS("no device of that number"));
  EXPECT(cxloom_answers(s, -1, tell, &answers) == -1 && SAYS("no device of that number"));
  EXPECT(cxloom_answers(s, memory, tell, &answers) == -1 && SAYS("makes no requests"));
  EXPECT(cxloom_answers(s, host, 0, 0) == -1 && SAYS("NULL"));
  EXPECT(cxloom_give(s, others, &access) == -1 && SAYS("no device of that number"));
  EXPECT(cxloom_give(s, memory, &access) == -1 && SAYS("'memory' is not driven"));
  access.bytes = 0;
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("0 bytes"));
  access.bytes = 4097;
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("4096"));
  access.bytes = 64;
  access.intent = 77;
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("77"));
  access.intent = CXLOOM_ATOMIC;
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("4 or 8"));
  access.bytes = 8;
  access.address = 4;
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("4 or 8"));
  access = access_of(1ull << 40, 0);
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("no region"));
  access = access_of((1ull << 30) - 32, 0);
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("no region"));
  access = access_of(0, 0);
  EXPECT(cxloom_give(s, host, &access) == 0); /* addresses are known from here on */
  access = access_of((1ull << 30) - 32, 0);
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("no region"));
  access = access_of(UINT64_MAX, 0);
  EXPECT(cxloom_give(s, host, &access) == -1);
  access = access_of(1ull << 30, 0);
  access.memory = memory;
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("offset"));
  access.address = (1ull << 30) - 32;
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("at most 32 bytes"));
  access.memory = host;
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("offset"));
  access.memory = -5;
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("offset"));
  EXPECT(cxloom_finish(s) == 0 && answers == 1);
}

/* Two memories that take turns by 256 B: offset o of the second is address 512 (o / 256) + 256 + o % 256. */
static void offsets(void) {
  const int memories[] = {cxloom_device(s, "a"), cxloom_device(s, "b")};
  for (int i = 0; i < 2; ++i) {
    for (uint64_t offset = 0; offset < 4096; offset += 64) {
      cxloom_access access = access_of(offset, offset / 64 + 64 * (uint64_t)i);
      access.memory = memories[i];
      EXPECT(cxloom_give(s, host, &access) == 0);
    }
  }
  EXPECT(cxloom_run_until(s, 1000000000) == 0 && answers == 128);
  for (int i = 0; i < 128; ++i) EXPECT(targets[i] == memories[i / 64]);
  cxloom_access access = access_of(192, 0);
  access.bytes = 128;
  access.memory = memories[0];
  EXPECT(cxloom_give(s, host, &access) == -1 && SAYS("at most 64 bytes"));
  EXPECT(cxloom_finish(s) == 0);
}

/* Random accesses with room for few: each is answered once, and its segments sum to its latency. */
static void many(void) {
  uint64_t state = 1;
  int given = 0;
  static int seen[4096];
  for (; given < 4000; ++given) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    cxloom_access access = access_of((state >> 33) % (1u << 28) / 64 * 64, (uint64_t)given);
    access.bytes = (state >> 20) % 8 ? 64 : 200;
    access.intent = (state >> 24) % 3 ? CXLOOM_READ : CXLOOM_WRITE;
    access.ready = (state >> 28) % 4 ? 0 : cxloom_now(s) + (int64_t)((state >> 40) % 100000);
    EXPECT(cxloom_give(s, host, &access) == 0);
    if (given % 7 == 0) EXPECT(cxloom_run_until(s, cxloom_now(s) + 20000) == 0);
  }
  EXPECT(cxloom_finish(s) == 0 && answers == given && failures == 0);
  for (int i = 0; i < given; ++i) seen[i] = latencies[i] > 0;
  for (int i = 0; i < given; ++i) EXPECT(seen[i]);
}

int main(int argc, char** argv) {
  static char json[1 << 17];
  static int told;
  char* error = 0;
  FILE* file = fopen(argv[argc - 1], "r");
  (void)!fread(json, 1, sizeof json - 1, file);
  fclose(file);
  s = cxloom_open(json, 0, &error);
  if (!s) return puts(error), 1;
  host = cxloom_device(s, "host");
  EXPECT(host >= 0);
  EXPECT(cxloom_answers(s, host, tell, &told) == 0);
  if (!strcmp(argv[1], "alone")) alone();
  else if (!strcmp(argv[1], "later")) later();
  else if (!strcmp(argv[1], "full")) full();
  else if (!strcmp(argv[1], "refused")) refused();
  else if (!strcmp(argv[1], "offsets")) offsets();
  else if (!strcmp(argv[1], "many")) many();
  else ++problems;
  EXPECT(told == answers);
  cxloom_close(s);
  return problems > 0;
}
