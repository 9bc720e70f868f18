/* Begins all transfers of its arguments at once, DEVICE:BYTES:FROM:TO with `self` for the device, and prints
 * "done NUMBER PICOSECONDS BYTES" for each that ends, "refused NUMBER TEXT" for each that is none, and the
 * summary. The last argument is the resolved spec. */
#include <cxloom/cxloom.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void moved(void* user, int64_t picoseconds, uint64_t bytes) {
  printf("done %d %" PRId64 " %" PRIu64 "\n", (int)(intptr_t)user, picoseconds, bytes);
}

static uint64_t place(const char* text) {
  return strcmp(text, "self") ? strtoull(text, NULL, 0) : CXLOOM_ITSELF;
}

int main(int argc, char** argv) {
  static char json[1 << 16];
  char* error = NULL;
  FILE* file = fopen(argv[argc - 1], "r");
  json[fread(json, 1, sizeof json - 1, file)] = '\0';
  fclose(file);
  cxloom_simulation* simulation = cxloom_open(json, NULL, &error);
  if (!simulation) return puts(error), 2;
  for (int i = 1; i + 1 < argc; ++i) {
    char device[32], from[32], to[32];
    uint64_t bytes;
    if (sscanf(argv[i], "%31[^:]:%" SCNu64 ":%31[^:]:%31s", device, &bytes, from, to) != 4) return 3;
    if (strcmp(device, "undriven") != 0) cxloom_drive(simulation, device); /* again: refused, and driven */
    if (cxloom_transfer(simulation, device, bytes, place(from), place(to), moved, (void*)(intptr_t)i) != 0)
      printf("refused %d %s\n", i, cxloom_error(simulation));
  }
  if (cxloom_finish(simulation) != 0) return puts(cxloom_error(simulation)), 1;
  if (cxloom_transfer(simulation, "gpu", 64, 0, CXLOOM_ITSELF, moved, NULL) == 0) return 4;
  if (!strstr(cxloom_error(simulation), "the simulation is over")) return 5;
  char* summary = cxloom_summary(simulation);
  puts(summary);
  cxloom_free(summary);
  cxloom_close(simulation);
  return 0;
}
