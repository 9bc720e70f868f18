// The parameters of a persist buffer, and the rules that it goes by.
#pragma once

#include <cstdint>
#include <optional>

#include "base/schema.hpp"
#include "base/units.hpp"

namespace cxloom {

/// When the lines of a persist buffer are written to memory.
enum class DrainPolicy : std::uint8_t {
  kDrain,    ///< as soon as they are stored (PB)
  kForward,  ///< once many entries are Dirty: until then reads are answered from them (PB_RF)
};

/// Rules without which a persist buffer loses data or gives old ones: docs/model/persist.md says why. No spec can change them; tests
/// do, to show what they are for.
struct PersistRules {
  bool second_entry = true;         ///< a write to a line in Drain takes an entry of its own
  bool look_in_queue = true;        ///< a read waits behind a write of its line in the input queue
  bool empty_when_answered = true;  ///< an entry is Empty when its drain is answered, and not when it is sent
  bool answers_pass = true;         ///< an answer to a drain needs no turn in the input queue
  bool own_tags = true;             ///< a drain has a tag of the buffer's, and not that of the write
  bool masks = true;                ///< an entry knows which of its bytes were written
  bool same_ways = true;            ///< all ways to a line pass the same buffers
};

struct PersistBufferParams {
  static constexpr std::uint64_t kEntryBytes = 256;  ///< of the machine's memory, about

  std::uint32_t entries = 16;
  Time tag_time{388};
  Time data_time{785};
  DrainPolicy policy = DrainPolicy::kDrain;
  double drain_from = 0.8;
  double drain_to = 0.6;
  std::optional<std::uint32_t> queue;
  PersistRules rules;  ///< not of a spec

  static void describe(Schema<PersistBufferParams>& schema) {
    constexpr const char* kTable = "Hadi et al., arXiv:2503.04991, Table I";
    schema.doc(
        "A durable buffer of a switch, which answers writes to persistent memory and writes them there in "
        "the "
        "background.");
    schema.field("entries", &PersistBufferParams::entries)
        .min(1)
        .max(65'536)
        .doc("Lines that it holds.")
        .source(kTable);
    schema.field("tag_time", &PersistBufferParams::tag_time)
        .doc("Time to look for a line among the entries.")
        .source("Hadi et al., arXiv:2503.04991, Table I: CACTI, 22 nm, 16 entries");
    schema.field("data_time", &PersistBufferParams::data_time)
        .doc("Time to read or write the data of an entry.")
        .source("Hadi et al., arXiv:2503.04991, Table I: CACTI, 22 nm, 16 entries");
    schema
        .choice("policy", &PersistBufferParams::policy,
                {{"drain", DrainPolicy::kDrain}, {"forward", DrainPolicy::kForward}})
        .doc(
            "When lines are written to memory. drain: as soon as they are stored. forward: when more than "
            "`drain_from` of the entries are Dirty, until `drain_to` are; reads are answered from those that "
            "stay, and writes overwrite them.")
        .source("Hadi et al.: PB and PB_RF");
    schema.field("drain_from", &PersistBufferParams::drain_from)
        .fraction()
        .doc("Share of the entries, rounded down: when more are Dirty, the least recently used ones drain.")
        .source("Hadi et al., IV: 80 %; the rounding is ours");
    schema.field("drain_to", &PersistBufferParams::drain_to)
        .fraction()
        .doc("Share of the entries, rounded down, that stay Dirty then.")
        .source("Hadi et al., IV: 60 %; the rounding is ours");
    schema.field("queue", &PersistBufferParams::queue)
        .min(1)
        .default_text("unlimited")
        .doc(
            "Messages that wait for its controller at the same time; more wait in the receive buffers of "
            "their "
            "ports and hold their credits.");
    for (const char* const key : {"drain_from", "drain_to"}) {
      schema.effective(
          key, [](const PersistBufferParams& params) { return params.policy == DrainPolicy::kForward; },
          "unless lines stay in the buffer: set policy: forward");
    }
    schema.rule(
        "draining ends below where it begins: drain_to must be less than drain_from",
        [](const PersistBufferParams& params) {
          return params.policy == DrainPolicy::kDrain || params.drain_to < params.drain_from;
        },
        "drain_to");
  }

  /// A share of the entries, rounded down; what is no more than a rounding below the next number is that.
  std::uint32_t share(double fraction) const {
    return static_cast<std::uint32_t>(fraction * static_cast<double>(entries) + 1e-9);
  }
};

}  // namespace cxloom
