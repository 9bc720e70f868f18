// Two threads take turns by a lock and a condition variable; a third ends before it is joined. Whose turn it
// is stands at a known address, and each write of it is between two calls of the kernel.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kRounds = 50 };
static volatile long* const turn = (long*)0x10000000;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void* play(void* who) {
  const long me = (long)who;
  for (int i = 0; i < kRounds; ++i) {
    pthread_mutex_lock(&lock);
    while (*turn != me) pthread_cond_wait(&changed, &lock);
    getppid();
    *turn = 1 - me;
    getppid();
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static void* end(void* nothing) { return nothing; }

int main(void) {
  if (mmap((void*)turn, 4096, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
      (void*)turn) {
    return 1;
  }
  pthread_t threads[3];
  pthread_create(&threads[2], NULL, end, NULL);
  usleep(100000);
  pthread_join(threads[2], NULL);
  for (long i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, play, (void*)i);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  return status;
}
