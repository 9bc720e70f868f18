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
 * nested; any thread may begin and end one. */
#ifndef CXLOOM_ROI_H
#define CXLOOM_ROI_H

#if defined(__x86_64__)
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
