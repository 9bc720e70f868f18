// Keeps the messages of the protocol as devices act on them, from the beginning of the run to its end, in
// rows that leave memory as they come.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "base/columns.hpp"
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

  std::vector<std::int64_t> time_ps;
  std::vector<std::int64_t> sent_ps;  ///< kNever: before the log began
  std::vector<std::uint32_t> from;    ///< node, as in the next two
  std::vector<std::uint32_t> to;
  std::vector<std::uint32_t> requester;
  std::vector<std::uint8_t> opcode;  ///< Opcode
  std::vector<std::uint64_t> address;
  std::vector<std::uint8_t> lines;
  std::vector<std::uint16_t> payload;
  std::vector<std::uint8_t> ld;    ///< kNone: it is about no memory of logical devices
  std::vector<std::uint8_t> snp;   ///< SnpType; kNone: not of a request to coherent memory
  std::vector<std::uint8_t> meta;  ///< MetaValue; kNone likewise
  std::vector<std::uint8_t> failed;
  std::vector<std::uint8_t> part;     ///< RunPart
  std::vector<std::uint32_t> before;  ///< index of `states`
  std::vector<std::uint32_t> after;   ///< likewise
  std::vector<std::string> states;    ///< the first one is empty: it keeps nothing of lines
};

inline constexpr std::tuple kProtocolColumns{
    column<&ProtocolTable::time_ps>("time_ps", "ps", "when the device began to act on the message"),
    column<&ProtocolTable::sent_ps>("sent_ps", "ps", "when it was sent; null: before the log began"),
    column<&ProtocolTable::from>("source", "", "device that sent it"),
    column<&ProtocolTable::to>("destination", "", "device that acts on it"),
    column<&ProtocolTable::requester>("requester", "",
                                      "device for whose request it is, or for whose line that leaves"),
    column<&ProtocolTable::opcode>("opcode", "", "what it says"),
    column<&ProtocolTable::address>("address", "", "first byte that it is about; null of CXL.io"),
    column<&ProtocolTable::lines>("lines", "", "lines that it is about; 0 of CXL.io"),
    column<&ProtocolTable::payload>("payload", "B", "bytes of data that it carries"),
    column<&ProtocolTable::ld>("ld", "", "LD-ID, of a message about a memory of logical devices"),
    column<&ProtocolTable::snp>("snp", "", "SnpType, of a request to coherent memory"),
    column<&ProtocolTable::meta>("meta", "", "MetaValue, of a request to coherent memory"),
    column<&ProtocolTable::failed>("failed", "", "whether it is an answer with an error"),
    column<&ProtocolTable::part>("part", "", "part of the run in which it was acted on"),
    column<&ProtocolTable::before>("before", "", "what the agent knew of its lines before"),
    column<&ProtocolTable::after>("after", "", "what the agent knew of its lines when it had acted"),
};

/// The columns that the writer of the rows adds behind `requester`.
inline constexpr std::array kProtocolIdentities{
    MeasureInfo{"spid", "", "PBR identity of the source; null: it has none"},
    MeasureInfo{"dpid", "", "PBR identity of the destination; null: it has none"},
};

class ProtocolRecorder final : public ProtocolObserver {
 public:
  /// Records all messages; or only messages about these `lines`, if there are any. `divided`: the memories of
  /// logical devices. The map outlives it.
  ProtocolRecorder(const AddressMap& map, std::vector<LineAddress> lines, std::vector<NodeId> divided = {});

  void sent(const Message& message, Time at) override;
  void handling(const Message& message, NodeId node, Time now, const std::string& state) override;
  void handled(const std::string& state) override;

  void open_window() { part_ = RunPart::kWindow; }
  void close_window() { part_ = RunPart::kDrain; }

  /// Messages since the last call, in the order in which devices began to act on them; to be called between
  /// events.
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
