#include "interconnect/wire/flit_staging.hpp"

#include <utility>

namespace cxloom {

void FlitStaging::add(Message& message) {
  Stage& stage = stage_of(message.channel);
  if (message.channel == Channel::kIo) {
    stage.messages.push(message);
    io_bytes_ += bytes_of_io(message);
    return;
  }
  const std::uint32_t lines = lines_of(message);
  if (stage.messages.empty()) stage.lines_of_head = lines;
  stage.messages.push(message);
  set_lines(message.channel, stage.lines + lines);
  lines_ += lines;
  if (cxloom::has_byte_enables(message)) stage.has_byte_enables = true;
}

FlitStaging::Line FlitStaging::take(Channel channel) {
  Stage& stage = stage_of(channel);
  Message& message = stage.messages.front();
  const bool first = stage.lines_of_head == lines_of(message);
  const bool last = --stage.lines_of_head == 0;
  --lines_;
  set_lines(channel, stage.lines - 1);
  if (last) {
    stage.messages.pop();
    if (!stage.messages.empty()) stage.lines_of_head = lines_of(stage.messages.front());
  }
  return {&message, first, last};
}

Message* FlitStaging::begun(Channel channel) const {
  const Stage& stage = stage_of(channel);
  if (channel == Channel::kIo || stage.messages.empty()) return nullptr;
  Message& head = stage.messages.front();
  return stage.lines_of_head == lines_of(head) ? nullptr : &head;
}

void FlitStaging::put_back(std::span<Message* const> taken) {
  io_bytes_ = 0;
  for (std::size_t i = 0; i < kChannelCount; ++i) {
    const auto which = static_cast<Channel>(i);
    const bool with_head = begun(which) == nullptr;
    MessageQueue others = std::exchange(stages_[i].messages, {});
    if (!with_head) others.pop();
    lines_ -= stages_[i].lines;
    set_lines(which, 0);
    for (Message* message : taken) {
      if (message->channel == which) add(*message);
    }
    while (!others.empty()) add(others.pop());
  }
}

Message& FlitStaging::take_io() {
  Message& message = stage_of(Channel::kIo).messages.pop();
  io_bytes_ -= bytes_of_io(message);
  return message;
}

/// Byte enables among the lines that may go next.
void FlitStaging::describe_data(Channel channel) {
  Stage& stage = stage_of(channel);
  stage.has_byte_enables = false;
  std::size_t k = 0;
  std::uint32_t lines = stage.lines_of_head;
  for (const Message* message = stage.messages.first(); message && k < Offer::kMostWithData;
       message = message->next, lines = message ? lines_of(*message) : 0) {
    for (; lines > 0 && k < Offer::kMostWithData; --lines, ++k) {
      const bool trailer = lines == 1 && cxloom::has_byte_enables(*message);
      stage.has_byte_enables |= trailer;
      offer_.set_data(channel, k, {4, trailer});
    }
  }
  for (; k < Offer::kMostWithData; ++k) offer_.set_data(channel, k, {4, false});
  // Lines further back are described when they come nearer.
  stage.has_byte_enables |= stage.lines > Offer::kMostWithData;
}

}  // namespace cxloom
