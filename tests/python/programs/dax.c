// Allocates by <cxloom/dax.h> from a file or a device, and holds each result against what is known of it.
//
//   dax FILE   "dax: right", and 0; or the line of what is wrong, and 1. FILE has 1 MiB.
// SPDX-License-Identifier: BSD-3-Clause
#include <cxloom/dax.h>

#define CHECK(HOLDS)                                                      \
  do {                                                                    \
    if (!(HOLDS)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #HOLDS); \
      exit(1);                                                            \
    }                                                                     \
  } while (0)

enum { LINE = 64, SIZE = 1 << 20, LINES = SIZE / LINE };

static unsigned char* base;  // where the device begins: its first piece

static cxloom_dax* opened(const char* path) {
  cxloom_dax* memory = cxloom_dax_open(path);
  CHECK(memory != NULL);
  base = (unsigned char*)cxloom_dax_allocate(memory, 1);
  CHECK(cxloom_dax_free(memory, base) == 0);
  return memory;
}

// The place of a piece in lines from the beginning of the device.
static long place(const void* piece) {
  CHECK(piece != NULL);
  CHECK(((const unsigned char*)piece - base) % LINE == 0);
  return (long)(((const unsigned char*)piece - base) / LINE);
}

static void* lines(cxloom_dax* memory, size_t count) { return cxloom_dax_allocate(memory, count * LINE); }

static void all_is_free(cxloom_dax* memory) {
  const cxloom_dax_statistics found = cxloom_dax_statistics_of(memory);
  CHECK(found.bytes == SIZE && found.free_bytes == SIZE && found.largest_free == SIZE);
  CHECK(found.free_pieces == 1 && found.taken_pieces == 0);
}

// Eight pieces of 1, 5, 1, 3, 1, 3, 1 and 2 lines, of which those of several lines are freed: free are 5
// lines at 1, 3 at 7, 3 at 11, and from 15 on the rest, which the 2 have joined.
static void fits_best(const char* path) {
  static const size_t sizes[] = {1, 5, 1, 3, 1, 3, 1, 2};
  cxloom_dax* memory = opened(path);
  void* pieces[8];
  for (int i = 0; i < 8; ++i) pieces[i] = lines(memory, sizes[i]);
  CHECK(place(pieces[1]) == 1 && place(pieces[3]) == 7 && place(pieces[5]) == 11 && place(pieces[7]) == 15);
  for (int i = 1; i < 8; i += 2) CHECK(cxloom_dax_free(memory, pieces[i]) == 0);
  cxloom_dax_statistics found = cxloom_dax_statistics_of(memory);
  CHECK(found.free_pieces == 4 && found.taken_pieces == 4);
  CHECK(found.free_bytes == SIZE - 4 * LINE && found.largest_free == SIZE - 15 * LINE);

  CHECK(place(lines(memory, 2)) == 7);   // 3 lines, the lower ones of two
  CHECK(place(lines(memory, 2)) == 11);  // the other 3: 1 line is too small
  CHECK(place(lines(memory, 1)) == 9);   // what is left of the lower 3
  CHECK(place(lines(memory, 4)) == 1);   // 5 lines
  CHECK(place(lines(memory, 1)) == 5);   // 1 line, the lower one of two
  CHECK(place(lines(memory, 2)) == 15);  // nothing else has 2
  CHECK(place(lines(memory, 1)) == 13);
  found = cxloom_dax_statistics_of(memory);
  CHECK(found.free_pieces == 1 && found.free_bytes == SIZE - 17 * LINE);
  cxloom_dax_close(memory);
}

// Freed in each order, three neighbours are one piece again.
static void joins_neighbours(const char* path) {
  static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  cxloom_dax* memory = opened(path);
  for (int order = 0; order < 6; ++order) {
    void* const guard = lines(memory, 1);
    void* pieces[3];
    for (int i = 0; i < 3; ++i) pieces[i] = lines(memory, 10);
    void* const rest = lines(memory, LINES - 31);
    CHECK(place(rest) == 31 && cxloom_dax_allocate(memory, 1) == NULL && errno == ENOMEM);
    for (int i = 0; i < 3; ++i) CHECK(cxloom_dax_free(memory, pieces[orders[order][i]]) == 0);
    const cxloom_dax_statistics found = cxloom_dax_statistics_of(memory);
    CHECK(found.free_pieces == 1 && found.largest_free == 30 * LINE && found.free_bytes == 30 * LINE);
    CHECK(lines(memory, 31) == NULL && errno == ENOMEM);
    CHECK(place(lines(memory, 30)) == 1);
    CHECK(cxloom_dax_free(memory, guard) == 0 && cxloom_dax_free(memory, pieces[0]) == 0);
    CHECK(cxloom_dax_free(memory, rest) == 0);
    all_is_free(memory);
  }
  cxloom_dax_close(memory);
}

static void aligns(const char* path) {
  cxloom_dax* memory = opened(path);
  // Mapped are whole pages of 4 KiB, so line 64 of the device is at a multiple of 4096.
  void* const first = lines(memory, 1);
  void* const page = cxloom_dax_allocate_aligned(memory, 4096, 100);
  CHECK(place(page) == 64 && (uintptr_t)page % 4096 == 0);
  CHECK(cxloom_dax_usable_size(memory, page) == 128);
  CHECK(place(lines(memory, 63)) == 1);  // the gap in front is free
  void* const small = cxloom_dax_allocate_aligned(memory, 1, 1);
  CHECK(place(small) == 66);  // never less than a line
  CHECK(place(cxloom_dax_allocate_aligned(memory, 8192, 1)) % 64 == 0);
  CHECK(cxloom_dax_allocate_aligned(memory, 0, 1) == NULL && errno == EINVAL);
  CHECK(cxloom_dax_allocate_aligned(memory, 96, 1) == NULL && errno == EINVAL);
  errno = 0;
  CHECK(cxloom_dax_allocate_aligned(memory, (size_t)1 << 62, 1) == NULL && errno == ENOMEM);
  CHECK(first == base);
  cxloom_dax_close(memory);
  // Two free pieces are large enough without an alignment: the smaller one has no such place.
  memory = opened(path);
  void* taken[4];
  static const size_t sizes[] = {1, 70, 57, 200};
  for (int i = 0; i < 4; ++i) taken[i] = lines(memory, sizes[i]);
  CHECK(place(taken[2]) == 71 && place(taken[3]) == 128);
  CHECK(lines(memory, LINES - 328) != NULL);
  CHECK(cxloom_dax_free(memory, taken[1]) == 0 && cxloom_dax_free(memory, taken[3]) == 0);
  CHECK(place(cxloom_dax_allocate_aligned(memory, 4096, 7 * LINE)) == 64);
  CHECK(place(cxloom_dax_allocate_aligned(memory, 4096, 8 * LINE)) == 128);
  cxloom_dax_close(memory);
}

static void refuses(const char* path) {
  cxloom_dax* memory = opened(path);
  char* const piece = (char*)cxloom_dax_allocate(memory, 1000);
  CHECK(cxloom_dax_usable_size(memory, piece) == 1024);
  errno = 0;
  CHECK(cxloom_dax_free(memory, piece + LINE) == -1 && errno == EINVAL);
  errno = 0;
  CHECK(cxloom_dax_usable_size(memory, &memory) == 0 && errno == EINVAL);
  errno = 0;
  CHECK(cxloom_dax_reallocate(memory, piece + 1, 10) == NULL && errno == EINVAL);
  CHECK(cxloom_dax_free(memory, NULL) == 0 && cxloom_dax_free(memory, piece) == 0);
  errno = 0;
  CHECK(cxloom_dax_free(memory, piece) == -1 && errno == EINVAL);
  CHECK(cxloom_dax_allocate(memory, SIZE + 1) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(cxloom_dax_allocate(memory, SIZE_MAX) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(cxloom_dax_open(path) == NULL && errno == EBUSY);
  CHECK(cxloom_dax_usable_size(memory, cxloom_dax_allocate(memory, 0)) == LINE);
  cxloom_dax_close(memory);
  cxloom_dax_close(NULL);
  errno = 0;
  CHECK(cxloom_dax_open("/dev/null") == NULL && errno == ENODEV);
  errno = 0;
  CHECK(cxloom_dax_open("/dev/dax9999.9") == NULL && errno == ENOENT);
}

static void reallocates(const char* path) {
  cxloom_dax* memory = opened(path);
  unsigned char* const piece = (unsigned char*)cxloom_dax_reallocate(memory, NULL, 10 * LINE);
  CHECK(place(piece) == 0);
  for (int i = 0; i < 10 * LINE; ++i) piece[i] = (unsigned char)(i * 7 + i / 64);
  CHECK(cxloom_dax_reallocate(memory, piece, 20 * LINE) == piece);  // there is room behind it
  CHECK(cxloom_dax_statistics_of(memory).free_bytes == SIZE - 20 * LINE);
  CHECK(cxloom_dax_reallocate(memory, piece, 10 * LINE) == piece);  // what is cut off joins the room
  CHECK(cxloom_dax_statistics_of(memory).free_pieces == 1);
  void* const wall = lines(memory, 1);
  CHECK(place(wall) == 10);
  unsigned char* const other = (unsigned char*)cxloom_dax_reallocate(memory, piece, 12 * LINE);
  CHECK(place(other) == 11);
  for (int i = 0; i < 10 * LINE; ++i) CHECK(other[i] == (unsigned char)(i * 7 + i / 64));
  CHECK(place(lines(memory, 10)) == 0);  // where it was
  errno = 0;
  CHECK(cxloom_dax_reallocate(memory, other, SIZE) == NULL && errno == ENOMEM);
  errno = 0;
  CHECK(cxloom_dax_reallocate(memory, other, SIZE_MAX) == NULL && errno == ENOMEM);
  CHECK(cxloom_dax_usable_size(memory, other) == 12 * LINE && other[LINE] == (unsigned char)(LINE * 7 + 1));
  CHECK(cxloom_dax_reallocate(memory, wall, 0) == wall && cxloom_dax_usable_size(memory, wall) == LINE);
  CHECK(cxloom_dax_free(memory, base) == 0 && cxloom_dax_free(memory, wall) == 0);
  CHECK(cxloom_dax_reallocate(memory, other, 5 * LINE) == other);  // the rest behind it is one piece
  CHECK(cxloom_dax_statistics_of(memory).free_pieces == 2);
  CHECK(cxloom_dax_free(memory, other) == 0);
  all_is_free(memory);
  cxloom_dax_close(memory);
}

// --- beside a model that looks at each line
// ---------------------------------------------------------------------------

enum { FEW = 1024, MANY = 200, OPERATIONS = 100000 };  // lines that are used; pieces at a time

typedef struct Piece {
  unsigned char* at;
  size_t lines;
  unsigned char content;
} Piece;

static unsigned char is_taken[FEW];
static uint64_t state = 1;

static size_t random_below(size_t bound) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (size_t)((state >> 11) % bound);
}

// Where best fit has so many lines with this alignment, or -1.
static long expected(size_t count, size_t alignment) {
  long best = -1;
  size_t smallest = FEW + 1;
  for (size_t from = 0, to; from < FEW; from = to + 1) {
    for (to = from; to < FEW && !is_taken[to]; ++to) continue;
    const size_t start = (from + alignment - 1) / alignment * alignment;
    if (to >= start + count && to - from < smallest) {
      smallest = to - from;
      best = (long)start;
    }
  }
  return best;
}

static void put(Piece* piece, long at, size_t count) {
  piece->lines = count;
  piece->content = (unsigned char)random_below(256);
  memset(piece->at, piece->content, count * LINE);
  memset(is_taken + at, 1, count);
}

static void holds(const Piece* piece, size_t count) {
  for (size_t i = 0; i < count * LINE; ++i) CHECK(piece->at[i] == piece->content);
}

// A piece with another size: where it is if there is room behind it, and where best fit has it otherwise.
static void change(cxloom_dax* memory, Piece* piece) {
  const long before = place(piece->at);
  const size_t old = piece->lines, count = 1 + random_below(40);
  size_t room = old;
  while ((size_t)before + room < FEW && !is_taken[(size_t)before + room]) ++room;
  const long wanted = count <= room ? before : expected(count, 1);
  unsigned char* const found = (unsigned char*)cxloom_dax_reallocate(memory, piece->at, count * LINE);
  if (wanted < 0) {
    CHECK(found == NULL && errno == ENOMEM);
    return;
  }
  CHECK(place(found) == wanted);
  piece->at = found;
  holds(piece, old < count ? old : count);
  memset(is_taken + before, 0, old);
  put(piece, wanted, count);
}

static void is_as_the_model_has_it(const char* path) {
  cxloom_dax* memory = opened(path);
  static Piece pieces[MANY];
  void* const rest = lines(memory, LINES - FEW);  // so that the model has little to look at
  void* const few = lines(memory, FEW);
  CHECK(cxloom_dax_free(memory, rest) == 0);
  CHECK(place(cxloom_dax_reallocate(memory, few, 0)) == LINES - FEW);
  void* const wall = lines(memory, LINES - FEW);
  CHECK(place(wall) == 0);
  CHECK(cxloom_dax_free(memory, few) == 0);
  base += SIZE - FEW * LINE;
  size_t failed = 0;
  for (int i = 0; i < OPERATIONS; ++i) {
    Piece* const piece = &pieces[random_below(MANY)];
    const size_t what = random_below(4);
    if (piece->at == NULL) {
      const size_t alignment = what == 0 ? (size_t)1 << random_below(7) : 1, count = 1 + random_below(20);
      const long wanted = expected(count, alignment);
      piece->at = (unsigned char*)cxloom_dax_allocate_aligned(memory, alignment * LINE, count * LINE);
      if (wanted < 0) {
        CHECK(piece->at == NULL && errno == ENOMEM);
        ++failed;
        continue;
      }
      CHECK(place(piece->at) == wanted);
      put(piece, wanted, count);
    } else if (what == 0) {
      change(memory, piece);
    } else {
      holds(piece, piece->lines);
      memset(is_taken + place(piece->at), 0, piece->lines);
      CHECK(cxloom_dax_free(memory, piece->at) == 0);
      piece->at = NULL;
    }
  }
  CHECK(failed > OPERATIONS / 100);
  size_t taken = 0;
  for (size_t i = 0; i < FEW; ++i) taken += is_taken[i];
  CHECK(cxloom_dax_statistics_of(memory).free_bytes == (FEW - taken) * LINE);
  for (int i = 0; i < MANY; ++i) CHECK(cxloom_dax_free(memory, pieces[i].at) == 0);
  CHECK(cxloom_dax_free(memory, wall) == 0);
  all_is_free(memory);
  cxloom_dax_close(memory);
}

// --- two threads
// ------------------------------------------------------------------------------------------------------

static cxloom_dax* shared;

static void* one_of_two(void* number) {
  unsigned char* pieces[16] = {NULL};
  size_t sizes[16] = {0};
  const unsigned char content = *(const unsigned char*)number;
  for (int i = 0; i < 50000; ++i) {
    const int each = i % 16;
    for (size_t at = 0; at < sizes[each]; at += 40) CHECK(pieces[each][at] == content);
    CHECK(cxloom_dax_free(shared, pieces[each]) == 0);
    sizes[each] = (size_t)(i * 37 % 1000) + 1;
    pieces[each] = (unsigned char*)cxloom_dax_allocate(shared, sizes[each]);
    CHECK(pieces[each] != NULL);
    memset(pieces[each], content, sizes[each]);
  }
  for (int each = 0; each < 16; ++each) CHECK(cxloom_dax_free(shared, pieces[each]) == 0);
  return NULL;
}

static void serves_two_threads(const char* path) {
  unsigned char contents[2] = {1, 2};
  pthread_t threads[2];
  shared = opened(path);
  for (int i = 0; i < 2; ++i) CHECK(pthread_create(&threads[i], NULL, one_of_two, &contents[i]) == 0);
  for (int i = 0; i < 2; ++i) CHECK(pthread_join(threads[i], NULL) == 0);
  all_is_free(shared);
  cxloom_dax_close(shared);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  fits_best(argv[1]);
  joins_neighbours(argv[1]);
  aligns(argv[1]);
  refuses(argv[1]);
  reallocates(argv[1]);
  is_as_the_model_has_it(argv[1]);
  serves_two_threads(argv[1]);
  puts("dax: right");
  return 0;
}
