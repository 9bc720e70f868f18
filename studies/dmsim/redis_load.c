// Starts a Redis server, fills it, and asks it what workloads A and B of YCSB ask.
//
//   redis_load [RECORDS [QUERIES [READS [SEED]]]]
//
// A record is a hash of ten fields of 100 bytes, as that of YCSB (B. Cooper et al.: "Benchmarking cloud
// serving systems with YCSB", SoCC 2010). READS of a hundred queries read a record, the others write one of
// its fields: 50 is workload A, 95 is B. Records are drawn by Zipf's law with 0.99, and the popular ones lie
// anywhere. There is one client, which waits for each answer; the server listens at a socket of Unix, and
// keeps nothing on disk. What is asked is drawn before the marked part, which is the queries alone. Checks
// every answer.
#include <cxloom/roi.h>
#include <math.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../examples/programs/program.h"

enum { kFields = 10, kFieldBytes = 100, kAtOnce = 32, kTries = 2000 };
static const double kSkew = 0.99;

static char answers[1 << 16];
static size_t have, used;  // bytes of answers that came, and that were read
static int server;

static void fail(const char* what) {
  perror(what);
  exit(1);
}

// Waits for more of the answers if all that came was read.
static void have_more(void) {
  if (used < have) return;
  const ssize_t got = read(server, answers, sizeof(answers));
  if (got <= 0) fail("redis_load: the server does not answer");
  have = (size_t)got;
  used = 0;
}

static char next_byte(void) {
  have_more();
  return answers[used++];
}

// The number of a line of the protocol, whose first character is `kind`.
static long header(char* kind) {
  *kind = next_byte();
  char text[64];
  size_t length = 0;
  for (char c = next_byte(); c != '\n'; c = next_byte())
    if (length < sizeof(text) - 1) text[length++] = c;
  text[length] = '\0';
  return strtol(text, NULL, 10);
}

// Reads a text of the answer; true if it is that of a field, `wanted`, where one is.
static int text_is(const char* wanted) {
  char kind;
  const long bytes = header(&kind);
  int right = kind == '$' && (wanted == NULL || bytes == kFieldBytes);
  for (long done = 0; done < bytes;) {
    have_more();
    const size_t left = (size_t)(bytes - done), piece = have - used < left ? have - used : left;
    if (wanted != NULL && right) right = memcmp(answers + used, wanted + done, piece) == 0;
    used += piece;
    done += (long)piece;
  }
  next_byte();  // the end of the line
  next_byte();
  return right;
}

static void send_all(const char* data, size_t bytes) {
  while (bytes > 0) {
    const ssize_t sent = write(server, data, bytes);
    if (sent < 0) fail("redis_load: the server takes nothing");
    data += sent;
    bytes -= (size_t)sent;
  }
}

// What is in each field of a record.
static void write_value(char* to, uint64_t record) { memset(to, (int)('a' + record % 26), kFieldBytes); }

// A command that writes the fields from `first` on, `count` of them.
static size_t write_command(char* to, uint64_t record, int first, int count) {
  char value[kFieldBytes + 1];
  write_value(value, record);
  value[kFieldBytes] = '\0';
  char key[32];
  const int digits = sprintf(key, "user%llu", (unsigned long long)record);
  char* at = to + sprintf(to, "*%d\r\n$4\r\nHSET\r\n$%d\r\n%s\r\n", 2 + 2 * count, digits, key);
  for (int i = first; i < first + count; ++i)
    at += sprintf(at, "$6\r\nfield%d\r\n$%d\r\n%s\r\n", i, kFieldBytes, value);
  return (size_t)(at - to);
}

static size_t read_command(char* to, uint64_t record) {
  char key[32];
  const int digits = sprintf(key, "user%llu", (unsigned long long)record);
  return (size_t)sprintf(to, "*2\r\n$7\r\nHGETALL\r\n$%d\r\n%s\r\n", digits, key);
}

static int written(long fields) {
  char kind;
  return header(&kind) == fields && kind == ':';
}

static int read_right(uint64_t record) {
  char kind;
  char value[kFieldBytes];
  write_value(value, record);
  int right = header(&kind) == 2 * kFields && kind == '*';
  for (int i = 0; right && i < kFields; ++i) {
    right &= text_is(NULL);
    right &= text_is(value);
  }
  return right;
}

static pid_t start(const char* path) {
  const pid_t child = fork();
  if (child == 0) {
    if (freopen("/dev/null", "w", stdout) == NULL) _exit(127);
    execlp("redis-server", "redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly",
           "no", (char*)NULL);
    perror("redis-server");
    _exit(127);
  }
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  strcpy(address.sun_path, path);
  server = socket(AF_UNIX, SOCK_STREAM, 0);
  for (int i = 0; connect(server, (struct sockaddr*)&address, sizeof(address)) != 0; ++i) {
    if (i == kTries || waitpid(child, NULL, WNOHANG) != 0) fail("redis_load: the server does not start");
    usleep(10000);
  }
  return child;
}

// Records by Zipf's law, each rank of popularity anywhere among them.
static uint32_t* drawn(uint64_t records, uint64_t queries, uint64_t* state) {
  double* up_to = allocated(records, sizeof(double));
  double sum = 0;
  for (uint64_t i = 0; i < records; ++i) up_to[i] = sum += pow((double)(i + 1), -kSkew);
  uint32_t* found = allocated(queries, sizeof(uint32_t));
  for (uint64_t i = 0; i < queries; ++i) {
    const double wanted = random_unit(state) * sum;
    uint64_t low = 0, high = records - 1;
    while (low < high) {
      const uint64_t middle = (low + high) / 2;
      if (up_to[middle] <= wanted) low = middle + 1;
      else high = middle;
    }
    uint64_t rank = low;
    found[i] = (uint32_t)(next_random(&rank) % records);
  }
  free(up_to);
  return found;
}

int main(int argc, char** argv) {
  const uint64_t records = argument(argc, argv, 1, 10000), queries = argument(argc, argv, 2, 20000);
  const uint64_t reads = argument(argc, argv, 3, 50);
  uint64_t state = argument(argc, argv, 4, 1);
  char path[64];
  snprintf(path, sizeof(path), "/tmp/redis_load.%d", (int)getpid());
  const pid_t child = start(path);

  char* command = allocated(kAtOnce, 2048);
  uint64_t right = 0;
  for (uint64_t record = 0; record < records; record += kAtOnce) {
    const uint64_t end = record + kAtOnce < records ? record + kAtOnce : records;
    size_t bytes = 0;
    for (uint64_t i = record; i < end; ++i) bytes += write_command(command + bytes, i, 0, kFields);
    send_all(command, bytes);
    for (uint64_t i = record; i < end; ++i) right += (uint64_t)written(kFields);
  }
  uint32_t* asked = drawn(records, queries, &state);
  uint8_t* is_read = allocated(queries, 1);
  for (uint64_t i = 0; i < queries; ++i) is_read[i] = random_below(&state, 100) < reads;

  cxloom_roi_begin();
  for (uint64_t i = 0; i < queries; ++i) {
    if (is_read[i]) {
      send_all(command, read_command(command, asked[i]));
      right += (uint64_t)read_right(asked[i]);
    } else {
      send_all(command, write_command(command, asked[i], (int)(i % kFields), 1));
      right += (uint64_t)written(0);
    }
  }
  cxloom_roi_end();

  send_all("*2\r\n$8\r\nSHUTDOWN\r\n$6\r\nNOSAVE\r\n", 34);
  waitpid(child, NULL, 0);
  unlink(path);
  return finished("redis_load: answers that are right", right, right == records + queries);
}
