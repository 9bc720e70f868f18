/* Caches outside: `caches SEED ACCESSES SLOW SYSTEM.json`. Each host of the system (h0, h1, ...) has a cache
 * here, with the states and the values of a few lines, which does at random what caches do. At each grant and
 * each write one may write or many may read, and whoever reads has the value written last. SLOW: the longest
 * time until a snoop is answered, in ns. */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostHosts = 4, kMostLines = 64, kMostSnoops = 4096 };
enum { kIdle, kReading, kOwning, kUpgrading, kOther };

typedef struct {
  int state;      /* CXLOOM_INVALID and so on */
  int under_way;  /* what it waits for */
  uint64_t value; /* of the line, where it has it */
} line_t;

typedef struct {
  int number; /* of the device */
  int index;
  line_t lines[kMostLines];
} host_t;

typedef struct {
  uint64_t id;
  host_t* host;
  int line, purpose;
  int64_t due;
  int taken; /* the copy is given up when the snoop comes, and its data are on their way */
  line_t copy;
} snoop_t;

static cxloom_simulation* s;
static host_t hosts[kMostHosts];
static int host_count, line_count, problems, given, answered, snoops, dirty_snoops, late_snoops, granted[3];
static uint64_t state, memory[kMostLines], latest[kMostLines];
static uint64_t base;
static int64_t slow;
static snoop_t waiting[kMostSnoops];
static int waiting_count;

static uint64_t draw(uint64_t below) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (state >> 33) % below;
}

static void check(int truth, const char* what, int line) {
  if (truth) return;
  if (++problems <= 10)
    printf("%lld ps, line %d: %s (%s)\n", (long long)cxloom_now(s), line, what, cxloom_error(s));
}

static int address_line(uint64_t address) { return (int)((address - base) / 64); }

/* One may write, or any number may read. */
static void invariant(int line) {
  int writers = 0, readers = 0;
  for (int i = 0; i < host_count; ++i) {
    writers += hosts[i].lines[line].state >= CXLOOM_EXCLUSIVE;
    readers += hosts[i].lines[line].state == CXLOOM_SHARED;
  }
  check(writers <= 1 && (writers == 0 || readers == 0), "more than a writer, or one beside readers", line);
}

static void give(host_t* host, int line, int intent, int under_way) {
  const cxloom_access access = {base + (uint64_t)line * 64,
                                (uint64_t)line << 8 | (uint64_t)intent,
                                draw(3) ? 0 : cxloom_now(s) + (int64_t)draw(40000),
                                64,
                                intent,
                                CXLOOM_MAPPED};
  check(cxloom_give(s, host->number, &access) == 0, "an access is refused", line);
  host->lines[line].under_way = under_way;
  ++given;
}

static void step(host_t* host) {
  const int number = (int)draw((uint64_t)line_count);
  line_t* line = &host->lines[number];
  if (line->under_way && line->under_way != kOther) {
    if (line->under_way != kUpgrading && line->state >= CXLOOM_EXCLUSIVE)
      check(0, "owned and asked for", number);
    return;
  }
  switch (line->state) {
    case CXLOOM_INVALID:
      if (line->under_way) return;
      switch (draw(5)) {
        case 0: give(host, number, CXLOOM_CURRENT, kOther); break;
        case 1: give(host, number, CXLOOM_OWN, kOwning); break;
        default: give(host, number, CXLOOM_READ, kReading); break;
      }
      break;
    case CXLOOM_SHARED:
      if (draw(4) == 0) line->state = CXLOOM_INVALID; /* silently */
      else if (draw(4) == 0) line->state = CXLOOM_INVALID, give(host, number, CXLOOM_CLEAN_EVICT, kOther);
      else give(host, number, CXLOOM_UPGRADE, kUpgrading);
      break;
    case CXLOOM_EXCLUSIVE:
      if (draw(4) == 0) line->state = CXLOOM_INVALID;
      else if (draw(4) == 0) line->state = CXLOOM_INVALID, give(host, number, CXLOOM_CLEAN_EVICT, kOther);
      else if (draw(4) == 0 && !line->under_way)
        give(host, number, CXLOOM_UPGRADE, kUpgrading); /* has it already */
      else line->state = CXLOOM_MODIFIED;
      break;
    default: break;
  }
  if (line->state == CXLOOM_MODIFIED) {
    check(line->value == latest[number], "a write to a line whose value is old", number);
    line->value = ++latest[number];
    invariant(number);
    if (draw(3) == 0) { /* its data leave now */
      memory[number] = line->value;
      line->state = CXLOOM_INVALID;
      give(host, number, CXLOOM_WRITE_BACK, kOther);
    }
  }
}

static void tell(void* user, const cxloom_answer* answer) {
  host_t* host = user;
  const int number = (int)(answer->tag >> 8), intent = (int)(answer->tag & 255);
  line_t* line = &host->lines[number];
  int64_t sum = 0;
  for (int i = 0; i < cxloom_segments(); ++i) sum += answer->segments[i];
  check(sum == answer->latency && !answer->failed, "segments that do not sum to the latency", number);
  ++answered;
  line->under_way = kIdle;
  if (intent != CXLOOM_READ && intent != CXLOOM_OWN && intent != CXLOOM_UPGRADE) {
    check(answer->granted == CXLOOM_INVALID, "a grant of what was not asked for", number);
    return;
  }
  ++granted[answer->granted];
  check(answer->granted == CXLOOM_EXCLUSIVE || (intent == CXLOOM_READ && answer->granted == CXLOOM_SHARED),
        "a grant of less than was asked for", number);
  if (intent != CXLOOM_UPGRADE || line->state == CXLOOM_INVALID) line->value = memory[number];
  line->state = answer->granted;
  check(line->value == latest[number], "a grant with an old value", number);
  invariant(number);
}

static void answer_snoop(snoop_t snoop) {
  line_t* line = snoop.taken ? &snoop.copy : &snoop.host->lines[snoop.line];
  const int held = line->state;
  if (snoop.taken)
    check(snoop.host->lines[snoop.line].state == CXLOOM_INVALID, "granted before a snoop", snoop.line);
  if (held == CXLOOM_MODIFIED) memory[snoop.line] = line->value, ++dirty_snoops;
  const int left = cxloom_snooped(s, snoop.host->number, snoop.id, held);
  check(left >= 0, "the answer to a snoop is refused", snoop.line);
  check(snoop.purpose != CXLOOM_TO_INVALIDATE || left == CXLOOM_INVALID, "left by an invalidation",
        snoop.line);
  check(left <= held, "more is left than was held", snoop.line);
  line->state = left;
}

static void snooped(void* user, uint64_t id, uint64_t address, int purpose) {
  const snoop_t snoop = {
      id, user,     address_line(address), purpose, cxloom_now(s) + (int64_t)draw((uint64_t)slow + 1),
      0,  {0, 0, 0}};
  ++snoops;
  if (slow == 0 || draw(3) == 0) {
    answer_snoop(snoop);
  } else {
    ++late_snoops;
    waiting[waiting_count] = snoop;
    line_t* line = &snoop.host->lines[snoop.line];
    if (draw(2)) {
      waiting[waiting_count].taken = 1;
      waiting[waiting_count].copy = *line;
      line->state = CXLOOM_INVALID;
    }
    ++waiting_count;
  }
}

static void answer_due(int64_t now) {
  for (int i = 0; i < waiting_count;) {
    if (waiting[i].due > now) {
      ++i;
      continue;
    }
    const snoop_t snoop = waiting[i];
    waiting[i] = waiting[--waiting_count];
    answer_snoop(snoop);
  }
}

static void misuse(void) {
  check(cxloom_snooped(s, hosts[0].number, 12345, CXLOOM_INVALID) == -1, "a snoop that there is not", 0);
  check(cxloom_external_cache(s, hosts[0].number, snooped, &hosts[0]) == -1, "a cache twice", 0);
  check(cxloom_external_cache(s, 99, snooped, 0) == -1, "a cache of no device", 0);
  cxloom_access access = {base + 32, 0, 0, 64, CXLOOM_OWN, CXLOOM_MAPPED};
  check(cxloom_give(s, hosts[0].number, &access) == -1, "a line across two", 0);
}

int main(int argc, char** argv) {
  static char json[1 << 17];
  char* error = 0;
  FILE* file = argc == 5 ? fopen(argv[4], "r") : 0;
  if (!file) return 2;
  (void)!fread(json, 1, sizeof json - 1, file);
  fclose(file);
  s = cxloom_open(json, 0, &error);
  if (!s) return puts(error), 1;
  state = strtoull(argv[1], 0, 10);
  const int wanted = atoi(argv[2]);
  slow = atoll(argv[3]) * 1000;
  line_count = 2 + (int)draw(14);
  for (; host_count < kMostHosts; ++host_count) {
    char name[] = {'h', (char)('0' + host_count), 0};
    host_t* host = &hosts[host_count];
    host->number = cxloom_device(s, name);
    host->index = host_count;
    if (host->number < 0) break;
    check(cxloom_external_cache(s, host->number, snooped, host) == 0, "no cache outside", 0);
    check(cxloom_answers(s, host->number, tell, host) == 0, "no answers", 0);
  }
  misuse();
  int64_t now = 0;
  while (answered < wanted && !problems) {
    const int64_t next = cxloom_next_event(s);
    now += (int64_t)draw(60000);
    if (next < INT64_MAX && draw(2)) now = next > now ? next : now;
    check(cxloom_run_until(s, now) == 0, "no time passes", 0);
    answer_due(now);
    if (given < wanted)
      for (int i = 0; i < host_count; ++i)
        if (draw(2)) step(&hosts[i]);
    check(given - answered < 1000 && now < (int64_t)1e12, "nothing is answered any more", 0);
  }
  while ((waiting_count > 0 || given > answered || cxloom_next_event(s) < INT64_MAX) && !problems) {
    now += 100000;
    check(cxloom_run_until(s, now) == 0, "no time passes", 0);
    answer_due(now);
    check(now < (int64_t)2e12, "no end", 0);
  }
  if (!problems) check(cxloom_finish(s) == 0, "no end", 0);
  for (int line = 0; line < line_count; ++line) {
    int owned = 0;
    for (int i = 0; i < host_count; ++i) owned += hosts[i].lines[line].state == CXLOOM_MODIFIED;
    check(owned || memory[line] == latest[line], "the last value is nowhere", line);
  }
  fprintf(stderr, "%d snoops, %d late, %d with data, %d S, %d E\n", snoops, late_snoops, dirty_snoops,
          granted[CXLOOM_SHARED], granted[CXLOOM_EXCLUSIVE]);
  cxloom_close(s);
  return problems > 0;
}
