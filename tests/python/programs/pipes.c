// A parent that reads from a pipe what its child has computed, and waits for it: the time goes by in the
// child.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** words) {
  const long steps = count > 1 ? atol(words[1]) : 1000000;
  int ends[2];
  if (pipe(ends) != 0) return 1;
  for (int child = 0; child < 3; ++child) {
    if (fork() == 0) {
      long left = steps;
      __asm__ volatile("1: dec %0\n jnz 1b" : "+r"(left));
      if (write(ends[1], "x", 1) != 1) _exit(1);
      _exit(0);
    }
    char byte;
    if (read(ends[0], &byte, 1) != 1) return 1;
    wait(0);
  }
  return 0;
}
