#include "device/switch/persist_params.hpp"

#include "base/schema.hpp"

namespace cxloom {

void PersistBufferParams::describe(Schema<PersistBufferParams>& schema) {
  constexpr const char* kTable = "Hadi et al., arXiv:2503.04991, Table I";
  schema.doc(
      "A durable buffer of a switch, which answers writes to persistent memory and writes them there in the "
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
      .doc(
          "Share of the entries, rounded down: when more are Dirty, the least recently used ones drain. Only "
          "with `policy`: forward.")
      .source("Hadi et al., IV: 80 %; the rounding is ours");
  schema.field("drain_to", &PersistBufferParams::drain_to)
      .fraction()
      .doc("Share of the entries, rounded down, that stay Dirty then. Only with `policy`: forward.")
      .source("Hadi et al., IV: 60 %; the rounding is ours");
  schema.field("queue", &PersistBufferParams::queue)
      .min(1)
      .default_text("unlimited")
      .doc(
          "Messages that wait for its controller at the same time; more wait in the receive buffers of their "
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

}  // namespace cxloom
