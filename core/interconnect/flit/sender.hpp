// Packs the messages of a link end into flits, sends these, and hands over the messages that each completes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/ring.hpp"
#include "interconnect/flit/monitor.hpp"
#include "interconnect/flit/retries.hpp"
#include "interconnect/wire/flit_staging.hpp"
#include "interconnect/wire/link_path.hpp"
#include "protocol/flit/io_packer.hpp"
#include "protocol/flit/packer.hpp"

namespace cxloom {

class FlitSender {
 public:
  struct Setup {
    FlitPacking packing;
    bool containment = false;  ///< messages wait for the MAC of their flits
  };
  /// What went out in a turn on the wire.
  struct Sent {
    Time end;                      ///< when the last byte of its flit is sent
    bool carries_credits = false;  ///< the flit has room for credits
  };

  /// `retries`: none where no flit is ever corrupted.
  FlitSender(LinkPath& path, const Setup& setup, FlitRetries* retries);

  const FlitGeometry& geometry() const { return geometry_; }
  FlitMonitor& monitor() { return flits_; }
  const FlitMonitor& monitor() const { return flits_; }
  Time flit_time() const { return RateMeter(path_.rate()).advance(geometry_.bytes); }
  /// The serialisation of a line of data on an idle wire.
  Time line_time() const;
  /// When the last byte of each half of a flit is sent.
  std::array<Time, 2> halves_of(Time start, Time end) const;

  /// The message goes into the next flits. If its tail is still to come, it is complete when that is here.
  void stage(Message& message);
  FlitStaging& staging() { return staging_; }
  const FlitStaging& staging() const { return staging_; }

  bool protocol_waits() const {
    return staging_.lines() > 0 || packer_.must_continue() || packer_.unchecked_flits() > 0;
  }
  bool io_waits() const { return io_.must_continue() || !staging_.io().empty(); }
  /// Nothing waits, and no flit before the next one matters to it.
  bool starts_afresh() const { return packer_.fresh() && !io_went_last_ && !protocol_waits() && !io_waits(); }
  /// Sends a flit with staged messages, or one without messages where credits are due.
  Sent take_turn(Time now, bool credits_due);
  /// The link has failed: the receiver drops what it has a part of, and nothing that went before matters any
  /// more. Messages that have not arrived whole are staged again.
  void recall(Time now);

 private:
  /// A line of a message whose data are under way; the message is complete with its last one.
  struct Line {
    static constexpr unsigned kChunks = kLineBytes / kChunkBytes;

    Message* message;
    bool last;
    std::uint8_t payload;  ///< bytes
  };
  /// The load of a flit: messages that are complete with it, and bytes of payload in it.
  struct Done {
    std::uint16_t messages = 0;
    std::uint16_t payload = 0;
  };

  FlitPassage pass_wire(Time now);
  void charge_retry(const FlitPassage& passed);
  Sent send_flit(Time now);
  Sent send_io_flit(Time now);
  void place(Channel which, const FlitPassage& passed, Time sent, Done& done);
  void start(Message& message, const FlitPassage& passed);
  void complete(Message& message, Time sent, Done& done);
  std::uint16_t payload_of_flit();
  std::uint16_t payload_of_io_flit();
  Sent lose_flit(const FlitPassage& passed, Time now);
  void book(const FlitPassage& passed, const Done& done, Time now);

  LinkPath& path_;
  FlitRetries* retries_;
  FlitMonitor flits_;
  FlitStaging staging_;
  Ring<Line> lines_;     // data under way, in the order of their headers
  unsigned chunks_ = 0;  // of these, in flits that have gone
  FlitPacker packer_;
  const FlitGeometry& geometry_;
  Flit flit_;
  bool zero_extended_;
  bool containment_;
  bool io_went_last_ = false;
  MessageQueue unchecked_;  // complete, waiting for their MAC
  IoPacker io_;
  std::vector<std::uint32_t> io_bytes_;
  MessageQueue io_under_way_;
  std::uint32_t io_gone_ = 0;  // bytes of the first of these, in flits that have gone
};

}  // namespace cxloom
