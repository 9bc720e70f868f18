/* A program that embeds cxloom: it follows a chain of pointers through simulated memory and says how long.
 *
 *   cxloom resolve examples/embed/system.yaml > system.json
 *   cc -I "$(python -c 'import cxloom; print(cxloom.include_dir())')" examples/embed/chase.c -o chase \
 *      -L "$(python -c 'import cxloom; print(cxloom.library_dir())')" -lcxloom \
 *      -Wl,-rpath,"$(python -c 'import cxloom; print(cxloom.library_dir())')"
 *   ./chase system.json */
#include <cxloom/cxloom.h>
#include <stdio.h>
#include <stdlib.h>

enum { kPlaces = 64, kStride = 4096 };

static cxloom_simulation* simulation;
static int left = kPlaces;

static void follow(void* at, int64_t picoseconds) {
  uint64_t next;
  (void)picoseconds;
  cxloom_read(simulation, (uint64_t)(uintptr_t)at, &next, sizeof next);
  if (--left > 0) cxloom_inject(simulation, "host", next, 8, 0, follow, (void*)(uintptr_t)next);
}

static char* read_all(FILE* file) {
  char* text = NULL;
  for (size_t length = 0, got = 1; got > 0; length += got) {
    text = realloc(text, length + 65537);
    got = fread(text + length, 1, 65536, file);
    text[length + got] = '\0';
  }
  return text;
}

int main(int argc, char** argv) {
  char* error = NULL;
  FILE* file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) return fprintf(stderr, "usage: chase SYSTEM.json\n"), 2;
  char* json = read_all(file);
  fclose(file);
  simulation = cxloom_open(json, NULL, &error);
  free(json);
  if (!simulation) return fprintf(stderr, "%s: %s\n", argv[1], error ? error : "out of memory"), 2;

  for (uint64_t i = 0; i < kPlaces; ++i) { /* each place holds the address of the next */
    const uint64_t next = (i + 1) % kPlaces * kStride;
    cxloom_write(simulation, i * kStride, &next, sizeof next);
  }
  if (cxloom_drive(simulation, "host") != 0 ||
      cxloom_inject(simulation, "host", 0, 8, 0, follow, NULL) != 0 || cxloom_finish(simulation) != 0 ||
      left > 0) {
    return fprintf(stderr, "%s\n", cxloom_error(simulation)), 1;
  }
  printf("%d reads in %.1f ns\n", kPlaces, (double)cxloom_now(simulation) / 1000.0);
  cxloom_close(simulation);
  return 0;
}
