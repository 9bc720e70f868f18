// What a core needs for each line that it waits for: a fill buffer of its first level while an instruction
// wants the line, and a miss register of its second while the line is on its way.
#pragma once

#include <cstdint>
#include <deque>

#include "base/ring.hpp"
#include "device/requester/core_access.hpp"
#include "device/requester/core_params.hpp"

namespace cxloom {

/// The miss registers and fill buffers of one core. An access of an instruction takes both; a prefetch a
/// register; the use of a line that a prefetch brings a fill buffer. Instructions come before prefetches, and
/// among each the first that asked. A prefetch is asked for by the access or use before it, when that has its
/// fill buffer.
class MissRegisters {
 public:
  explicit MissRegisters(const CoreParams& params)
      : registers_(params.mshrs), fill_buffers_(params.demands()), prefetches_(params.prefetches()) {}

  /// It has come into the window, and may lead to prefetches or be one.
  void dispatched(CoreAccess& access);
  /// It takes what it needs as soon as that is there, and is `granted` then.
  void ask(CoreAccess& access);
  /// The access is answered, or the line of the use has come: it needs neither any longer.
  void release(CoreAccess& access);
  /// An instruction with a fill buffer wants the line of a prefetch, which counts as its own access now
  /// unless it is on its way.
  void hurry(CoreAccess& prefetch);
  /// The next one that has what it needs now; null if there is none.
  CoreAccess* granted() { return first_of(granted_); }
  /// The next use that may ask for its fill buffer, as the record of its line has asked; null if there is
  /// none. A use that had one before would keep it from what that record waits for.
  CoreAccess* may_ask() { return first_of(may_ask_); }

 private:
  static CoreAccess* first_of(Ring<CoreAccess*>& ring) {
    if (ring.empty()) return nullptr;
    CoreAccess* const first = ring.front();
    ring.pop_front();
    return first;
  }
  bool has_room(const CoreAccess& access) const;
  void enter(CoreAccess& access);
  void grant(CoreAccess& access);
  void grant_from(std::deque<CoreAccess*>& queue);
  void grant_what_can_be();
  std::deque<CoreAccess*>& queue_of(const CoreAccess& access);

  std::uint32_t registers_;
  std::uint32_t fill_buffers_;
  std::uint32_t prefetches_;
  std::uint32_t registers_taken_ = 0;
  std::uint32_t fill_buffers_taken_ = 0;
  std::uint32_t prefetches_made_ = 0;  // and not answered
  CoreAccess* latest_ = nullptr;       // the access or use that was dispatched last, unless it was granted
  std::deque<CoreAccess*> urgent_;     // prefetches for whose lines instructions have fill buffers already
  std::deque<CoreAccess*> waiting_;
  std::deque<CoreAccess*> waiting_prefetches_;
  Ring<CoreAccess*> granted_;
  Ring<CoreAccess*> may_ask_;
};

}  // namespace cxloom
