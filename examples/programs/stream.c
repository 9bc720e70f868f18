// Copies, scales, adds and triads arrays, each thread its share of them, after J. McCalpin's STREAM.
//
//   stream [NUMBERS [THREADS [PASSES [DEVICE]]]]
//
// The arrays are in a device of memory such as /dev/dax0.0, if one is named, or in a file. Checks every
// number at the end. Accesses go on side by side, so it takes the bandwidth of memory.
#include <cxloom/roi.h>
#include <pthread.h>

#include "device.h"
#include "program.h"

enum { kMostThreads = 64 };

typedef struct {
  pthread_t thread;
  uint64_t first, end;
} Share;

static double *a, *b, *c;
static uint64_t passes;
static pthread_barrier_t barrier;
static const double kScalar = 3;

static void* work(void* given) {
  const Share share = *(const Share*)given;
  for (uint64_t pass = 0; pass < passes; ++pass) {
    for (uint64_t i = share.first; i < share.end; ++i) c[i] = a[i];
    pthread_barrier_wait(&barrier);
    for (uint64_t i = share.first; i < share.end; ++i) b[i] = kScalar * c[i];
    pthread_barrier_wait(&barrier);
    for (uint64_t i = share.first; i < share.end; ++i) c[i] = a[i] + b[i];
    pthread_barrier_wait(&barrier);
    for (uint64_t i = share.first; i < share.end; ++i) a[i] = b[i] + kScalar * c[i];
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const uint64_t numbers = argument(argc, argv, 1, 1000000), threads = argument(argc, argv, 2, 4);
  passes = argument(argc, argv, 3, 2);
  if (threads > kMostThreads) {
    fprintf(stderr, "%s: at most %d threads\n", argv[0], kMostThreads);
    return 2;
  }
  cxloom_dax* device = argc > 4 ? cxloom_dax_open(argv[4]) : NULL;
  double** const arrays[] = {&a, &b, &c};
  for (int i = 0; i < 3; ++i)
    *arrays[i] =
        argc > 4 ? in_device(device, argv[4], numbers * sizeof(double)) : allocated(numbers, sizeof(double));
  for (uint64_t i = 0; i < numbers; ++i) a[i] = 1;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);

  Share shares[kMostThreads];
  cxloom_roi_begin();
  for (uint64_t t = 0; t < threads; ++t) {
    shares[t].first = numbers * t / threads;
    shares[t].end = numbers * (t + 1) / threads;
    if (t > 0) pthread_create(&shares[t].thread, NULL, work, &shares[t]);
  }
  work(&shares[0]);
  for (uint64_t t = 1; t < threads; ++t) pthread_join(shares[t].thread, NULL);
  cxloom_roi_end();

  // A pass: c = a, b = 3 a, c = 4 a, a = 15 a. Small whole numbers are exact.
  double right = 1;
  for (uint64_t pass = 0; pass < passes; ++pass) right *= 15;
  uint64_t good = 0;
  for (uint64_t i = 0; i < numbers; ++i) good += a[i] == right;
  return finished("stream: numbers that are right", good, good == numbers);
}
