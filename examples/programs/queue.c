// A queue in persistent memory: jobs come in bursts and are done in their order.
//
// A job is durable before the one before it leads to it; the queue is left by moving its head, one word. The
// tail is found again by following the jobs, and need not be durable (as in Friedman and others, "A
// Persistent Lock-Free Queue for Non-Volatile Memory", PPoPP 2018, for one thread).
#include "persistent.h"

struct Job {
  struct Job* next;
  uint64_t number;
  uint64_t payload[6];
};

static struct Job** head;  // in the pool: the job that was done last
static struct Job* tail;
static struct Job* spare;

static struct Job* new_job(void) {
  struct Job* const job = spare != NULL ? spare : pool_take(sizeof *job);
  if (job == spare) spare = job->next;
  job->next = NULL;
  return job;
}

static void enqueue(uint64_t number, uint64_t* random) {
  struct Job* const job = new_job();
  job->number = number;
  for (unsigned i = 0; i < 6; ++i) job->payload[i] = next_random(random);
  persist(job, sizeof *job);
  tail->next = job;
  persist(&tail->next, sizeof tail->next);
  tail = job;
}

// The job's payload, summed up; `number` is to be its number.
static uint64_t dequeue(uint64_t number, int* right) {
  struct Job* const done = *head;
  struct Job* const job = done->next;
  uint64_t sum = 0;
  for (unsigned i = 0; i < 6; ++i) sum += job->payload[i];
  *right &= job->number == number;
  *head = job;
  persist(head, sizeof *head);
  done->next = spare;
  spare = done;
  return sum;
}

int main(int argc, char** argv) {
  const uint64_t jobs = argument(argc, argv, 1, 3000);
  const uint64_t burst = argument(argc, argv, 2, 32);
  const uint64_t seed = argument(argc, argv, 3, 1);
  uint64_t random = seed;
  uint64_t lengths = ~seed;
  pool_open((jobs + 2) * sizeof(struct Job));
  head = pool_take(sizeof *head);
  *head = tail = new_job();
  persist(tail, sizeof *tail);
  persist(head, sizeof *head);
  uint64_t in = 0;
  uint64_t out = 0;
  uint64_t sum = 0;
  int right = 1;
  cxloom_roi_begin();
  while (out < jobs) {
    for (uint64_t left = 1 + random_below(&lengths, burst); left > 0 && in < jobs; --left) {
      enqueue(in++, &random);
      acknowledge(in);
    }
    for (uint64_t left = 1 + random_below(&lengths, burst); left > 0 && out < in; --left)
      sum += dequeue(out++, &right);
  }
  cxloom_roi_end();
  uint64_t again = seed;
  uint64_t expected = 0;
  for (uint64_t i = 0; i < 6 * jobs; ++i) expected += next_random(&again);
  return finished("queue", sum % 1000000007u, right && *head == tail && sum == expected);
}
