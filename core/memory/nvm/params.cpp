#include "memory/nvm/params.hpp"

#include "base/schema.hpp"
#include "base/units.hpp"
#include "memory/nvm/media.hpp"

namespace cxloom {

namespace {

/// A preset, as a person would write it.
const Value::Map& values_of(NvmPreset preset) {
  // The asymmetric memory of gem5's NVMInterface, src/mem/NVMInterface.py: tREAD 100 ns, tWRITE 200 ns by
  // default. The rest is a choice, so that its latencies show undisturbed: lines as blocks, a small buffer,
  // no limits.
  static const Value::Map kNvm100;  // the members' own values

  // Intel Optane DC Persistent Memory, first generation, one DIMM.
  // [I] Izraelevitz et al., "Basic Performance Measurements of the Intel Optane DC Persistent Memory Module",
  //     arXiv:1903.05714 (2019).
  // [Y] Yang et al., "An Empirical Guide to the Behavior and Use of Scalable Persistent Memory", FAST 2020.
  // [W] Wang et al., "Characterizing and Modeling Non-Volatile Memory Systems", MICRO 2020.
  //
  // Latencies are measured at a core ([Y], Fig. 2): random reads take 305 ns, sequential ones 169 ns, ntstore
  // 90 ns; local DRAM random reads 101 ns. A DDR4-2666 row miss is tRP + tRCD + CL + BL/2 = 3 x 14.25 + 3 =
  // 46 ns of these, so that 55 ns are the way to the memory and back, which is not the media's. Derived from
  // that:
  //   read_latency          305 - 55 = 250 ns
  //   buffer_read_latency   sequential reads miss in one line of four: (250 + 3 x) / 4 = 169 - 55: x = 69 ns
  //   buffer_write_latency  90 - 55 = 35 ns
  static const Value::Map kOptane{
      {"read_latency", "250ns"},
      {"buffer_read_latency", "69ns"},
      {"buffer_write_latency", "35ns"},
      // No measurement sees a single write of the media. 500 ns and 16 banks are those of gem5's
      // NVM_2400_1x64 (the same file); they allow 8.2 GB/s, so that the measured limit below is what counts.
      {"write_latency", "500ns"},
      {"banks", 16},
      {"block", "256B"},              // [Y], 2.1: the XPLine
      {"write_buffer", 64},           // [Y], 5.1: 16 KB of XPLines combine writes
      {"hold", 48},                   // a choice: a quarter of the buffer is free to take bursts
      {"read_buffer", 64},            // [W]: a buffer of 16 KB, 256 B per entry, serves reads
      {"read_bandwidth", "6.6GB/s"},  // [I], [Y], Fig. 4: one DIMM, not interleaved
      {"write_bandwidth", "2.3GB/s"},
  };
  return preset == NvmPreset::kOptane ? kOptane : kNvm100;
}

}  // namespace

void NvmMediaParams::describe(Schema<NvmMediaParams>& schema) {
  schema.doc(
      "Non-volatile media: reads and writes of their own latency, a write buffer, blocks larger than a line, "
      "wear.");
  schema
      .choice("preset", &NvmMediaParams::preset,
              {{"nvm-100-200", NvmPreset::kNvm100}, {"optane-dcpmm", NvmPreset::kOptane}})
      .doc(
          "A published device: the values of what is not written here. nvm-100-200: 100 ns to read, 200 ns "
          "to write. optane-dcpmm: one DIMM of Intel Optane DC Persistent Memory.")
      .source(
          "gem5, NVMInterface.py; Izraelevitz et al., arXiv:1903.05714; Yang et al., FAST 2020; Wang et al., "
          "MICRO 2020");
  schema.field("read_latency", &NvmMediaParams::read_latency).doc("Time that a bank takes to read a block.");
  schema.field("write_latency", &NvmMediaParams::write_latency)
      .doc("Time that a bank takes to write a block.");
  schema.field("banks", &NvmMediaParams::banks)
      .min(1)
      .max(65536)
      .doc("Banks (partitions), which work at the same time; blocks go round them.");
  schema.field("block", &NvmMediaParams::block)
      .min(Bytes{kLineBytes})
      .max(Bytes{64 * kLineBytes})
      .where(kIsPowerOfTwo, "a power of two")
      .doc("Bytes that the media read and write at once. What a write leaves of its block is read before.");
  schema.field("write_buffer", &NvmMediaParams::write_buffer)
      .max(1U << 20U)
      .doc("Blocks in the write buffer. A write is done once it is there; 0: once it is in the media.");
  schema.field("hold", &NvmMediaParams::hold)
      .doc(
          "Blocks that stay in the write buffer, to be merged with later writes to them; the oldest beyond, "
          "and blocks that are complete, are written to the media.");
  schema.field("read_buffer", &NvmMediaParams::read_buffer)
      .max(1U << 20U)
      .doc("Blocks read last that the media keep, and answer reads of their other lines from.");
  schema.field("buffer_write_latency", &NvmMediaParams::buffer_write_latency)
      .doc("Time to put a write into the write buffer. Only with a `write_buffer`.");
  schema.field("buffer_read_latency", &NvmMediaParams::buffer_read_latency)
      .doc("Time to read from either buffer. Only with a `write_buffer` or a `read_buffer`.");
  schema.field("read_bandwidth", &NvmMediaParams::read_bandwidth)
      .doc("Bytes per second that the media read: blocks start no faster.");
  schema.field("write_bandwidth", &NvmMediaParams::write_bandwidth)
      .doc("Bytes per second that the media write.");
  schema.field("wear_region", &NvmMediaParams::wear_region)
      .where(kIsPowerOfTwo, "a power of two")
      .default_text("a block")
      .doc("Bytes among which wear is levelled; writes are counted by region.");
  schema.field("endurance", &NvmMediaParams::endurance)
      .min(1)
      .default_text("unlimited")
      .doc("Writes after which a line is worn out; it goes on working and is counted.");
  schema.rule("`hold` must leave a block of the write buffer free", [](const NvmMediaParams& params) {
    return params.hold == 0 || params.hold < params.write_buffer;
  });
  schema.effective(
      "buffer_write_latency", [](const NvmMediaParams& params) { return params.write_buffer > 0; },
      "unless writes have a buffer: set write_buffer: 1 or more");
  schema.effective(
      "buffer_read_latency",
      [](const NvmMediaParams& params) { return params.write_buffer > 0 || params.read_buffer > 0; },
      "unless there is a buffer to read from: set write_buffer or read_buffer: 1 or more");
  schema.rule("a wear region must hold at least a block", [](const NvmMediaParams& params) {
    return params.wear_region.value_or(params.block) >= params.block;
  });
}

void NvmMediaParams::estimate(const NvmMediaParams& params, MemoryEstimate& memory) {
  constexpr std::uint64_t kBuffered = 128;  // a block in the write buffer, with its place in a table
  memory.add("banks", std::to_string(params.banks), params.banks, NvmMedia::bytes_of_bank());
  memory.add("write_buffer", std::to_string(params.write_buffer), params.write_buffer, kBuffered);
  memory.add("read_buffer", std::to_string(params.read_buffer), params.read_buffer, RecentBlocks::kBytesEach);
}

void read_value(const Value& value, NvmMediaParams& out) {
  const Value* const chosen = value.find("preset");
  if (!chosen || chosen->is_null()) {
    out = read_params<NvmMediaParams>(value, value);
    return;
  }
  const Value alone = Value::Map{{"preset", *chosen}};
  Value whole(values_of(read_params<NvmMediaParams>(alone, alone).preset));
  for (const auto& [key, item] : *value.as_map()) whole.set(key, item);
  out = read_params<NvmMediaParams>(whole, value);
}

}  // namespace cxloom
