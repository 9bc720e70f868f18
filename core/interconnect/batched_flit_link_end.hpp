// A link end of flits where nothing but the arrival of messages depends on when a turn on the wire is taken: no credits, no
// errors, no checks, no queues of a switch. Turns are worked off in batches, as late as the first arrival allows: when
// the next turn is taken, it is known whether anything joins the flit, and a message that goes alone is never packed.
#pragma once

#include <memory>

#include "interconnect/flit_link_end.hpp"

namespace cxloom {

class BatchedFlitLinkEnd final : public FlitLinkEnd {
 public:
  BatchedFlitLinkEnd(Kernel& kernel, const Setup& setup);
  /// Whether turns may be taken in batches, with a far end that is set up alike.
  static bool possible(const Setup& setup);
  void set_opposite(QueuedLinkEnd& opposite) override;

  void send(Message& message, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void catch_up(Time now) override;

 private:
  /// The flits of a message of a class that goes alone, one behind the other.
  struct Lone {
    Time reach;  ///< from the start of the first one to the arrival it takes at least so long, alone or not
    Time last_starts;  ///< so long at most after the first one: what is ready by then may join it
    Time time;         ///< of all, to the picosecond below
    std::uint16_t bytes = 0;
    std::uint8_t flits = 0;  ///< none: the class never goes alone
    std::uint8_t slots = 0;
    bool first_half = false;  ///< the message ends in the first half of its only flit

    /// Whether they are this message's too.
    bool takes(const Message& message) const {
      return flits > 0 && message.size <= kLineBytes && !has_byte_enables(message);
    }
  };
  /// Which turns are to be taken: all, or those without which a message would arrive too late.
  enum class Upto : std::uint8_t { kNow, kArrivals };

  const Lone& lone_of(const Message& message) const {
    return lone_[static_cast<std::size_t>(message.channel)];
  }
  Time pass_alone(const Coming& coming, const Lone& lone, Time turn, Time now);
  Message* work_off(Time now, Upto upto);
  Time first_arrival(Time turn) const;
  void admit_until(Time until);

  bool packing_ = false;  // something is staged, or under way in the packer
  bool fresh_ = true;     // the packer is as if nothing had ever gone
  Time reach_;            // of any message
  std::array<Lone, kChannelCount> lone_{};
};

/// The kind of link end that the setup allows; that at the other side may be of the other kind.
std::unique_ptr<FlitLinkEnd> make_flit_link_end(Kernel& kernel, const FlitLinkEnd::Setup& setup);

}  // namespace cxloom
