// In-memory transactions with optimistic concurrency control, as in Silo, by one worker: orders against
// warehouses' stock, and questions about the stock, which write nothing. Each batch has its own share of
// questions.
//
//   transactions [ITEMS [TRANSACTIONS [SEED]]]
//
// The protocol is that of Tu et al., "Speedy transactions in multicore in-memory databases" (SOSP 2013):
// reads note versions, writes wait in a set; a commit locks what is written, validates what was read, and
// installs it with a new version. Checks that stock and orders add up.
#include <string.h>

#include "program.h"

enum { kLines = 10, kDistricts = 64, kBatch = 32 };

typedef struct {
  uint64_t version;  // odd while locked
  uint64_t stock;
  uint64_t ordered;
  uint64_t price;
  char text[96];
} Record;

typedef struct {
  uint64_t district, items[kLines], counts[kLines], total;
} Order;

typedef struct {
  Record* record;
  uint64_t version;
  Record copy;
} Access;

// Copies a record that nobody is writing, and notes its version.
static void read_record(Access* access, Record* record) {
  do {
    access->version = record->version;
    access->copy = *record;
  } while (access->version % 2 == 1 || access->version != record->version);
  access->record = record;
}

static int by_address(const void* a, const void* b) {
  const Record *first = ((const Access*)a)->record, *second = ((const Access*)b)->record;
  return (first > second) - (first < second);
}

// True if all that was read is still so.
static int validate(const Access* accesses, int count) {
  for (int i = 0; i < count; ++i)
    if (accesses[i].record->version != accesses[i].version) return 0;
  return 1;
}

// True if all that was read is still so, and what was written is installed.
static int commit(Access* accesses, int count) {
  qsort(accesses, (size_t)count, sizeof(Access), by_address);  // one order of locks for all
  for (int i = 0; i < count; ++i) accesses[i].record->version |= 1;
  for (int i = 0; i < count; ++i) {
    if (accesses[i].record->version == (accesses[i].version | 1)) continue;
    for (int j = 0; j < count; ++j) accesses[j].record->version &= ~(uint64_t)1;
    return 0;
  }
  for (int i = 0; i < count; ++i) {
    accesses[i].copy.version = accesses[i].version + 2;
    *accesses[i].record = accesses[i].copy;
  }
  return 1;
}

int main(int argc, char** argv) {
  const uint64_t items = argument(argc, argv, 1, 100000), transactions = argument(argc, argv, 2, 60000);
  uint64_t state = argument(argc, argv, 3, 1);
  if (items < kLines) return finished("transactions: too few items", items, 0);
  Record* table = allocated(items + kDistricts, sizeof(Record));
  Record* districts = table + items;
  Order* orders = allocated(transactions, sizeof(Order));
  uint64_t before = 0, sold = 0, paid = 0, committed = 0, answered = 0;
  double questions = 0;
  for (uint64_t i = 0; i < items; ++i) {
    table[i].price = 1 + random_below(&state, 100);
    before += table[i].stock = 1000000;
  }
  for (uint64_t t = 0; t < transactions; ++t) {
    Access accesses[kLines + 1];
    Order order = {.district = random_below(&state, kDistricts)};
    const uint64_t first = random_below(&state, items);
    read_record(&accesses[kLines], &districts[order.district]);
    for (int i = 0; i < kLines; ++i) {
      // Items of one order differ: each is of a tenth of its own.
      order.items[i] = (first + items / kLines * (uint64_t)i + random_below(&state, items / kLines)) % items;
      for (int j = 0; j < i; ++j)
        if (order.items[j] == order.items[i]) order.items[i] = (order.items[i] + 1) % items, j = -1;
      order.counts[i] = 1 + random_below(&state, 10);
      read_record(&accesses[i], &table[order.items[i]]);
      accesses[i].copy.stock -= order.counts[i];
      accesses[i].copy.ordered += order.counts[i];
      order.total += order.counts[i] * accesses[i].copy.price;
    }
    if (t % kBatch == 0) questions = random_unit(&state);
    if (random_unit(&state) < questions) {
      answered += (uint64_t)validate(accesses, kLines);
      continue;
    }
    accesses[kLines].copy.ordered += order.total;
    if (!commit(accesses, kLines + 1)) continue;
    orders[committed++] = order;
  }
  for (uint64_t t = 0; t < committed; ++t)
    for (int i = 0; i < kLines; ++i) before -= orders[t].counts[i];
  for (uint64_t t = 0; t < committed; ++t) sold += orders[t].total;
  for (uint64_t d = 0; d < kDistricts; ++d) paid += districts[d].ordered;
  for (uint64_t i = 0; i < items; ++i) before -= table[i].stock;
  return finished("transactions: committed", committed,
                  committed + answered == transactions && before == 0 && sold == paid);
}
