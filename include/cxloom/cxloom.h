/* The C interface: a system that another simulator or an emulator drives.
 *
 *   cxloom resolve system.yaml > system.json        what a person wrote, resolved: once, by Python
 *   cxloom_open(json, NULL, &error)                 in C, without Python
 *
 * Times are picoseconds of the simulation. A function that can fail says so by its result; cxloom_error()
 * then says why. Once the simulation is over (cxloom_finish has returned 0, or cxloom_run_until 1) what asks
 * for more of it is refused: drive, inject, give, transfer and finish give -1. Times, bytes, the summary and
 * close go on to work. Nothing is shared between simulations: each may be used by one thread at a time.
 * examples/embed/ has programs.
 *
 * SPDX-FileCopyrightText: 2026 The cxloom authors
 * SPDX-License-Identifier: BSD-3-Clause
 */
#ifndef CXLOOM_H
#define CXLOOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cxloom_simulation cxloom_simulation;

/* Called when an access is answered, at that time. It may inject more, and use all else but cxloom_run_until
 * and cxloom_finish, which are refused with -1, and cxloom_close, which does nothing but leave its error:
 * time is at work. */
typedef void (*cxloom_answered)(void* user, int64_t picoseconds);

/* In the place of an address: the device that makes a transfer. */
#define CXLOOM_ITSELF UINT64_MAX

/* Called when a transfer has ended, at that time, with the bytes that have arrived: all; or 0 if some were
 * answered without data, and which of them have arrived is not known. It may do what cxloom_answered may. */
typedef void (*cxloom_moved)(void* user, int64_t picoseconds, uint64_t bytes);

/* "0.1.0". */
const char* cxloom_version(void);

/* Opens a system from a resolved spec, with the kinds of these libraries: paths, the last one NULL; or NULL
 * for none. NULL if it cannot be opened: then *error says why, a text to be freed with cxloom_free(), or NULL
 * where memory is out. */
cxloom_simulation* cxloom_open(const char* json, const char* const* plugins, char** error);
/* Ends it and frees its memory, finished or not; NULL is allowed. */
void cxloom_close(cxloom_simulation* simulation);
/* Frees a text that a function here gave. */
void cxloom_free(char* text);
/* What the last function that failed says; "" if none has. */
const char* cxloom_error(const cxloom_simulation* simulation);

/* Accesses of this host or accelerator come from outside; it has no workload in the spec. 0, or -1. */
int cxloom_drive(cxloom_simulation* simulation, const char* device);
/* An access of `bytes` bytes, now; `write` is 0 or 1; `answered` may be NULL. 0; or -1, with nothing changed,
 * for one that nobody can serve. */
int cxloom_inject(cxloom_simulation* simulation, const char* device, uint64_t address, uint32_t bytes,
                  int write, cxloom_answered answered, void* user);

/* A transfer of `bytes` bytes from one address to another, now, by a device that is driven; one of the two
 * may be CXLOOM_ITSELF. A device with a DMA engine (gpu) copies between its own memory, CXLOOM_ITSELF, and
 * system memory: in the next of its streams that has room, with its launch_time. A host or accelerator
 * without cores reads line by line to itself, writes from itself, or copies between two addresses that differ
 * by a multiple of 64: each line is written once it is there. Its transfers, and its accesses, take turns.
 * All transfers in flight share links and memories with everything else. Time passes for the bytes; the
 * values that cxloom_read gives stay where they are. `moved` may be NULL. 0; or -1, with nothing changed, for
 * one that the device cannot move. */
int cxloom_transfer(cxloom_simulation* simulation, const char* device, uint64_t bytes, uint64_t from,
                    uint64_t to, cxloom_moved moved, void* user);

/* For many accesses: devices and memories by their numbers, one function for all answers of a device, nothing
 * to look up or to allocate for an access. */

/* The number of a device, the same as long as the simulation lives; or -1 if there is none of that name. */
int cxloom_device(cxloom_simulation* simulation, const char* name);

/* What an access wants. An atomic operation has 4 or 8 aligned bytes. Of a device whose cache is outside
 * (below) CXLOOM_READ wants a copy of its line, shared or exclusive; it alone has those from CXLOOM_OWN on.
 */
#define CXLOOM_READ 0
#define CXLOOM_WRITE 1 /* to memory, past all caches; the device's own copy goes */
#define CXLOOM_ATOMIC 2
#define CXLOOM_CURRENT 3     /* a read of the current value that leaves no copy */
#define CXLOOM_OWN 4         /* a read of the line, to write it */
#define CXLOOM_UPGRADE 5     /* ownership of a line that is there as a shared copy */
#define CXLOOM_WRITE_BACK 6  /* a modified line leaves */
#define CXLOOM_CLEAN_EVICT 7 /* a line that is not modified leaves, which may be left unsaid */

/* How a cache holds a line. */
#define CXLOOM_INVALID 0
#define CXLOOM_SHARED 1
#define CXLOOM_EXCLUSIVE 2
#define CXLOOM_MODIFIED 3

/* In the place of a memory: the address is one of the address map. */
#define CXLOOM_MAPPED (-1)

typedef struct {
  uint64_t address; /* in bytes; with a memory an offset in it */
  uint64_t tag;     /* the program's own name for it: the answer brings it back */
  int64_t ready;    /* when it comes, now or later: its latency begins then, however full the device's queue
                       is; of a device with cores or a DMA engine it begins when these take it. 0: now. Else
                       not before now, and at most INT64_MAX / 2 */
  uint32_t bytes;   /* 1 to 4096 */
  int intent;       /* CXLOOM_READ and so on */
  int memory;       /* the number of a memory that the address map leads to, or CXLOOM_MAPPED */
} cxloom_access;

typedef struct {
  uint64_t tag;
  int64_t picoseconds;     /* when it was answered: now */
  int64_t latency;         /* since it was ready, in picoseconds */
  const int64_t* segments; /* where that went: cxloom_segments() numbers that sum to the latency */
  int target;              /* the number of the device that answered; the device itself for a cache hit */
  int failed;              /* 1: answered without data */
  int granted;             /* what CXLOOM_READ, OWN and UPGRADE got of a device whose cache is outside: how it
                              may hold the line from now on. 0 of all others, which grant nothing */
} cxloom_answer;

/* Called for each answer to an access of cxloom_give, at its time. The answer, and its segments, are there
 * for as long as it is called. It may do what cxloom_answered may. */
typedef void (*cxloom_tell)(void* user, const cxloom_answer* answer);

/* How many segments an answer has, and what each is called (docs/measure.md); NULL if there is none of that
 * number. */
int cxloom_segments(void);
const char* cxloom_segment_name(int segment);

/* The answers to what this device is given go to `tell` from now on. It is driven from now on, if it is not
 * already. 0, or -1. */
int cxloom_answers(cxloom_simulation* simulation, int device, cxloom_tell tell, void* user);
/* An access of a device whose answers go somewhere; given later ones may come before it. 0; or -1, with
 * nothing changed, for one that nobody can serve. */
int cxloom_give(cxloom_simulation* simulation, int device, const cxloom_access* access);

/* A medium outside: a program that stores the bytes of a memory in the place of what the spec says, such as
 * another simulator's DRAM. The memory's controller hands accesses out and waits for the end of each; its
 * `queue`, or its `read_buffer` and `write_buffer`, bound how many there are at once. */

typedef struct {
  uint64_t id;      /* to say its end by */
  uint64_t address; /* an offset in the memory */
  uint64_t tag;     /* of the access of cxloom_give that caused it, if has_tag */
  uint32_t bytes;
  int write;     /* 1: a write, of a cache or a migration perhaps; 0: a read */
  int has_tag;   /* 0: a cache, a home, or an access without a tag caused it */
  int requester; /* the number of the device that caused it */
  int memory;
} cxloom_medium_access;

/* Called when an access to a medium outside begins, at that time. It may do what cxloom_answered may, and say
 * the end of the access at once. */
typedef void (*cxloom_medium)(void* user, const cxloom_medium_access* access);

/* `medium` stores the bytes of this memory. Before anything has happened. 0, or -1. */
int cxloom_external_medium(cxloom_simulation* simulation, int memory, cxloom_medium medium, void* user);
/* The access of that id to the memory's medium is done at `picoseconds`, now or later, at most INT64_MAX / 2;
 * 0: now. 0; or -1, with nothing changed, if there is none of that id outside: each is done once.
 * cxloom_finish gives -1 while some are not: let time pass until they are. */
int cxloom_medium_done(cxloom_simulation* simulation, int memory, uint64_t id, int64_t picoseconds);

/* A cache outside: of a device with `external_cache: true`, whose cache another simulator has. It takes part
 * in the coherence of the system: it asks for lines with cxloom_give, and answers the snoops of their homes.
 * It holds a line as granted, or less; exclusive may become modified without a word, and a line that is not
 * modified may leave without one. From when CXLOOM_WRITE_BACK or CXLOOM_CLEAN_EVICT is given it holds the
 * line no more, whenever that is ready; an access to the line may follow at once. */

/* Why a line is snooped. */
#define CXLOOM_TO_INVALIDATE 0 /* nothing stays */
#define CXLOOM_TO_SHARE 1      /* what stays is shared */
#define CXLOOM_FOR_CURRENT 2   /* the value is wanted, and the copy stays */

/* Called when a home snoops a line of 64 bytes, by its address of the address map. The answer is given by
 * cxloom_snooped, within this call or later, and must not wait for the answer to an access: an access to the
 * line that is under way comes after the snoop. It may do what cxloom_answered may. */
typedef void (*cxloom_snoop)(void* user, uint64_t id, uint64_t address, int purpose);

/* The cache of this device is outside, and hears of snoops by `snoop`. Before anything has happened. 0, or
 * -1. */
int cxloom_external_cache(cxloom_simulation* simulation, int device, cxloom_snoop snoop, void* user);
/* The device held the line of that snoop as `held`, just now. Returns how it holds it from now on, at most;
 * or -1, with nothing changed, if there is no such snoop, or no such state. The data of a modified line go to
 * memory. Accesses of the device to the line may be under way, of another of its caches perhaps: these wait.
 */
int cxloom_snooped(cxloom_simulation* simulation, int device, uint64_t id, int held);

/* The time up to which everything has happened. */
int64_t cxloom_now(const cxloom_simulation* simulation);
/* When something happens next; INT64_MAX if nothing does until an access is injected. Within an answer or
 * another call of the simulation it does not know what comes of that. -1 if it fails. */
int64_t cxloom_next_event(cxloom_simulation* simulation);
/* No answer comes before this time, as things are: never later than the next, and mostly not before it, so
 * that a program wakes once or twice for an access of a line instead of once for an event. It goes by the
 * ways that requests have before them. Where it cannot know these it is the next event: beside media outside,
 * plug-ins, persist buffers, links that fail, DMA engines, and for devices with cores or a cache, be it
 * outside: so no snoop is handed out before it. INT64_MAX: no answer comes until more is given. Within an
 * answer it holds, too, for as long as nothing more is given. -1 if it fails. */
int64_t cxloom_next_call(cxloom_simulation* simulation);
/* The latency of an access where nothing else is under way, in picoseconds, for atomic modes; `ready` and
 * `tag` say nothing. It is made in a second system of the same spec, at the first call, without its workloads
 * and events: what caches and media remember (rows, pages) they remember of such accesses, a medium outside
 * is that of the spec. Caches outside hold nothing, but for the line that an upgrade wants, or that leaves.
 * Time does not pass. -1 for one that cxloom_give would refuse, that has no answer within 100 ms, or one
 * without data, such as of a memory that is bound to another host from the beginning. */
int64_t cxloom_estimate(cxloom_simulation* simulation, int device, const cxloom_access* access);

/* Lets everything happen up to and including this time. 1: the simulation is over; 0: it is not; -1. */
int cxloom_run_until(cxloom_simulation* simulation, int64_t picoseconds);
/* No more accesses come, but for those that answers inject: runs to the end. 0, or -1. */
int cxloom_finish(cxloom_simulation* simulation);

/* Copies bytes of the simulated memory, without time passing; those never written are 0. cxloom_write: 0, or
 * -1. */
void cxloom_read(cxloom_simulation* simulation, uint64_t address, void* bytes, size_t count);
int cxloom_write(cxloom_simulation* simulation, uint64_t address, const void* bytes, size_t count);

/* The measured window ends now and the next one begins. What was measured in it is what cxloom_summary and
 * cxloom_measure give until the next one ends, or the simulation does. Requests under way count where they
 * are answered. It measures, and changes nothing: workloads of the spec make as many requests as without it.
 * A window is open until the next one begins or no more can be given, also where a workload of the spec has
 * ended. 0, or -1. */
int cxloom_new_window(cxloom_simulation* simulation);
/* One number of the summary, by its keys with dots between them: "per_memory.mem0.reads", "latency_ns.mean".
 * A name may have dots itself. NaN where there is none: the mean latency of no requests, say.
 * 0; or -1 if there is none of that name, it is no number, or no window has ended yet. */
int cxloom_measure(cxloom_simulation* simulation, const char* path, double* value);
/* The summary as JSON, as `cxloom run --json` prints it without `cost`; to be freed with cxloom_free(). NULL
 * if it fails. */
char* cxloom_summary(cxloom_simulation* simulation);

#ifdef __cplusplus
}
#endif

#endif
