// Writes which descriptors are open to a file, reads standard input, and writes to both others. The exit code
// says what worked.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char** words) {
  char open_ones[256] = "";
  for (int number = 0; number < 30; ++number) {
    if (fcntl(number, F_GETFD) < 0) continue;
    char text[8];
    snprintf(text, sizeof text, "%d ", number);
    strcat(open_ones, text);
  }
  char byte;
  int code = read(0, &byte, 1) == 1 ? 1 : 0;
  code |= write(1, "out\n", 4) == 4 ? 2 : 0;
  code |= write(2, "err\n", 4) == 4 ? 4 : 0;
  FILE* const file = fopen(words[1], "w");
  fprintf(file, "%s", open_ones);
  fclose(file);
  return count > 0 ? 32 + code : 0;
}
