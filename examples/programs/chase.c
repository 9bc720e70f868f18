// Follows pointers: each line of memory says where the next one is, in one random cycle through all of them.
//
//   chase [LINES [STEPS [SEED [DEVICE]]]]
//
// The lines are in a device of memory such as /dev/dax0.0, if one is named, or in a file.
//
// Checks that the cycle is as long as there are lines. Nothing but one access at a time is under way, so a
// step takes the latency of memory, where the lines do not fit into caches.
#include <cxloom/roi.h>

#include "device.h"
#include "program.h"

enum { kLineBytes = 64 };

typedef struct Line {
  struct Line* next;
  char rest[kLineBytes - sizeof(struct Line*)];
} Line;

int main(int argc, char** argv) {
  const uint64_t lines = argument(argc, argv, 1, 262144), steps = argument(argc, argv, 2, 1000000);
  uint64_t state = argument(argc, argv, 3, 1);
  Line* memory = argc > 4 ? in_device(cxloom_dax_open(argv[4]), argv[4], lines * sizeof(Line))
                          : allocated(lines, sizeof(Line));
  uint64_t* order = allocated(lines, sizeof(uint64_t));
  for (uint64_t i = 0; i < lines; ++i) order[i] = i;
  for (uint64_t i = lines - 1; i > 0; --i) {  // Fisher and Yates
    const uint64_t other = random_below(&state, i + 1), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
  for (uint64_t i = 0; i < lines; ++i) memory[order[i]].next = &memory[order[(i + 1) % lines]];

  const Line* at = memory;
  cxloom_roi_begin();
  for (uint64_t i = 0; i < steps; ++i) at = at->next;
  cxloom_roi_end();

  uint64_t length = 0;
  const Line* end = at;
  do {
    end = end->next;
    ++length;
  } while (end != at && length <= lines);
  return finished("chase: lines in the cycle", length, length == lines);
}
