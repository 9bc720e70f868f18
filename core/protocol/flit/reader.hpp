// Reads flits slot by slot, as the receiving end does, and gives back the messages with their data. It shares
// with the packers only the tables of formats, checks every rule that a sender has to keep, and is what they
// are tested with.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "protocol/flit/flit.hpp"

namespace cxloom {

class FlitReader {
 public:
  /// A message that has come in whole.
  struct Arrival {
    Channel channel = Channel::kIo;
    std::uint64_t number = 0;  ///< which one of its class, from zero
    DataShape data{0, false};
    std::uint64_t header_flit = 0;  ///< flits from zero, control flits included
    std::uint8_t header_slot = 0;
    std::uint64_t end_flit = 0;  ///< where its last slot came
    std::uint8_t end_slot = 0;
  };

  explicit FlitReader(FlitMode mode) : mode_(mode) {}

  /// Reads the next flit of the link. Returns the messages that are complete with it, in the order in which
  /// they are. Throws InternalError naming the first rule that the flit breaks.
  std::vector<Arrival> read(const Flit& flit);

  /// Data slots that must still come.
  unsigned data_expected() const;

 private:
  using Counts = std::array<unsigned, kChannelCount>;
  struct Transfer {
    Arrival message;
    unsigned slots_left = 0;
  };

  bool all_data_due() const;
  void read_slot(const Flit& flit, std::size_t slot);
  void read_header(const Flit& flit, std::size_t slot);
  void read_data(const Flit& flit, std::size_t slot);
  void check_header_counts(const Flit& flit) const;
  void check_rolling_counts(const Flit& flit);
  void check_data_headers_68b(const Flit& flit) const;

  FlitMode mode_;
  std::uint64_t flits_ = 0;
  std::size_t next_message_ = 0;  // of this flit
  std::size_t next_end_ = 0;
  Counts numbers_{};
  Counts last_group_{};  // messages in the last group of the flit before
  std::deque<Transfer> expected_;
  std::vector<Arrival> arrivals_;
};

}  // namespace cxloom
