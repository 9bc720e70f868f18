#include "protocol/flit/reader.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "protocol/flit/format.hpp"

namespace cxloom {
namespace {

std::size_t index_of(Channel channel) { return static_cast<std::size_t>(channel); }

SlotType type_of(FlitMode mode, std::size_t slot) {
  if (slot == 0) return SlotType::kHeader;
  return slot == geometry(mode).second_header ? SlotType::kSecondHeader : SlotType::kGeneric;
}

}  // namespace

std::vector<FlitReader::Arrival> FlitReader::read(const Flit& flit) {
  ensure(flit.mode == mode_, "a flit of another format");
  if (flit.kind == FlitKind::kIo) {
    ensure(expected_.empty() || !all_data_due(), "a flit of CXL.io where an all-data flit is due");
    return {};
  }
  ensure(flit.slots == geometry(mode_).slots, "a flit with slots missing");
  arrivals_.clear();
  next_message_ = next_end_ = 0;
  ensure((flit.kind == FlitKind::kAllData) == all_data_due(),
         "an all-data flit is due exactly at more than 3 chunks");
  std::array<unsigned, kSlotKindCount> kinds{};
  for (std::size_t slot = 0; slot < flit.slots; ++slot) {
    ++kinds[static_cast<std::size_t>(flit.slot[slot].kind)];
    read_slot(flit, slot);
  }
  ensure(std::equal(kinds.begin(), kinds.end(), flit.slots_of.begin()), "slots counted as another kind");
  ensure(next_message_ == flit.message_count, "messages in no slot of the flit");
  ensure(next_end_ == flit.end_count, "data said to end that do not");
  if (mode_ == FlitMode::k68B) {
    check_header_counts(flit);
    check_data_headers_68b(flit);
  } else {
    check_rolling_counts(flit);
    ensure(data_expected() <= 36, "more than 36 data slots outstanding");
  }
  ++flits_;
  return arrivals_;
}

unsigned FlitReader::data_expected() const {
  unsigned slots = 0;
  for (const Transfer& transfer : expected_) slots += transfer.slots_left;
  return slots;
}

/// More chunks than fit beside a header.
bool FlitReader::all_data_due() const {
  return mode_ == FlitMode::k68B && data_expected() > geometry(mode_).generic_slots();
}

void FlitReader::read_slot(const Flit& flit, std::size_t slot) {
  const bool header = flit.kind != FlitKind::kAllData && geometry(mode_).is_header(slot);
  const bool data_due = !header && !expected_.empty();
  switch (flit.slot[slot].kind) {
    case SlotKind::kData:
    case SlotKind::kTrailer:
      ensure(!header, "data in a header slot");
      ensure(data_due, "data that no header announced");
      read_data(flit, slot);
      return;
    case SlotKind::kHeader: read_header(flit, slot); break;
    case SlotKind::kMac:
    case SlotKind::kControl: ensure(slot == 0, "a MAC or control outside the header slot"); break;
    case SlotKind::kEmpty: break;
  }
  ensure(!data_due, "data under way must come before anything else");
}

void FlitReader::read_header(const Flit& flit, std::size_t slot) {
  const auto formats = slot_formats(mode_, type_of(mode_, slot));
  ensure(flit.slot[slot].format < formats.size(), "an unknown slot format");
  const SlotFormat& format = formats[flit.slot[slot].format];
  ensure(next_message_ < flit.message_count && flit.message[next_message_].slot == slot,
         "a slot of messages without one");
  const unsigned outstanding = data_expected();
  for (const SlotFormat::Part& part : format.parts) {
    const std::size_t first = next_message_;
    for (unsigned i = 0; i < part.most && next_message_ < flit.message_count; ++i) {
      const Flit::Placement& message = flit.message[next_message_];
      if (message.slot != slot || message.channel != part.channel) break;
      ++next_message_;
      Arrival arrival{.channel = message.channel,
                      .number = numbers_[index_of(message.channel)]++,
                      .data = message.data,
                      .header_flit = flits_,
                      .header_slot = static_cast<std::uint8_t>(slot),
                      .end_flit = flits_,
                      .end_slot = static_cast<std::uint8_t>(slot)};
      ensure(is_data_class(message.channel) == (message.data.chunks > 0),
             "data with a message that has none");
      if (message.data.chunks == 0) {
        arrivals_.push_back(arrival);
        continue;
      }
      ensure(mode_ == FlitMode::k68B || type_of(mode_, slot) == SlotType::kGeneric || outstanding <= 16,
             "a data header in a header slot at more than 16 data slots");
      expected_.push_back({arrival, message.data.slots()});
    }
    ensure(mode_ != FlitMode::k68B || !is_data_class(part.channel) || part.most == 1 ||
               next_message_ != first + 1,
           "a slot for several data headers with one");
  }
  ensure(next_message_ == flit.message_count || flit.message[next_message_].slot != slot,
         "messages that their slot's format does not carry, or out of its order");
}

void FlitReader::read_data(const Flit& flit, std::size_t slot) {
  Transfer& transfer = expected_.front();
  const bool trailer = transfer.slots_left == 1 && transfer.message.data.trailer;
  ensure((flit.slot[slot].kind == SlotKind::kTrailer) == trailer,
         "a trailer follows the data, and only once");
  if (--transfer.slots_left > 0) return;
  ensure(next_end_ < flit.end_count && flit.end[next_end_] == slot, "data that end unsaid");
  ++next_end_;
  transfer.message.end_flit = flits_;
  transfer.message.end_slot = static_cast<std::uint8_t>(slot);
  arrivals_.push_back(transfer.message);
  expected_.pop_front();
}

void FlitReader::check_header_counts(const Flit& flit) const {
  Counts counts{};
  for (std::size_t i = 0; i < flit.message_count; ++i) {
    const Channel channel = flit.message[i].channel;
    ensure(++counts[index_of(channel)] <= largest_count(mode_, channel),
           "more messages of a class than 68 B allow");
  }
}

/// Slots 0-3, 4-7, 8-11, 12-14: any two neighbours together, over flits. In halves, slot 7 counts with both
/// sides.
void FlitReader::check_rolling_counts(const Flit& flit) {
  const FlitGeometry& shape = geometry(mode_);
  constexpr std::size_t kGroups = geometry(FlitMode::k256B).groups();
  std::array<Counts, 1 + kGroups> groups{last_group_};
  Counts in_both{};
  for (std::size_t i = 0; i < flit.message_count; ++i) {
    const auto [channel, slot, data] = flit.message[i];
    ++groups[1 + FlitGeometry::group_of(slot)][index_of(channel)];
    if (shape.is_split(slot)) ++in_both[index_of(channel)];
  }
  const std::size_t after_split =
      2 + FlitGeometry::group_of(shape.split_slot);  // it counts in the group behind, too
  for (std::size_t channel = 0; channel < kChannelCount; ++channel) {
    for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
      const unsigned both =
          groups[i][channel] + groups[i + 1][channel] + (i == after_split ? in_both[channel] : 0);
      ensure(both <= largest_count(mode_, static_cast<Channel>(channel)),
             "more messages of a class than a rolling 128 B allow");
    }
  }
  last_group_ = groups.back();
}

void FlitReader::check_data_headers_68b(const Flit& flit) const {
  std::array<unsigned, kMostSlots> in_slot{};
  bool whole_lines = true;
  for (std::size_t i = 0; i < flit.message_count; ++i) {
    if (!is_data_class(flit.message[i].channel)) continue;
    ++in_slot[flit.message[i].slot];
    whole_lines &= flit.message[i].data == DataShape{};
  }
  const auto slots = std::count_if(in_slot.begin(), in_slot.end(), [](unsigned count) { return count > 0; });
  ensure(slots <= 1, "data headers in two slots of a flit");
  const bool several = *std::max_element(in_slot.begin(), in_slot.end()) > 1;
  ensure(!several || whole_lines, "several data headers in a slot, not all of whole lines");
}

}  // namespace cxloom
