// A process, its child, and a grandchild in a session of its own, which ignore what asks them to end and wait
// for ever. Each writes its number into a file.
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int count, char** words) {
  signal(SIGHUP, SIG_IGN);
  if (count > 2) signal(SIGTERM, SIG_IGN);
  pid_t children[2] = {fork(), 0};
  if (children[0] == 0) {
    children[1] = fork();
    if (children[1] == 0) setsid();
  }
  FILE* const file = fopen(words[1], "a");
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  for (;;) pause();
}
