/* Marks the part of a program that is of interest, for `cxloom trace capture --roi marks`. C and C++, no
 * library.
 *
 *     #include <cxloom/roi.h>
 *     load_everything();
 *     cxloom_roi_begin();
 *     compute();
 *     cxloom_roi_end();
 *
 * A mark is an instruction that does nothing, so the program runs as well without cxloom. Regions may be
 * nested; any thread may begin and end one.
 *
 * With CXLOOM_GEM5 defined, a program for RISC-V begins and ends a work item of gem5 instead, and runs in
 * gem5 alone.
 *
 * SPDX-FileCopyrightText: 2026 The cxloom authors
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef CXLOOM_ROI_H
#define CXLOOM_ROI_H

#if defined(CXLOOM_GEM5) && defined(__riscv)
/* gem5's pseudo instructions 0x5a and 0x5b: work item a0 of thread a1. What they give comes in a0. */
static inline void cxloom_roi_begin(void) {
  register long item __asm__("a0") = 0;
  register long thread __asm__("a1") = 0;
  __asm__ __volatile__(".4byte 0xb400007b" : "+r"(item) : "r"(thread) : "memory");
}
static inline void cxloom_roi_end(void) {
  register long item __asm__("a0") = 0;
  register long thread __asm__("a1") = 0;
  __asm__ __volatile__(".4byte 0xb600007b" : "+r"(item) : "r"(thread) : "memory");
}
#elif defined(CXLOOM_GEM5)
#error "CXLOOM_GEM5: marks for gem5 are there for RISC-V alone"
#elif defined(__x86_64__)
/* nopl 0x43584c01(%rax) and nopl 0x43584c02(%rax): no compiler makes these, and no processor accesses their
 * address. */
static inline void cxloom_roi_begin(void) {
  __asm__ __volatile__(".byte 0x0f, 0x1f, 0x80, 0x01, 0x4c, 0x58, 0x43" ::: "memory");
}
static inline void cxloom_roi_end(void) {
  __asm__ __volatile__(".byte 0x0f, 0x1f, 0x80, 0x02, 0x4c, 0x58, 0x43" ::: "memory");
}
#else
static inline void cxloom_roi_begin(void) {}
static inline void cxloom_roi_end(void) {}
#endif

#endif
