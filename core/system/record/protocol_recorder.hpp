// Keeps the messages of the protocol as devices act on them, from the beginning of the run to its end, in rows that leave
// memory as they come.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/units.hpp"
#include "protocol/address_map.hpp"
#include "protocol/message.hpp"
#include "protocol/protocol_observer.hpp"
#include "system/record/run_part.hpp"

namespace cxloom {

/// Columns of the messages since they were last taken. All have the same length; `states` aside.
struct ProtocolTable {
  static constexpr std::int64_t kNever = -1;
  static constexpr std::uint8_t kNone = 0xffU;

  std::vector<std::int64_t> time_ps;     ///< when the device began to act on it
  std::vector<std::int64_t> sent_ps;     ///< when it was sent; kNever: before the log began
  std::vector<std::uint32_t> from;       ///< node that sent it
  std::vector<std::uint32_t> to;         ///< node that acts on it
  std::vector<std::uint32_t> requester;  ///< node for whose request it is, or for whose line that leaves
  std::vector<std::uint8_t> opcode;      ///< Opcode
  std::vector<std::uint64_t> address;    ///< first byte; of CXL.io none
  std::vector<std::uint8_t> lines;       ///< that it is about; 0: it is of CXL.io, and has no address
  std::vector<std::uint16_t> payload;    ///< bytes of data that it carries
  std::vector<std::uint8_t> snp;         ///< SnpType; kNone: not of a request to coherent memory
  std::vector<std::uint8_t> meta;        ///< MetaValue; kNone likewise
  std::vector<std::uint8_t> ld;          ///< LD-ID; kNone: it is about no memory of logical devices
  std::vector<std::uint8_t> failed;      ///< 1: an answer with an error
  std::vector<std::uint8_t> part;        ///< RunPart
  std::vector<std::uint32_t> before;     ///< what the agent knew of its lines before, as an index of `states`
  std::vector<std::uint32_t> after;      ///< the same when it had acted
  std::vector<std::string> states;       ///< the first one is empty: it keeps nothing of lines
};

class ProtocolRecorder final : public ProtocolObserver {
 public:
  /// Of all messages; or only of those about one of these lines, if there are any. `divided`: the memories of logical devices. The
  /// map outlives it.
  ProtocolRecorder(const AddressMap& map, std::vector<LineAddress> lines, std::vector<NodeId> divided = {});

  void sent(const Message& message, Time at) override;
  void handling(const Message& message, NodeId node, Time now, const std::string& state) override;
  void handled(const std::string& state) override;

  void open_window() { part_ = RunPart::kWindow; }
  void close_window() { part_ = RunPart::kDrain; }

  /// Messages since the last call, in the order in which devices began to act on them; to be called between events.
  ProtocolTable take();

 private:
  /// A message on which a device acts at this instant.
  struct Open {
    std::optional<std::size_t> row;  // none: it is not recorded, or its row is complete
    NodeId node;
    LineAddress line;
  };

  bool wanted(const Message& message) const;
  bool asks_home(const Message& message) const;
  bool names_ld(const Message& message) const;
  std::uint32_t number_of(const std::string& state);
  void complete(Open& open, const std::string& state);

  const AddressMap& map_;
  std::vector<LineAddress> lines_;  // in order; none: all
  std::vector<NodeId> divided_;     // the memories of logical devices
  std::unordered_map<const Message*, Time> on_the_way_;
  std::vector<Open> open_;
  RunPart part_ = RunPart::kWarmup;
  ProtocolTable table_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of the table's states
};

}  // namespace cxloom
