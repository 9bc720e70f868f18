/* Tells cxloom what a program makes durable, where its flushes are no instructions that an emulator sees:
 * msync, libraries that choose by the processor, machines without clwb. C99 and C++ (gcc or clang), no
 * library.
 *
 *     #include <cxloom/persist.h>
 *     log->records[n] = record;
 *     cxloom_persist(&log->records[n], sizeof record);
 *     log->count = n + 1;
 *     cxloom_persist(&log->count, sizeof log->count);
 *
 * `cxloom trace capture` and `cxloom exec` take these as flushes of the lines and as fences
 * (docs/model/persist.md). They make nothing durable themselves: of a program by itself a flush reads four
 * bytes of each line, which must be there, and a fence does nothing. Real instructions (clflush, clflushopt,
 * clwb, sfence, mfence) are seen as well: do not mark them again.
 *
 * SPDX-FileCopyrightText: 2026 The cxloom authors
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef CXLOOM_PERSIST_H
#define CXLOOM_PERSIST_H

#include <stddef.h>
#include <stdint.h>

/* testl $0x43584c03, (line); testl $0x43584c04, (line); nopl 0x43584c05(%rax): no compiler makes these. */
#if defined(__x86_64__)
#define CXLOOM_PERSIST_LINES(MARK, ADDRESS, BYTES)                                         \
  do {                                                                                     \
    const uintptr_t cxloom_end = (uintptr_t)(ADDRESS) + (BYTES);                           \
    uintptr_t cxloom_line = (uintptr_t)(ADDRESS) & ~(uintptr_t)63;                         \
    for (; (BYTES) > 0 && cxloom_line < cxloom_end; cxloom_line += 64)                     \
      __asm__ __volatile__("testl $" MARK ", (%0)" : : "r"(cxloom_line) : "cc", "memory"); \
  } while (0)
#else
#define CXLOOM_PERSIST_LINES(MARK, ADDRESS, BYTES) ((void)(ADDRESS), (void)(BYTES))
#endif

/* Flushes the lines of `bytes` bytes, which stay in the caches, as clwb does. They are durable behind the
 * next fence. No bytes have no line. */
static inline void cxloom_flush(const void* address, size_t bytes) {
  CXLOOM_PERSIST_LINES("0x43584c04", address, bytes);
}

/* Flushes the lines of `bytes` bytes, which leave the caches, as with clflush. They are durable behind the
 * next fence. */
static inline void cxloom_flush_out(const void* address, size_t bytes) {
  CXLOOM_PERSIST_LINES("0x43584c03", address, bytes);
}

/* Waits until all that this thread has flushed is durable, as sfence does. */
static inline void cxloom_fence(void) {
#if defined(__x86_64__)
  __asm__ __volatile__(".byte 0x0f, 0x1f, 0x80, 0x05, 0x4c, 0x58, 0x43" : : : "memory");
#endif
}

/* Makes `bytes` bytes durable: flushes their lines, and waits. */
static inline void cxloom_persist(const void* address, size_t bytes) {
  cxloom_flush(address, bytes);
  cxloom_fence();
}

#endif
