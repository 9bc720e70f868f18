// A key-value store in persistent memory, changed by transactions of several values each, with an undo log or
// a redo log.
//
//     kvstore KEYS TRANSACTIONS VALUES SEED undo|redo [FAULT]
//     kvstore KEYS TRANSACTIONS VALUES SEED undo|redo recover IMAGE ACKNOWLEDGED
//
// undo: the old values are durable in the log before the count of the log is; then values are changed, and
// durable before the count is zero again. Until then recovery puts the old values back. redo: the new values
// are durable in the log before its count is, which completes the transaction; recovery puts them into their
// places as long as the count is not zero.
//
// FAULT leaves a step out, as programs do that lose data only when the power fails: `fence` does not wait
// between the values of the log and its count, `flush` does not flush one of the changed values. `recover`
// maps the image of a pool, as the power left it, and tells whether it has the state behind one of the
// transactions, none earlier than the one that was acknowledged last.
#include "persistent.h"

struct Cell {
  uint64_t key;
  uint64_t transaction;  // that wrote it
  uint64_t payload[6];
};

struct Store {
  uint64_t count;  // of values in the log that are to be used
  char pad[kLine - sizeof(uint64_t)];
  struct Cell completed;  // the last transaction: each writes it with its values
  struct Cell cells[];    // of the keys, and behind them the log
};

static uint64_t keys;
static uint64_t values;  // of a transaction
static int has_redo_log;
static int skips_fence;
static int skips_flush;

static uint64_t store_bytes(void) { return sizeof(struct Store) + (keys + values + 1) * sizeof(struct Cell); }

static struct Cell* log_of(struct Store* store) { return store->cells + keys; }

// Key `keys` is that of the last transaction.
static struct Cell* cell_of(struct Store* store, uint64_t key) {
  return key == keys ? &store->completed : &store->cells[key];
}

// What a transaction writes: different keys, and what the last one was.
static void draw(uint64_t transaction, uint64_t seed, struct Cell* drawn) {
  uint64_t random = seed * 0x9e3779b97f4a7c15u + transaction;
  for (uint64_t i = 0; i < values; ++i) {
    int again;
    do {
      drawn[i].key = random_below(&random, keys);
      again = 0;
      for (uint64_t j = 0; j < i; ++j) again |= drawn[j].key == drawn[i].key;
    } while (again);
    drawn[i].transaction = transaction;
    for (unsigned j = 0; j < 6; ++j) drawn[i].payload[j] = next_random(&random);
  }
  drawn[values] = (struct Cell){.key = keys, .transaction = transaction};
}

static void set_count(struct Store* store, uint64_t count) {
  store->count = count;
  persist(&store->count, sizeof store->count);
}

static void put_into_places(struct Store* store, const struct Cell* cells, uint64_t count, int skips_one) {
  for (uint64_t i = 0; i < count; ++i) {
    struct Cell* const cell = cell_of(store, cells[i].key);
    *cell = cells[i];
    if (!(skips_one && i == 0)) flush(cell, sizeof *cell);
  }
  fence();
}

static void commit(struct Store* store, const struct Cell* drawn) {
  struct Cell* const log = log_of(store);
  const uint64_t count = values + 1;
  for (uint64_t i = 0; i < count; ++i) log[i] = has_redo_log ? drawn[i] : *cell_of(store, drawn[i].key);
  for (uint64_t i = 0; i < count; ++i) log[i].key = drawn[i].key;
  flush(log, count * sizeof *log);
  if (!skips_fence) fence();
  set_count(store, count);
  if (has_redo_log) acknowledge(drawn[values].transaction);
  put_into_places(store, drawn, count, skips_flush);
  set_count(store, 0);
  if (!has_redo_log) acknowledge(drawn[values].transaction);
}

static void recover(struct Store* store) {
  if (store->count == 0) return;
  put_into_places(store, log_of(store), store->count, 0);
  set_count(store, 0);
}

// Whether the store is what it is behind its last transaction.
static int is_right(struct Store* store, uint64_t seed) {
  struct Cell* const cells = allocated(keys + values + 1, sizeof *cells);
  struct Cell* const drawn = cells + keys;
  for (uint64_t t = 1; t <= store->completed.transaction; ++t) {
    draw(t, seed, drawn);
    for (uint64_t i = 0; i < values; ++i) cells[drawn[i].key] = drawn[i];
  }
  int right = 1;
  for (uint64_t key = 0; key < keys; ++key) {
    const struct Cell* const cell = &store->cells[key];
    right &= cell->transaction == cells[key].transaction &&
             memcmp(cell->payload, cells[key].payload, sizeof cell->payload) == 0;
  }
  free(cells);
  return right;
}

static int recovered(struct Store* store, uint64_t seed, uint64_t transactions, const char* image,
                     uint64_t acknowledged) {
  FILE* const file = fopen(image, "rb");
  if (file == NULL || fread(store, 1, store_bytes(), file) != store_bytes()) {
    fprintf(stderr, "cannot read %s\n", image);
    return 2;
  }
  fclose(file);
  if (store->count > values + 1) return finished("kvstore has a log of values", store->count, 0);
  for (uint64_t i = 0; i < store->count; ++i) {
    if (log_of(store)[i].key > keys)
      return finished("kvstore has a log with the key", log_of(store)[i].key, 0);
  }
  recover(store);
  const uint64_t last = store->completed.transaction;
  return finished("kvstore recovers", last,
                  last >= acknowledged && last <= transactions && is_right(store, seed));
}

int main(int argc, char** argv) {
  keys = argument(argc, argv, 1, 500);
  const uint64_t transactions = argument(argc, argv, 2, 500);
  values = argument(argc, argv, 3, 4);
  const uint64_t seed = argument(argc, argv, 4, 1);
  const char* const log = argc > 5 ? argv[5] : "undo";
  const char* const what = argc > 6 ? argv[6] : "";
  has_redo_log = strcmp(log, "redo") == 0;
  skips_fence = strcmp(what, "fence") == 0;
  skips_flush = strcmp(what, "flush") == 0;
  const int recovers = strcmp(what, "recover") == 0 && argc > 8;
  if ((!has_redo_log && strcmp(log, "undo") != 0) || values > keys ||
      (*what != '\0' && !skips_fence && !skips_flush && !recovers)) {
    fprintf(stderr,
            "usage: %s KEYS TRANSACTIONS VALUES SEED undo|redo [fence|flush|recover IMAGE ACKNOWLEDGED]\n",
            argv[0]);
    return 2;
  }
  pool_open(store_bytes());
  struct Store* const store = pool_take(store_bytes());
  if (recovers) return recovered(store, seed, transactions, argv[7], strtoull(argv[8], NULL, 10));
  struct Cell* const drawn = allocated(values + 1, sizeof *drawn);
  uint64_t sum = 0;
  cxloom_roi_begin();
  for (uint64_t t = 1; t <= transactions; ++t) {
    draw(t, seed, drawn);
    sum += store->cells[drawn[0].key].payload[0];  // reads before it writes
    commit(store, drawn);
  }
  cxloom_roi_end();
  return finished("kvstore", sum % 1000000007u,
                  store->completed.transaction == transactions && is_right(store, seed));
}
