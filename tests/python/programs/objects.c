// Static data, pieces of the heap and mapped memory, of known sizes, each swept a known number of times.
#include <stdio.h>
#include <stdlib.h>

#include "cxloom/roi.h"

enum { kBytes = 1 << 20 };
char table[kBytes];

// What is called at the end of a function is jumped to, so that nobody knows of that function.
__attribute__((noinline)) static char* build(void) {
  char* const built = calloc(1, kBytes);
  *(volatile char*)built = 1;
  return built;
}

__attribute__((noinline)) static char** make_words(int count) {
  char** const words = malloc((size_t)count * sizeof *words);
  for (int i = 0; i < count; ++i) *(words[i] = malloc(1000)) = 1;
  return words;
}

int main(void) {
  volatile char* const built = build();
  char** const words = make_words(1000);
  volatile char* const all = table;
  cxloom_roi_begin();
  for (int i = 0; i < kBytes; i += 64) all[i] = 1;
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < kBytes; i += 64) built[i];
  for (int i = 0; i < 1000; ++i)
    for (int j = 0; j < 1000; j += 64) ((volatile char*)words[i])[j];
  cxloom_roi_end();
  printf("%d\n", words[999][0]);
  return 0;
}
