// What may go into the next flits of a link: messages with their credits in hand, a queue per class, counted
// in lines of 64 B of which a message has one or more. Packets of CXL.io, which go in flits of their own, are
// counted in bytes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "protocol/flit/io_packer.hpp"
#include "protocol/flit/offer.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

/// Lines of a message in flits, each with a header of its own. A snoop of a block is one message, whatever
/// its size.
inline std::uint32_t lines_of(const Message& message) {
  if (message.channel == Channel::kS2MBISnp || message.channel == Channel::kM2SBIRsp) return 1;
  return std::max(1U, static_cast<std::uint32_t>((message.size + kLineBytes - 1) / kLineBytes));
}

/// A write of less than its lines carries byte enables, and so does an atomic operation.
inline bool has_byte_enables(const Message& message) {
  return (message.opcode == Opcode::kMemWr || message.opcode == Opcode::kMemAtomic) &&
         message.size % kLineBytes != 0;
}

/// When the last byte of a staged message comes in, whose tail counts from the time at which it was staged;
/// zero: it is here.
inline Time last_byte_of(const Message& message) {
  return message.tail > Time{} ? message.since + message.tail : Time{};
}

class FlitStaging {
 public:
  /// A line on its way into a flit.
  struct Line {
    Message* message;
    bool first;  ///< of its message
    bool last;
  };

  explicit FlitStaging(FlitMode mode) : mode_(mode), io_room_(geometry(mode).io_bytes) {}

  void add(Message& message);
  /// The next line of a class; one must be there.
  Line take(Channel channel);
  /// Takes out the messages of a class of which no line has been taken, and calls `gone(message)` for each.
  template <class Gone>
  void remove_untouched(Channel channel, Gone gone) {
    Stage& stage = stage_of(channel);
    if (stage.messages.empty()) return;
    Message* const touched = begun(channel);
    if (touched) stage.messages.pop();
    const std::uint32_t kept = touched ? stage.lines_of_head : 0;
    lines_ -= stage.lines - kept;
    set_lines(channel, kept);
    while (!stage.messages.empty()) {
      Message& message = stage.messages.pop();
      gone(message);
    }
    if (touched) stage.messages.push(*touched);
  }

  /// The message of a class of which some lines have been taken; null if there is none.
  Message* begun(Channel channel) const;
  /// Messages that have been taken, or begun, are here again, whole and before all others, in their order.
  void put_back(std::span<Message* const> taken);
  /// Calls `seen(message)` for each that is staged.
  template <class Seen>
  void each(Seen seen) const {
    for (const Stage& stage : stages_) {
      for (Message* message = stage.messages.first(); message; message = message->next) seen(*message);
    }
  }

  /// The next flit cannot take more of a class than is staged.
  bool full(Channel channel) const {
    return channel == Channel::kIo ? io_bytes_ >= io_room_ : lines(channel) >= Offer::kMost;
  }
  /// Lines of a class, CXL.io aside.
  std::uint32_t lines(Channel channel) const { return stages_[static_cast<std::size_t>(channel)].lines; }
  /// Lines of all classes but CXL.io.
  std::uint32_t lines() const { return lines_; }
  /// The lines as a packer sees them, with their byte enables.
  const Offer& offer() {
    // Writes alone have byte enables.
    if (stage_of(Channel::kM2SRwD).has_byte_enables) describe_data(Channel::kM2SRwD);
    return offer_;
  }
  const MessageQueue& io() const { return stages_[static_cast<std::size_t>(Channel::kIo)].messages; }
  /// The bytes of a CXL.io packet on the wire.
  std::uint32_t bytes_of_io(const Message& message) const {
    return io_packet_bytes(mode_, message.opcode, static_cast<std::uint32_t>(message.payload()));
  }
  /// Bytes of all packets.
  std::uint32_t io_bytes() const { return io_bytes_; }
  Message& take_io();

 private:
  struct Stage {
    MessageQueue messages;
    std::uint32_t lines = 0;
    std::uint32_t lines_of_head = 0;  // not taken yet
    bool has_byte_enables = false;    // some line has
  };

  Stage& stage_of(Channel channel) { return stages_[static_cast<std::size_t>(channel)]; }
  const Stage& stage_of(Channel channel) const { return stages_[static_cast<std::size_t>(channel)]; }
  void set_lines(Channel channel, std::uint32_t lines) {
    stage_of(channel).lines = lines;
    offer_.set(channel, lines);
  }
  void describe_data(Channel channel);

  FlitMode mode_;
  std::uint32_t io_room_;  // bytes of packets that a flit takes
  std::uint32_t io_bytes_ = 0;
  std::uint32_t lines_ = 0;
  Offer offer_;
  std::array<Stage, kChannelCount> stages_{};
};

}  // namespace cxloom
