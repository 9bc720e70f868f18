/* The C interface: a system that another simulator or an emulator drives.
 *
 *   cxloom resolve system.yaml > system.json        what a person wrote, resolved: once, by Python
 *   cxloom_open(json, NULL, &error)                 in C, without Python
 *
 * Times are picoseconds of the simulation. A function that can fail says so by its result; cxloom_error()
 * then says why. Once the simulation is over (cxloom_finish has returned 0, or cxloom_run_until 1) what asks
 * for more of it is refused: drive, inject, transfer and finish give -1. Times, bytes, the summary and close
 * go on to work. Nothing is shared between simulations: each may be used by one thread at a time.
 * examples/embed/ has programs. */
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

/* The time up to which everything has happened. */
int64_t cxloom_now(const cxloom_simulation* simulation);
/* When something happens next; INT64_MAX if nothing does until an access is injected. */
int64_t cxloom_next_event(cxloom_simulation* simulation);
/* Lets everything happen up to and including this time. 1: the simulation is over; 0: it is not; -1. */
int cxloom_run_until(cxloom_simulation* simulation, int64_t picoseconds);
/* No more accesses come, but for those that answers inject: runs to the end. 0, or -1. */
int cxloom_finish(cxloom_simulation* simulation);

/* Copies bytes of the simulated memory, without time passing; those never written are 0. cxloom_write: 0, or
 * -1. */
void cxloom_read(cxloom_simulation* simulation, uint64_t address, void* bytes, size_t count);
int cxloom_write(cxloom_simulation* simulation, uint64_t address, const void* bytes, size_t count);

/* The summary as JSON, as `cxloom run --json` prints it without `cost`; to be freed with cxloom_free(). NULL
 * if it fails. */
char* cxloom_summary(cxloom_simulation* simulation);

#ifdef __cplusplus
}
#endif

#endif
