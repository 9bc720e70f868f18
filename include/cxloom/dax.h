/* Allocates from memory that is a device: /dev/dax0.0 and so on, as `cxloom boot --mode device` has them
 * (docs/boot.md). C99 and C++ (Linux, gcc or clang, -pthread), no library.
 *
 *     #include <cxloom/dax.h>
 *     cxloom_dax* memory = cxloom_dax_open("/dev/dax0.0");
 *     double* numbers = (double*)cxloom_dax_allocate(memory, 1000000 * sizeof(double));
 *     ...
 *     cxloom_dax_free(memory, numbers);
 *     cxloom_dax_close(memory);
 *
 * Best fit: a piece is taken from the smallest free one that holds it, from the one with the lowest address
 * among equals. What is freed joins the free pieces beside it. Pieces are whole lines of 64 bytes, so that no
 * two share one.
 *
 * What is free and what is taken is kept in ordinary memory: nothing but the program's own data is in the
 * device, and allocating does not access it. It is forgotten when the program ends, and the content of the
 * device is as whoever had it before left it, not zero.
 *
 * Any thread may call any function: a pthread mutex of each device lets one in at a time. A device is one
 * program's at a time. After fork() parent and child have the same memory, and only one of them may go on to
 * allocate and free.
 *
 * A function that fails says why in errno.
 *
 * SPDX-FileCopyrightText: 2026 The cxloom authors
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef CXLOOM_DAX_H
#define CXLOOM_DAX_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A device that is open. */
typedef struct cxloom_dax cxloom_dax;

/* How much of a device is free. */
typedef struct cxloom_dax_statistics {
  size_t bytes;        /* the size of the device */
  size_t free_bytes;   /* bytes in no piece that is taken */
  size_t largest_free; /* bytes of the largest free piece: the most that can be allocated in one */
  size_t free_pieces;
  size_t taken_pieces;
} cxloom_dax_statistics;

/* Opens a device and maps all of it. A regular file is taken, too, with the size that it has, so that a
 * program can be tried where there is no device. NULL with what open, flock and mmap set; with ENODEV for
 * what is neither; with EBUSY for what is open already, here or in another program; with EINVAL for less than
 * 64 bytes; with ENOMEM. */
static inline cxloom_dax* cxloom_dax_open(const char* path);

/* Takes a device out of the program's memory, with all that is allocated in it. NULL is nothing to close. */
static inline void cxloom_dax_close(cxloom_dax* memory);

/* Some bytes, at a multiple of 64; for no bytes a piece of one line. NULL with ENOMEM where no free piece
 * holds them. */
static inline void* cxloom_dax_allocate(cxloom_dax* memory, size_t bytes);

/* As much at a multiple of an alignment, which is a power of two: NULL with EINVAL otherwise. */
static inline void* cxloom_dax_allocate_aligned(cxloom_dax* memory, size_t alignment, size_t bytes);

/* Gives a piece another size: in its place where the free piece behind it is enough, elsewhere with its
 * content otherwise, at a multiple of 64. NULL as the piece allocates. NULL with ENOMEM, or with EINVAL for
 * what is not allocated here; the piece is then as it was. */
static inline void* cxloom_dax_reallocate(cxloom_dax* memory, void* address, size_t bytes);

/* Frees a piece, which needs no memory and cannot fail; NULL is nothing to free. -1 with EINVAL for what is
 * not allocated here, such as what was freed before; 0 otherwise. */
static inline int cxloom_dax_free(cxloom_dax* memory, void* address);

/* How many bytes the program may use of a piece: whole lines. 0 with EINVAL for what is not allocated here.
 */
static inline size_t cxloom_dax_usable_size(cxloom_dax* memory, const void* address);

static inline cxloom_dax_statistics cxloom_dax_statistics_of(cxloom_dax* memory);

/* --- how it is done
 * ----------------------------------------------------------------------------------------------- */

#define CXLOOM_DAX_LINE ((size_t)64)

/* Pieces lie one behind the other and fill the device. Each is in one of two trees, of those that are taken
 * and of those that are free. */
typedef struct cxloom_dax_piece {
  uintptr_t address;
  size_t bytes;
  size_t
      rank; /* what its tree sorts by before the address: of a free piece the bytes, of one that is taken 0 */
  struct cxloom_dax_piece *before, *behind; /* its neighbours in the device; NULL at the ends */
  struct cxloom_dax_piece *left, *right;    /* in the tree */
  uint64_t weight;                          /* random; above another one in the tree is no lighter one */
} cxloom_dax_piece;

struct cxloom_dax {
  pthread_mutex_t lock;
  int file;
  void* mapped;
  cxloom_dax_piece* first; /* that of the lowest address */
  cxloom_dax_piece* free;  /* the roots of the trees */
  cxloom_dax_piece* taken;
  uint64_t random;
  cxloom_dax_statistics counts;
};

/* The trees are treaps (Seidel, Aragon: "Randomized Search Trees", Algorithmica 16, 1996). */
static inline int cxloom_dax_sorts_before(const cxloom_dax_piece* piece, size_t rank, uintptr_t address) {
  return piece->rank != rank ? piece->rank < rank : piece->address < address;
}

static inline void cxloom_dax_insert(cxloom_dax_piece** link, cxloom_dax_piece* piece) {
  cxloom_dax_piece **left = &piece->left, **right = &piece->right, *rest;
  while (*link && (*link)->weight >= piece->weight)
    link = cxloom_dax_sorts_before(*link, piece->rank, piece->address) ? &(*link)->right : &(*link)->left;
  for (rest = *link; rest;) { /* what is lighter comes below it, on its two sides */
    if (cxloom_dax_sorts_before(rest, piece->rank, piece->address)) {
      *left = rest;
      left = &rest->right;
      rest = *left;
    } else {
      *right = rest;
      right = &rest->left;
      rest = *right;
    }
  }
  *left = *right = NULL;
  *link = piece;
}

static inline void cxloom_dax_remove(cxloom_dax_piece** link, const cxloom_dax_piece* piece) {
  cxloom_dax_piece *left = piece->left, *right = piece->right;
  while (*link != piece)
    link = cxloom_dax_sorts_before(*link, piece->rank, piece->address) ? &(*link)->right : &(*link)->left;
  while (left && right) {
    if (left->weight >= right->weight) {
      *link = left;
      link = &left->right;
      left = *link;
    } else {
      *link = right;
      link = &right->left;
      right = *link;
    }
  }
  *link = left ? left : right;
}

/* The first piece of a tree that does not sort before this; NULL if all do. */
static inline cxloom_dax_piece* cxloom_dax_first_from(cxloom_dax_piece* root, size_t rank,
                                                      uintptr_t address) {
  cxloom_dax_piece* found = NULL;
  while (root) {
    if (cxloom_dax_sorts_before(root, rank, address)) {
      root = root->right;
    } else {
      found = root;
      root = root->left;
    }
  }
  return found;
}

static inline cxloom_dax_piece* cxloom_dax_piece_at(const cxloom_dax* memory, const void* address) {
  cxloom_dax_piece* piece = cxloom_dax_first_from(memory->taken, 0, (uintptr_t)address);
  if (piece && piece->address == (uintptr_t)address) return piece;
  errno = EINVAL;
  return NULL;
}

static inline cxloom_dax_piece* cxloom_dax_new_piece(cxloom_dax* memory) {
  cxloom_dax_piece* piece = (cxloom_dax_piece*)calloc(1, sizeof(cxloom_dax_piece));
  memory->random ^=
      memory->random << 13; /* Marsaglia: "Xorshift RNGs", Journal of Statistical Software 8, 2003 */
  memory->random ^= memory->random >> 7;
  memory->random ^= memory->random << 17;
  if (piece) piece->weight = memory->random;
  return piece;
}

static inline int cxloom_dax_is_free(const cxloom_dax_piece* piece) { return piece && piece->rank > 0; }

/* Into the tree of the free pieces, and out of it. */
static inline void cxloom_dax_list(cxloom_dax* memory, cxloom_dax_piece* piece) {
  piece->rank = piece->bytes;
  cxloom_dax_insert(&memory->free, piece);
  memory->counts.free_bytes += piece->bytes;
  ++memory->counts.free_pieces;
}

static inline void cxloom_dax_unlist(cxloom_dax* memory, cxloom_dax_piece* piece) {
  cxloom_dax_remove(&memory->free, piece);
  memory->counts.free_bytes -= piece->bytes;
  --memory->counts.free_pieces;
}

/* Makes what is behind the first bytes of a piece, which is in no tree, a piece of its own, in no tree
 * either. */
static inline cxloom_dax_piece* cxloom_dax_cut(cxloom_dax_piece* piece, size_t bytes,
                                               cxloom_dax_piece* rest) {
  rest->address = piece->address + bytes;
  rest->bytes = piece->bytes - bytes;
  rest->before = piece;
  rest->behind = piece->behind;
  if (rest->behind) rest->behind->before = rest;
  piece->behind = rest;
  piece->bytes = bytes;
  return rest;
}

/* Adds the free piece behind a piece to it, and hands back what described that. */
static inline cxloom_dax_piece* cxloom_dax_join(cxloom_dax* memory, cxloom_dax_piece* piece) {
  cxloom_dax_piece* joined = piece->behind;
  cxloom_dax_unlist(memory, joined);
  piece->bytes += joined->bytes;
  piece->behind = joined->behind;
  if (piece->behind) piece->behind->before = piece;
  return joined;
}

/* Makes one piece of this and the one behind it if both are free. */
static inline void cxloom_dax_unite(cxloom_dax* memory, cxloom_dax_piece* piece) {
  if (!cxloom_dax_is_free(piece) || !cxloom_dax_is_free(piece->behind)) return;
  cxloom_dax_unlist(memory, piece);
  free(cxloom_dax_join(memory, piece));
  cxloom_dax_list(memory, piece);
}

/* Bytes as whole lines; 0 if there are too many for any device. */
static inline size_t cxloom_dax_lines(size_t bytes) {
  if (bytes == 0) return CXLOOM_DAX_LINE;
  return bytes > SIZE_MAX / 2 ? 0 : (bytes + CXLOOM_DAX_LINE - 1) & ~(CXLOOM_DAX_LINE - 1);
}

/* Bytes in front of the first place in a piece with this alignment. */
static inline size_t cxloom_dax_gap(const cxloom_dax_piece* piece, size_t alignment) {
  return (size_t)(0 - piece->address) & (alignment - 1);
}

/* Takes these bytes out of a free piece, behind a gap that stays free. NULL if there is no memory for what
 * describes the parts. */
static inline void* cxloom_dax_take(cxloom_dax* memory, cxloom_dax_piece* piece, size_t gap, size_t bytes) {
  const int cuts = piece->bytes - gap > bytes;
  cxloom_dax_piece* wanted = gap > 0 ? cxloom_dax_new_piece(memory) : piece;
  cxloom_dax_piece* rest = cuts ? cxloom_dax_new_piece(memory) : NULL;
  if (!wanted || (cuts && !rest)) {
    if (wanted != piece) free(wanted);
    free(rest);
    return NULL;
  }
  cxloom_dax_unlist(memory, piece);
  if (gap > 0) {
    cxloom_dax_cut(piece, gap, wanted);
    cxloom_dax_list(memory, piece);
  }
  if (cuts) cxloom_dax_list(memory, cxloom_dax_cut(wanted, bytes, rest));
  wanted->rank = 0;
  cxloom_dax_insert(&memory->taken, wanted);
  ++memory->counts.taken_pieces;
  return (void*)wanted->address;
}

/* Gives a piece this size in its place, if it can. One that would get smaller keeps its size where there is
 * no memory for what describes the rest. */
static inline int cxloom_dax_resize(cxloom_dax* memory, cxloom_dax_piece* piece, size_t bytes) {
  const int joins = cxloom_dax_is_free(piece->behind);
  cxloom_dax_piece* rest;
  if (bytes > piece->bytes + (joins ? piece->behind->bytes : 0)) return 0;
  if (bytes == piece->bytes) return 1;
  rest = joins ? cxloom_dax_join(memory, piece) : cxloom_dax_new_piece(memory);
  if (rest && piece->bytes > bytes) cxloom_dax_list(memory, cxloom_dax_cut(piece, bytes, rest));
  else free(rest);
  return 1;
}

static inline int cxloom_dax_is_same(const struct stat* one, const char* path) {
  struct stat other;
  return stat(path, &other) == 0 && other.st_dev == one->st_dev && other.st_ino == one->st_ino;
}

/* The bytes of a device or a regular file, with the errno for there being too few: ENODEV if it is neither.
 */
static inline size_t cxloom_dax_size_of(int file) {
  struct stat status, kind;
  char name[48], path[64];
  uint64_t number;
  unsigned long long bytes = 0;
  if (fstat(file, &status)) return 0;
  errno = EINVAL;
  if (S_ISREG(status.st_mode)) return (size_t)status.st_size;
  number = status.st_rdev;
  /* Its two parts; the header that has names for them takes `major` and `minor` from the program. */
  snprintf(name, sizeof name, "/sys/dev/char/%u:%u",
           (unsigned)((number >> 8 & 0xfff) | (number >> 32 & ~0xfffu)),
           (unsigned)((number & 0xff) | (number >> 12 & ~0xffu)));
  snprintf(path, sizeof path, "%s/subsystem", name);
  if (S_ISCHR(status.st_mode) && stat(path, &kind) == 0 &&
      (cxloom_dax_is_same(&kind, "/sys/bus/dax") || cxloom_dax_is_same(&kind, "/sys/class/dax"))) {
    FILE* size;
    snprintf(path, sizeof path, "%s/size", name);
    size = fopen(path, "r");
    if (size && fscanf(size, "%llu", &bytes) != 1) bytes = 0;
    if (size) fclose(size);
  }
  errno = ENODEV;
  return (size_t)bytes;
}

/* Maps all of an open file, as a single free piece. */
static inline int cxloom_dax_map(cxloom_dax* memory) {
  const size_t bytes = cxloom_dax_size_of(memory->file) & ~(CXLOOM_DAX_LINE - 1);
  if (bytes == 0) return -1;
  fcntl(memory->file, F_SETFD, FD_CLOEXEC);
  if (flock(memory->file, LOCK_EX | LOCK_NB)) {
    if (errno == EWOULDBLOCK) errno = EBUSY;
    return -1;
  }
  memory->random = 88172645463325252u;
  memory->first = cxloom_dax_new_piece(memory);
  if (!memory->first) return -1;
  memory->mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory->file, 0);
  if (memory->mapped == MAP_FAILED) {
    free(memory->first);
    return -1;
  }
  memory->counts.bytes = bytes;
  memory->first->address = (uintptr_t)memory->mapped;
  memory->first->bytes = bytes;
  cxloom_dax_list(memory, memory->first);
  return 0;
}

static inline cxloom_dax* cxloom_dax_open(const char* path) {
  cxloom_dax* memory = (cxloom_dax*)calloc(1, sizeof(cxloom_dax));
  int why;
  if (!memory) return NULL;
  memory->file = open(path, O_RDWR);
  if (memory->file >= 0 && cxloom_dax_map(memory) == 0) {
    pthread_mutex_init(&memory->lock, NULL);
    return memory;
  }
  why = errno;
  if (memory->file >= 0) close(memory->file);
  free(memory);
  errno = why;
  return NULL;
}

static inline void cxloom_dax_close(cxloom_dax* memory) {
  if (!memory) return;
  while (memory->first) {
    cxloom_dax_piece* const behind = memory->first->behind;
    free(memory->first);
    memory->first = behind;
  }
  munmap(memory->mapped, memory->counts.bytes);
  close(memory->file);
  pthread_mutex_destroy(&memory->lock);
  free(memory);
}

static inline void* cxloom_dax_allocate_aligned(cxloom_dax* memory, size_t alignment, size_t bytes) {
  const size_t lines = cxloom_dax_lines(bytes);
  cxloom_dax_piece* piece;
  void* found = NULL;
  if (alignment == 0 || (alignment & (alignment - 1)) != 0) return errno = EINVAL, (void*)NULL;
  if (lines == 0) return errno = ENOMEM, (void*)NULL;
  pthread_mutex_lock(&memory->lock);
  piece = cxloom_dax_first_from(memory->free, lines, 0);
  while (piece && cxloom_dax_gap(piece, alignment) > piece->bytes - lines)
    piece = cxloom_dax_first_from(memory->free, piece->bytes, piece->address + 1);
  if (piece) found = cxloom_dax_take(memory, piece, cxloom_dax_gap(piece, alignment), lines);
  pthread_mutex_unlock(&memory->lock);
  if (!found) errno = ENOMEM;
  return found;
}

static inline void* cxloom_dax_allocate(cxloom_dax* memory, size_t bytes) {
  return cxloom_dax_allocate_aligned(memory, CXLOOM_DAX_LINE, bytes);
}

static inline int cxloom_dax_free(cxloom_dax* memory, void* address) {
  cxloom_dax_piece* piece;
  if (!address) return 0;
  pthread_mutex_lock(&memory->lock);
  piece = cxloom_dax_piece_at(memory, address);
  if (piece) {
    cxloom_dax_remove(&memory->taken, piece);
    --memory->counts.taken_pieces;
    cxloom_dax_list(memory, piece);
    cxloom_dax_unite(memory, piece);
    cxloom_dax_unite(memory, piece->before);
  }
  pthread_mutex_unlock(&memory->lock);
  return piece ? 0 : -1;
}

static inline size_t cxloom_dax_usable_size(cxloom_dax* memory, const void* address) {
  const cxloom_dax_piece* piece;
  size_t bytes;
  pthread_mutex_lock(&memory->lock);
  piece = cxloom_dax_piece_at(memory, address);
  bytes = piece ? piece->bytes : 0;
  pthread_mutex_unlock(&memory->lock);
  return bytes;
}

static inline void* cxloom_dax_reallocate(cxloom_dax* memory, void* address, size_t bytes) {
  const size_t lines = cxloom_dax_lines(bytes);
  cxloom_dax_piece* piece;
  size_t kept = 0;
  int in_place = 0;
  void* other;
  if (!address) return cxloom_dax_allocate(memory, bytes);
  pthread_mutex_lock(&memory->lock);
  piece = cxloom_dax_piece_at(memory, address);
  if (piece) {
    kept = piece->bytes;
    in_place = lines > 0 && cxloom_dax_resize(memory, piece, lines);
  }
  pthread_mutex_unlock(&memory->lock);
  if (!piece) return NULL;
  if (in_place) return address;
  other = cxloom_dax_allocate(memory, bytes);
  if (other) {
    memcpy(other, address, kept); /* what gets smaller stays in its place */
    cxloom_dax_free(memory, address);
  }
  return other;
}

static inline cxloom_dax_statistics cxloom_dax_statistics_of(cxloom_dax* memory) {
  cxloom_dax_statistics counts;
  const cxloom_dax_piece* piece;
  pthread_mutex_lock(&memory->lock);
  counts = memory->counts;
  for (piece = memory->free; piece; piece = piece->right) counts.largest_free = piece->bytes;
  pthread_mutex_unlock(&memory->lock);
  return counts;
}

#endif
