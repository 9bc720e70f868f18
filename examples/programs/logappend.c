// A log in persistent memory: records of different lengths are appended, and old ones are read now and then.
//
// A record is durable before the end of the log is moved behind it. So a record behind the end does not
// count, and one before it is whole.
#include "persistent.h"

struct Record {
  uint64_t bytes;  // of the payload
  uint64_t sum;
  uint64_t payload[];
};

struct Log {
  uint64_t end;  // bytes of records
  char pad[kLine - sizeof(uint64_t)];
  char records[];
};

static uint64_t sum_of(const struct Record* record) {
  uint64_t sum = record->bytes;
  for (uint64_t i = 0; i < record->bytes / 8; ++i) sum = (sum ^ record->payload[i]) * 0x9e3779b97f4a7c15u;
  return sum;
}

static struct Record* record_at(struct Log* log, uint64_t at) { return (struct Record*)(log->records + at); }

static uint64_t append(struct Log* log, uint64_t words, uint64_t* random) {
  const uint64_t at = log->end;
  struct Record* const record = record_at(log, at);
  record->bytes = 8 * words;
  for (uint64_t i = 0; i < words; ++i) record->payload[i] = next_random(random);
  record->sum = sum_of(record);
  const uint64_t bytes = sizeof *record + record->bytes;
  persist(record, bytes);
  log->end = at + bytes;
  persist(&log->end, sizeof log->end);
  return at;
}

int main(int argc, char** argv) {
  const uint64_t records = argument(argc, argv, 1, 2000);
  const uint64_t words = argument(argc, argv, 2, 24);  // of a payload, at most
  uint64_t random = argument(argc, argv, 3, 1);
  pool_open(kLine + records * (sizeof(struct Record) + 8 * words));
  struct Log* const log = pool_take(pool.bytes);
  uint64_t* const places = allocated(records, sizeof *places);
  uint64_t appended = 0;
  uint64_t right = 1;
  cxloom_roi_begin();
  for (uint64_t i = 0; i < records; ++i) {
    places[i] = append(log, 1 + random_below(&random, words), &random);
    appended += record_at(log, places[i])->sum;
    acknowledge(i + 1);
    const struct Record* const old = record_at(log, places[random_below(&random, i + 1)]);
    right &= old->sum == sum_of(old);
  }
  cxloom_roi_end();
  uint64_t found = 0;
  uint64_t sums = 0;
  for (uint64_t at = 0; at < log->end; ++found) {
    const struct Record* const record = record_at(log, at);
    sums += record->sum;
    right &= record->sum == sum_of(record);
    at += sizeof *record + record->bytes;
  }
  return finished("logappend", sums % 1000000007u, right && found == records && sums == appended);
}
