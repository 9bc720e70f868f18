// QEMU's own clock, in the hands of its plug-in.
//
// QEMU counts instructions for one processor alone (-icount), and a plug-in cannot set its clock:
// qemu_plugin_update_ns changes nothing where instructions are translated (QEMU 10). But QEMU reads its clock
// from clock_gettime, and waits for its next timer in ppoll. The plug-in, if it is loaded ahead of the C
// library (LD_PRELOAD), takes the place of both. The counter of cycles is beyond it, which QEMU reads by
// itself.
#pragma once

#include <cstdint>

#include "guest_clock.hpp"

namespace cxloom::qemu {

/// The processors of the guest. While the clock does not go by this computer's, and none of them has
/// something to do, it passes to the next timer.
extern BusyProcessors busy_processors;

/// From now on the clock goes by `pass_guest_time` alone.
void drive_guest_clock();
void pass_guest_time(std::int64_t nanoseconds);
/// From now on it goes on with this computer's.
void release_guest_clock();

}  // namespace cxloom::qemu
