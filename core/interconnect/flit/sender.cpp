#include "interconnect/flit/sender.hpp"

#include <algorithm>

#include "interconnect/wire/interrupted_wait.hpp"
#include "interconnect/wire/link_path_delivery.hpp"
#include "protocol/flit/isolated_flits.hpp"

namespace cxloom {

FlitSender::FlitSender(LinkPath& path, const Setup& setup, FlitRetries* retries)
    : path_(path),
      retries_(retries),
      flits_(setup.packing),
      staging_(setup.packing.mode),
      packer_(setup.packing),
      geometry_(cxloom::geometry(setup.packing.mode)),
      zero_extended_(setup.packing.zero_extended),
      containment_(setup.containment),
      io_(setup.packing.mode) {}

/// The time of a write's or a read's line, the longer one: nothing says here on which side the memory is.
Time FlitSender::line_time() const {
  unsigned bytes = 0;
  for (const Channel channel : {Channel::kM2SRwD, Channel::kS2MDRS}) {
    const IsolatedFlits& flits =
        isolated_flits(flits_.mode(), zero_extended_).at(static_cast<std::size_t>(channel));
    bytes = std::max(bytes, geometry_.bytes * (flits.count - 1U) +
                                geometry_.half_end.at(geometry_.half.at(flits.end_slot)));
  }
  if (containment_) bytes += geometry_.bytes;  // the flit with its MAC
  return RateMeter(path_.rate()).advance(bytes);
}

std::array<Time, 2> FlitSender::halves_of(Time start, Time end) const {
  if (geometry_.half_end[0] >= geometry_.bytes) return {end, end};
  const auto length = static_cast<std::uint64_t>((end - start).ps());
  return {start + Time{static_cast<std::int64_t>(length * geometry_.half_end[0] / geometry_.bytes)}, end};
}

void FlitSender::stage(Message& message) {
  message.since = path_.kernel().now();
  staging_.add(message);
}

// Flits of CXL.io and of the other protocols alternate, except where an all-data flit is due.
FlitSender::Sent FlitSender::take_turn(Time now, bool credits_due) {
  // Flits of CXL.io carry no credits: a flit of the other protocols between them takes due credits.
  const bool protocol = protocol_waits() || credits_due;
  if (io_waits() && !packer_.all_data_due() && !(protocol && io_went_last_)) {
    io_went_last_ = true;
    return send_io_flit(now);
  }
  if (!protocol) return {now};
  io_went_last_ = false;
  return send_flit(now);
}

FlitPassage FlitSender::pass_wire(Time now) {
  const Wire::Use use = path_.wire().carry(geometry_.bytes, now, now, path_.direction());
  FlitPassage passed{use.start, use.start, use.end, geometry_.bytes};
  if (retries_ && retries_->corrupts()) {
    retries_->send_again(passed);
    if (passed.arrives) charge_retry(passed);
  }
  return passed;
}

// Data under way wait for the flit like the data in it.
void FlitSender::charge_retry(const FlitPassage& passed) {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    Message& waiting = *lines_[i].message;
    if (!waiting.account) continue;
    waiting.charge(Segment::kSerialization, std::max(waiting.account->mark(), passed.first_start));
    waiting.charge(Segment::kRetry, std::max(waiting.account->mark(), passed.start));
  }
}

FlitSender::Sent FlitSender::send_flit(Time now) {
  const FlitPassage passed = pass_wire(now);
  if (!passed.arrives) [[unlikely]]
    return lose_flit(passed, now);
  packer_.pack(staging_.offer(), flit_);
  flits_.count(flit_);
  const std::array<Time, 2> sent = halves_of(passed.start, passed.end);
  if (flit_.count(SlotKind::kMac) > 0) {
    while (!unchecked_.empty()) {
      Message& checked = unchecked_.pop();
      path_.hand_over(checked, std::max(sent[0], last_byte_of(checked)));
    }
  }
  Done done;
  for (std::size_t i = 0; i < flit_.message_count; ++i) {
    const Flit::Placement& placed = flit_.message[i];
    place(placed.channel, passed, sent[geometry_.half[placed.slot]], done);
  }
  done.payload = payload_of_flit();
  for (std::size_t i = 0; i < flit_.end_count; ++i) {
    const Line line = lines_.front();
    lines_.pop_front();
    chunks_ -= Line::kChunks;
    if (line.last) complete(*line.message, sent[geometry_.half[flit_.end[i]]], done);
  }
  book(passed, done, now);
  return {passed.end, flit_.carries_credits()};
}

// The next line of a class is in the flit.
void FlitSender::place(Channel which, const FlitPassage& passed, Time sent, Done& done) {
  const FlitStaging::Line line = staging_.take(which);
  if (line.first) start(*line.message, passed);
  if (is_data_class(which)) {
    const std::uint64_t payload = line.message->payload();
    const std::uint64_t own = !line.last || payload == 0 ? payload : (payload - 1) % kLineBytes + 1;
    lines_.push_back({line.message, line.last, static_cast<std::uint8_t>(std::min(own, kLineBytes))});
  } else if (line.last) {
    complete(*line.message, sent, done);
  }
}

/// The wire takes the first part of a message: its wait is over.
void FlitSender::start(Message& message, const FlitPassage& passed) {
  path_.monitor().queue().change(passed.first_start, -1);
  message.charge(path_.queue_segment(), passed.first_start);
  if (passed.start > passed.first_start) message.charge(Segment::kRetry, passed.start);
}

void FlitSender::complete(Message& message, Time sent, Done& done) {
  ++done.messages;
  if (containment_) {
    unchecked_.push(message);
  } else {
    path_.hand_over(message, std::max(sent, last_byte_of(message)));
  }
}

/// A message's payload counts with the flits that its chunks are in: what a flit carries is less than its
/// bytes.
std::uint16_t FlitSender::payload_of_flit() {
  const auto up_to = [](const Line& line, unsigned chunks) {
    return std::min<unsigned>(line.payload, chunks * kChunkBytes);
  };
  const unsigned end = chunks_ + flit_.count(SlotKind::kData);
  unsigned payload = 0;
  while (chunks_ < end) {
    const unsigned begin = chunks_ / Line::kChunks * Line::kChunks;  // of the line
    const unsigned next = std::min(begin + Line::kChunks, end);
    const Line& line = lines_[begin / Line::kChunks];
    payload += up_to(line, next - begin) - up_to(line, chunks_ - begin);
    chunks_ = next;
  }
  return static_cast<std::uint16_t>(payload);
}

/// The payload of packets, which is behind their header. The flit's have begun, and have not been taken out.
std::uint16_t FlitSender::payload_of_io_flit() {
  std::uint32_t left = flit_.io_bytes;
  std::uint64_t payload = 0;
  for (const Message* message = io_under_way_.first(); left > 0; message = message->next) {
    const auto of_message = static_cast<std::uint32_t>(message->payload());
    const std::uint32_t before = io_bytes_before_payload(flits_.mode(), message->opcode);
    const auto up_to = [&](std::uint32_t bytes) {
      return std::min(std::max(bytes, before) - before, of_message);
    };
    const std::uint32_t all = staging_.bytes_of_io(*message);
    const std::uint32_t gone = std::min(io_gone_ + left, all);
    payload += up_to(gone) - up_to(io_gone_);
    left -= gone - io_gone_;
    io_gone_ = gone == all ? 0 : gone;
  }
  return static_cast<std::uint16_t>(payload);
}

FlitSender::Sent FlitSender::send_io_flit(Time now) {
  io_bytes_.clear();
  std::uint32_t bytes = 0;
  for (const Message* message = staging_.io().first(); message && bytes < geometry_.io_bytes;
       message = message->next) {
    io_bytes_.push_back(staging_.bytes_of_io(*message));
    bytes += io_bytes_.back();
  }
  const FlitPassage passed = pass_wire(now);
  if (!passed.arrives) [[unlikely]]
    return lose_flit(passed, now);
  io_.pack(io_bytes_, flit_);
  flits_.count(flit_);
  for (unsigned i = 0; i < flit_.io_begun; ++i) {
    Message& message = staging_.take_io();
    start(message, passed);
    io_under_way_.push(message);
  }
  Done done{.payload = payload_of_io_flit()};
  for (unsigned i = 0; i < flit_.io_ended; ++i) {
    Message& message = io_under_way_.pop();
    ++done.messages;
    path_.hand_over(message, std::max(passed.end, last_byte_of(message)));
  }
  book(passed, done, now);
  return {passed.end};
}

// It took the wire for nothing. What would have been in it is as if it had not begun.
FlitSender::Sent FlitSender::lose_flit(const FlitPassage& passed, Time now) {
  book(passed, {}, now);
  return {passed.end};
}

void FlitSender::recall(Time now) {
  std::vector<Message*> begun;
  const auto add = [&](Message& message) {
    if (std::ranges::find(begun, &message) == begun.end()) begun.push_back(&message);
  };
  while (!unchecked_.empty()) add(unchecked_.pop());
  for (; !lines_.empty(); lines_.pop_front()) add(*lines_.front().message);
  while (!io_under_way_.empty()) add(io_under_way_.pop());
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    if (Message* const message = staging_.begun(static_cast<Channel>(i))) add(*message);
  }
  for (Message* message : begun) {
    path_.monitor().queue().change(now, +1);
    message->charge(kInterrupted, now);
  }
  staging_.put_back(begun);
  packer_ = FlitPacker(packer_.packing());
  chunks_ = 0;
  io_gone_ = 0;
  io_ = IoPacker(packer_.mode());
  io_went_last_ = false;
}

void FlitSender::book(const FlitPassage& passed, const Done& done, Time now) {
  path_.monitor().book(
      {passed.first_start, passed.first_start, passed.end, passed.bytes, done.payload, done.messages}, now);
}

}  // namespace cxloom
