/* Measured windows beside a workload of the spec: `windows EVERY SYSTEM.json`, a new one each EVERY ps (0:
 * none). The host gives a hundred accesses in 10 us. Prints the sum of their latencies, and what the windows
 * measured in all of the host and of the workload, and the nanoseconds of the first 12 us that they measured.
 */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>

static cxloom_simulation* s;
static int64_t latencies;
static double of_host, of_work, length;
static int problems;

static void tell(void* user, const cxloom_answer* answer) {
  (void)user;
  latencies += answer->latency;
}

static void add(const char* path, double* sum) {
  double value = 0;
  if (cxloom_measure(s, path, &value) != 0) ++problems, printf("%s: %s\n", path, cxloom_error(s));
  *sum += value;
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
  const int host = cxloom_device(s, "host");
  const int64_t every = atoll(argv[1]);
  if (cxloom_answers(s, host, tell, 0) != 0) return 1;
  for (int i = 0; i < 100; ++i) {
    const cxloom_access access = {
        (1u << 20) + (uint64_t)i * 64, 0, 1 + i * 100000ll, 64, CXLOOM_READ, CXLOOM_MAPPED};
    if (cxloom_give(s, host, &access) != 0) ++problems;
  }
  if (every && cxloom_new_window(s) != 0) ++problems;
  for (int64_t now = every; every && now <= 10000000; now += every) {
    if (cxloom_run_until(s, now) != 0 || cxloom_new_window(s) != 0) ++problems;
    add("per_requester.host.requests", &of_host);
    add("per_requester.background.requests", &of_work);
    add("simulated_time_ns", &length);
  }
  /* Those that are under way at the end count, too. */
  if (every && (cxloom_run_until(s, 12000000) != 0 || cxloom_new_window(s) != 0)) ++problems;
  if (every) {
    add("per_requester.host.requests", &of_host);
    add("per_requester.background.requests", &of_work);
    add("simulated_time_ns", &length);
  }
  if (cxloom_finish(s) != 0) ++problems, puts(cxloom_error(s));
  add("per_requester.host.requests", &of_host);
  add("per_requester.background.requests", &of_work);
  printf("%lld %g %g %g\n", (long long)latencies, of_host, of_work, length);
  char* summary = cxloom_summary(s);
  puts(summary ? summary : cxloom_error(s));
  cxloom_free(summary);
  cxloom_close(s);
  return problems > 0;
}
