#include "memory/dram/controller/params.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "memory/dram/controller/channel.hpp"
#include "memory/dram/device/standard.hpp"

namespace cxloom {

namespace {

/// What a value must be there for: others would be taken without a word, and change nothing. Where refresh is off, as it may be
/// for a comparison, or of a plug-in, values of either scope are left alone.
enum class Use : std::uint8_t { kAlways, kAllBank, kSameBank, kRanks, kPowerDown, kStack };

bool in_use(Use use, const DramConfig& config) {
  switch (use) {
    case Use::kAlways: return true;
    case Use::kAllBank: return config.refresh_scope != DramRefreshScope::kSet;
    case Use::kSameBank: return config.refresh_scope != DramRefreshScope::kRank;
    case Use::kRanks: return config.device.organisation.ranks > 1;
    case Use::kPowerDown: return config.power_down.has_value();
    case Use::kStack: return config.device.organisation.stack > 1;
  }
  return true;
}

std::string_view needs(Use use) {
  constexpr std::string_view kNeeds[] = {"",
                                         "refresh: all-bank",
                                         "refresh: same-bank",
                                         "ranks: 2 or more",
                                         "a time for power_down",
                                         "stack: 2 or more"};
  return kNeeds[static_cast<std::size_t>(use)];
}

/// Refuses a value that somebody wrote and nothing will read; `key` is where, `allowed` what it needs.
[[noreturn]] void refuse_unused(const std::string& key, std::string_view allowed) {
  const std::string name = key.substr(key.rfind('.') + 1);
  throw InputError({"'" + name + "' has no effect",
                    {},
                    "no such key, or " + std::string(allowed),
                    {},
                    InputError::Kind::kNoEffect},
                   key);
}

struct TimingRow {
  std::string_view name;
  DramTimingParams::Override DramTimingParams::* given;
  Clock DramTiming::* value;
  std::string_view doc;
  Use use = Use::kAlways;
};

using P = DramTimingParams;
using T = DramTiming;
constexpr std::array kTimings{
    TimingRow{"CL", &P::CL, &T::CL, "Read command to its first data."},
    TimingRow{"CWL", &P::CWL, &T::CWL, "Write command to its first data."},
    TimingRow{"tRCD", &P::tRCD, &T::tRCD, "Activate to read."},
    TimingRow{"tRCD_WR", &P::tRCD_WR, &T::tRCD_WR, "Activate to write."},
    TimingRow{"tRP", &P::tRP, &T::tRP, "Precharge to activate."},
    TimingRow{"tRAS", &P::tRAS, &T::tRAS, "Activate to precharge."},
    TimingRow{"tRTP", &P::tRTP, &T::tRTP, "Read to precharge."},
    TimingRow{"tWR", &P::tWR, &T::tWR, "End of write data to precharge."},
    TimingRow{"tCCD_S", &P::tCCD_S, &T::tCCD_S, "Read to read, or write to write, in different bank groups."},
    TimingRow{"tCCD_L", &P::tCCD_L, &T::tCCD_L, "Read to read in one bank group."},
    TimingRow{
        "tCCD_L_WR", &P::tCCD_L_WR, &T::tCCD_L_WR,
        "Write to write in one bank group if the second needs a read-modify-write for the ECC of the device: "
        "one that does not fill its burst, and any write to devices of 4 bits with bursts of 16 (DDR5)."},
    TimingRow{"tCCD_L_WR2", &P::tCCD_L_WR2, &T::tCCD_L_WR2,
              "Write to write in one bank group if the second needs no read-modify-write."},
    TimingRow{"tRTW", &P::tRTW, &T::tRTW, "Read to write in one rank."},
    TimingRow{"tWTR_S", &P::tWTR_S, &T::tWTR_S,
              "End of write data to read in another bank group of the rank."},
    TimingRow{"tWTR_L", &P::tWTR_L, &T::tWTR_L, "End of write data to read in the same bank group."},
    TimingRow{"tRRD_S", &P::tRRD_S, &T::tRRD_S, "Activate to activate in different bank groups."},
    TimingRow{"tRRD_L", &P::tRRD_L, &T::tRRD_L, "Activate to activate in one bank group."},
    TimingRow{"tFAW", &P::tFAW, &T::tFAW, "Window that holds no more than four activates of a rank."},
    TimingRow{"tPPD", &P::tPPD, &T::tPPD, "Precharge to precharge of a rank."},
    TimingRow{"tCS", &P::tCS, &T::tCS, "Idle clocks of the data bus between bursts of different ranks.",
              Use::kRanks},
    TimingRow{"tRFC", &P::tRFC, &T::tRFC, "All-bank refresh to the next activate of the rank.",
              Use::kAllBank},
    TimingRow{"tREFI", &P::tREFI, &T::tREFI, "Between all-bank refreshes, on average.", Use::kAllBank},
    TimingRow{
        "tRFC_SB", &P::tRFC_SB, &T::tRFC_SB,
        "Same-bank refresh (LPDDR5, HBM: per-bank) to the next activate of the banks that it refreshes.",
        Use::kSameBank},
    TimingRow{"tREFI_SB", &P::tREFI_SB, &T::tREFI_SB, "Between same-bank refreshes of a rank, on average.",
              Use::kSameBank},
    TimingRow{"tREFSB_ACT", &P::tREFSB_ACT, &T::tREFSB_ACT, "Same-bank refresh to activate in other banks.",
              Use::kSameBank},
    TimingRow{"tXP", &P::tXP, &T::tXP, "Exit of power-down to any command.", Use::kPowerDown},
    TimingRow{"tPD", &P::tPD, &T::tPD, "Shortest stay in power-down.", Use::kPowerDown},
    TimingRow{"tCCD_DLR", &P::tCCD_DLR, &T::tCCD_DLR,
              "Read to read, or write to write, in different dies of a stack.", Use::kStack},
    TimingRow{"tRRD_DLR", &P::tRRD_DLR, &T::tRRD_DLR, "Activate to activate in different dies of a stack.",
              Use::kStack},
    TimingRow{"tFAW_DLR", &P::tFAW_DLR, &T::tFAW_DLR,
              "Window that holds no more than four activates of a stack.", Use::kStack},
    TimingRow{"tRFC_DLR", &P::tRFC_DLR, &T::tRFC_DLR, "All-bank refresh to that of another die of the stack.",
              Use::kStack},
    TimingRow{"tRFC_SB_DLR", &P::tRFC_SB_DLR, &T::tRFC_SB_DLR,
              "Same-bank refresh to that of another die of the stack.", Use::kStack},
};

struct CurrentRow {
  std::string_view name;
  DramCurrentParams::Override DramCurrentParams::* given;
  double DramCurrents::* value;
  std::string_view doc;
  Use use = Use::kAlways;
};

using Q = DramCurrentParams;
using I = DramCurrents;
constexpr std::array kCurrents{
    CurrentRow{"VDD", &Q::VDD, &I::VDD,
               "Supply voltage, in volts. The currents need one, theirs or that of the `preset`."},
    CurrentRow{"IDD0", &Q::IDD0, &I::IDD0,
               "Activating and precharging one bank, a row each tRAS + tRP, in mA."},
    CurrentRow{"IDD2N", &Q::IDD2N, &I::IDD2N, "Standby with all banks precharged, in mA."},
    CurrentRow{"IDD2P", &Q::IDD2P, &I::IDD2P,
               "Power-down with all banks precharged, in mA. Only with `power_down`.", Use::kPowerDown},
    CurrentRow{"IDD3N", &Q::IDD3N, &I::IDD3N, "Standby with a row open, in mA."},
    CurrentRow{"IDD3P", &Q::IDD3P, &I::IDD3P, "Power-down with a row open, in mA. Only with `power_down`.",
               Use::kPowerDown},
    CurrentRow{"IDD4R", &Q::IDD4R, &I::IDD4R, "Reading without a pause, in mA."},
    CurrentRow{"IDD4W", &Q::IDD4W, &I::IDD4W, "Writing without a pause, in mA."},
    CurrentRow{"IDD5B", &Q::IDD5B, &I::IDD5B,
               "All-bank refreshes without a pause, in mA. Only with `refresh`: all-bank.", Use::kAllBank},
    CurrentRow{"IDD5SB", &Q::IDD5SB, &I::IDD5SB,
               "Same-bank refreshes without a pause, in mA. Only with `refresh`: same-bank.", Use::kSameBank},
};

const DramDevice& preset_named(const std::string& name) {
  std::vector<std::string> names;
  for (const DramDevice& device : dram_presets()) {
    if (device.name == name) return device;
    names.emplace_back(device.name);
  }
  throw InputError({"unknown DRAM preset '" + name + "'", {}, list_names(names), nearest_name(name, names)},
                   "preset");
}

void check(const DramConfig& config) {
  const DramTiming& t = config.device.timing;
  const Clock burst = config.device.organisation.burst_clocks;
  const auto text = [](std::string_view name, Clock value) {
    return std::string(name) + " = " + std::to_string(value);
  };
  const auto refuse = [](const std::string& problem, const std::string& found, const std::string& allowed) {
    throw InputError({problem, found, allowed, {}}, "timing");
  };
  const auto at_least = [&](std::string_view a, Clock left, std::string_view b, Clock right) {
    if (left < right) {
      refuse("timings contradict each other: " + std::string(a) + " is less than " + std::string(b),
             text(a, left) + ", " + text(b, right), std::string(a) + " at least " + std::to_string(right));
    }
  };
  at_least("tCCD_S", t.tCCD_S, "the clocks of a burst", burst);
  at_least("tCCD_L", t.tCCD_L, "tCCD_S", t.tCCD_S);
  at_least("tCCD_L_WR2", t.tCCD_L_WR2, "tCCD_S", t.tCCD_S);
  at_least("tCCD_L_WR", t.tCCD_L_WR, "tCCD_L_WR2", t.tCCD_L_WR2);
  at_least("tRRD_L", t.tRRD_L, "tRRD_S", t.tRRD_S);
  at_least("tFAW", t.tFAW, "tRRD_S", t.tRRD_S);
  at_least("tWTR_L", t.tWTR_L, "tWTR_S", t.tWTR_S);
  const Clock stack = config.device.organisation.stack;
  if (stack > 1) at_least("tCCD_DLR", t.tCCD_DLR, "tCCD_S", t.tCCD_S);
  at_least("tRAS", t.tRAS, "tRCD", t.tRCD);
  at_least("CL + the clocks of a burst", t.CL + burst, "CWL", t.CWL);
  at_least("CWL + tRTW", t.CWL + t.tRTW, "CL + the clocks of a burst", t.CL + burst);
  if (config.refresh_scope == DramRefreshScope::kRank) {
    at_least("tREFI", t.tREFI, "tRFC + tRP + tRAS + 1", t.tRFC + t.tRP + t.tRAS + 1);
    at_least("tREFI", t.tREFI, "tRFC_DLR for each die of a stack", stack * t.tRFC_DLR);
  }
  if (config.refresh_scope == DramRefreshScope::kSet &&
      config.device.refreshes(DramRefreshScope::kSet)) {  // otherwise its policy refuses
    at_least("tREFI_SB", t.tREFI_SB, "tRFC_SB + 1", t.tRFC_SB + 1);
    at_least("tREFI_SB", t.tREFI_SB, "tRFC_SB_DLR for each die of a stack", stack * t.tRFC_SB_DLR);
  }
}

// What the kinds take that come with cxloom: of others their policies know.
std::optional<DramRefreshScope> scope_of(const std::string& refresh, const DramDevice& device) {
  if (refresh == "usual") return device.usual_refresh;
  if (refresh == "all-bank") return DramRefreshScope::kRank;
  if (refresh == "same-bank") return DramRefreshScope::kSet;
  return std::nullopt;
}

// As many ranks as are written; otherwise as many as the capacity of the memory needs.
void set_ranks(DramConfig& config, const DramParams& params, std::optional<Bytes> capacity) {
  constexpr std::uint32_t kMostRanks = 8;
  DramOrganisation& organisation = config.device.organisation;
  organisation.ranks = organisation.stack;
  const Bytes rank{config.capacity()};  // of all channels
  std::uint32_t ranks = params.ranks.value_or(1);
  if (capacity && !params.ranks && config.device.standard != DramStandard::kNone) {
    while (ranks < kMostRanks && *capacity > rank * ranks) ranks *= 2;
  }
  organisation.ranks *= ranks;
  if (!capacity || capacity->count() <= config.capacity()) return;
  const std::string modules = std::to_string(params.channels) + " x " + std::string(config.device.name);
  throw InputError({"the memory is larger than its DRAM",
                    to_text(*capacity),
                    "at most " + to_text(Bytes{config.capacity()}) + " with " + modules +
                        " and ranks: " + std::to_string(ranks) + ", each " + to_text(rank) +
                        " (more channels or ranks, or denser or stacked devices hold more)",
                    {}});
}

void check_use(const DramParams& params, const DramConfig& config) {
  for (const TimingRow& row : kTimings) {
    if (params.timing.*row.given && !in_use(row.use, config))
      refuse_unused("timing." + std::string(row.name), needs(row.use));
  }
  for (const CurrentRow& row : kCurrents) {
    if (!(params.currents.*row.given)) continue;
    const std::string key = "currents." + std::string(row.name);
    if (!in_use(row.use, config)) refuse_unused(key, needs(row.use));
    if (config.device.currents.VDD == 0) refuse_unused(key, "currents.VDD, which the preset lacks");
  }
}

}  // namespace

void DramTimingParams::describe(Schema<DramTimingParams>& schema) {
  schema.doc(
      "Timings that differ from the preset's, in whole clocks of the command clock (a data sheet's time / "
      "tCK, "
      "rounded up).");
  schema.field("tCK", &DramTimingParams::tCK)
      .min(Time{100})
      .default_text("that of the preset")
      .doc("Cycle of the command clock.");
  for (const TimingRow& row : kTimings) {
    schema.field(row.name, row.given).max(10'000'000).default_text("that of the preset").doc(row.doc);
  }
}

void DramCurrentParams::describe(Schema<DramCurrentParams>& schema) {
  schema.doc("Supply voltage and currents of one device that differ from the preset's.");
  for (const CurrentRow& row : kCurrents) {
    schema.field(row.name, row.given).min(0.0).max(100'000.0).default_text("that of the preset").doc(row.doc);
  }
}

void DramParams::describe(Schema<DramParams>& schema) {
  schema.doc(
      "DRAM and its controller: banks, rows, refresh and the constraints between commands, and a "
      "scheduler.");
  std::vector<std::string> names;
  for (const DramDevice& device : dram_presets()) names.emplace_back(device.name);
  schema.field("preset", &DramParams::preset)
      .required()
      .doc("Organisation, timing and currents: " + list_names(names) +
           ". docs/model/dram.md has the sources.");
  schema.field("channels", &DramParams::channels)
      .min(1)
      .max(64)
      .doc(
          "Channels side by side, any number. One of DDR5 has two sub-channels, one of HBM two pseudo "
          "channels.");
  schema.field("ranks", &DramParams::ranks)
      .min(1)
      .max(8)
      .where([](const std::uint32_t& n) { return std::has_single_bit(n); }, "a power of two")
      .default_text("as many as the memory's capacity needs, or 1")
      .doc("Ranks that share a channel.");
  schema.choice("device_width", &DramParams::device_width, {{"x4", 4}, {"x8", 8}, {"x16", 16}})
      .default_text("that of the preset")
      .doc(
          "Data pins of a device: how many devices a rank has, their bank groups, and the size of a page "
          "with its "
          "tRRD and tFAW.")
      .source("JESD79-4, JESD79-5");
  schema
      .choice("density", &DramParams::density,
              {{"8Gb", 8}, {"12Gb", 12}, {"16Gb", 16}, {"24Gb", 24}, {"32Gb", 32}})
      .default_text("that of the preset")
      .doc(
          "Size of a die: its rows, the banks of a DDR5 group, and how long a refresh takes. One that "
          "devices of the `preset` have.")
      .source("JESD79-4, JESD79-5, JESD209-5B");
  schema.field("stack", &DramParams::stack)
      .min(1)
      .max(8)
      .where([](const std::uint32_t& n) { return std::has_single_bit(n); }, "a power of two")
      .doc("Dies of a device (3DS): each is a rank by itself, and they share the pins.");
  schema.field("ecc_width", &DramParams::ecc_width)
      .doc(
          "ECC bits of a sub-channel beside its data (8 of a 72-bit or 80-bit module): more devices that "
          "take energy "
          "for the same bytes.");
  schema.field("burst_length", &DramParams::burst_length)
      .min(16)
      .max(32)
      .default_text("that of the preset")
      .doc(
          "Of a preset of LPDDR5 alone: beats of a read or write. 16 are 32 bytes, so that a line takes two "
          "commands; 32 are a "
          "line in one (RD32, "
          "WR32), whose halves have a gap for those of another bank group.")
      .source("JESD209-5, bank-group mode; gem5's configurations of LPDDR5 (BL32)");
  schema.field("mapping", &DramParams::mapping)
      .default_text("rorabacobgch, lines of 64 bytes kept together")
      .doc(
          "Fields of an address from the top: ro (row), ch (channel), ra (rank), ba (bank), bg (bank group), "
          "co "
          "(column), each once, or in parts with a number of bits (co3).");
  schema
      .choice("bank_hash", &DramParams::bank_hash,
              {{"none", BankHash::kNone}, {"xor", BankHash::kXor}, {"fold", BankHash::kFold}})
      .default_text("fold, or none where `mapping` is written")
      .doc(
          "What bank group and bank are XORed with: nothing, the lowest bits of the row, or all of them, so "
          "that "
          "streams "
          "a power of two apart do not meet in one bank.")
      .source("Zhang et al., MICRO-33 (xor); AddrHashBank of AMD's memory controllers (fold)");
  schema
      .choice("channel_hash", &DramParams::channel_hash,
              {{"none", ChannelHash::kNone}, {"fold", ChannelHash::kFold}})
      .doc(
          "What the number of the sub-channel is XORed with: nothing, or the address bits above it, folded, "
          "so that strides of a "
          "power of two go to all of them. Of an odd factor of their number the remainder stays as it is.")
      .source(
          "hashed interleave of AMD's sockets, of twelve channels too (Linux, drivers/ras/amd/atl: address "
          "bits from 64 KiB, 2 "
          "MiB and 1 GiB on); the bits are our own choice");
  schema.field("row_policy", &DramParams::row_policy)
      .category("row_policies")
      .doc("When a row is closed that no other has to make room for.");
  schema.field("scheduler", &DramParams::scheduler)
      .category("schedulers")
      .doc("Which of the queued accesses goes first.");
  schema.field("read_queue", &DramParams::read_queue)
      .min(1)
      .max(4096)
      .doc(
          "Reads that a sub-channel chooses from, in bursts; more wait outside, those of a requester in "
          "order.");
  schema.field("write_queue", &DramParams::write_queue)
      .min(1)
      .max(4096)
      .doc("Writes that a sub-channel holds, in bursts; more wait outside, those of a requester in order.");
  schema.field("write_high", &DramParams::write_high)
      .fraction()
      .doc("Share of the write queue at which writes go first; more than `write_low`.");
  schema.field("write_low", &DramParams::write_low)
      .fraction()
      .doc("Share of the write queue at which reads go first again.");
  schema.field("turn", &DramParams::turn)
      .min(1)
      .max(1'000'000)
      .default_text("that of the preset: 128 lines of 64 bytes")
      .doc(
          "Bursts that a sub-channel reads, or writes, before it turns to the other direction, while a "
          "requester waits that has "
          "accesses in the other direction alone.")
      .source(
          "own choice: two queues of 64, so that a drain is not cut short; the uMCTL2 controller lets a "
          "queue "
          "starve for 64 bursts of DDR4 (w_max_starve: 127 of its clocks at half the DRAM's rate, AMD "
          "UG1087)");
  schema.field("lull", &DramParams::lull)
      .min(1)
      .max(100'000'000)
      .default_text("that of the preset: 768 lines of 64 bytes")
      .doc(
          "The same while those that wait have accesses in both directions, counted from the last access "
          "that came to the other one: as long as more come, one turn serves them all.")
      .source(
          "own choice: six turns, with which a requester by itself keeps 99 % of its bandwidth at any mix up "
          "to 98 % writes");
  schema.field("longest_turn", &DramParams::longest_turn)
      .min(1)
      .max(100'000'000)
      .default_text("that of the preset: 2048 lines of 64 bytes")
      .doc("The same in any case, though more come to the other direction: turns then cost little bandwidth.")
      .source("own choice: what a turn of the bus costs is then 1 % of a turn");
  schema.field("posted_writes", &DramParams::posted_writes)
      .doc(
          "Whether a write is done when it is in the write queue, and not only when its data are in the "
          "device.");
  schema.field("refresh", &DramParams::refresh)
      .category("refresh_policies")
      .doc("What is refreshed together, and when.");
  schema.field("refresh_postpone", &DramParams::refresh_postpone)
      .max(8)
      .doc("Refreshes that may be put off while accesses to their rank wait.")
      .source("JESD79-4: 8; JESD79-5: 4");
  schema.field("power_down", &DramParams::power_down)
      .default_text("never")
      .doc("A rank without work for this long goes into power-down.");
  schema
      .choice("two_cycle_commands", &DramParams::two_cycle_commands,
              {{"usual", TwoCycleCommands::kUsual},
               {"none", TwoCycleCommands::kNone},
               {"activate", TwoCycleCommands::kActivate},
               {"split-activate", TwoCycleCommands::kSplitActivate},
               {"all", TwoCycleCommands::kAll}})
      .doc(
          "Commands that take two clocks of the command bus: activates (activate; split-activate: other "
          "commands may go "
          "between their halves), or with them reads and writes (all). Usual is all for DDR5, split-activate "
          "for LPDDR5, "
          "activate for HBM, none for DDR4.");
  schema.field("timing", &DramParams::timing).doc("Timings that differ from the preset's.");
  schema.field("currents", &DramParams::currents).doc("Currents that differ from the preset's.");
  schema.rule("write_low must be below write_high",
              [](const DramParams& params) { return params.write_low < params.write_high; });
  schema.rule(
      "burst_length is 16 or 32",
      [](const DramParams& params) { return params.burst_length.value_or(16) % 16 == 0; }, "burst_length");
  const auto in_order = [](const auto& few, const auto& many) { return !few || !many || *few <= *many; };
  schema.rule(
      "lull is at least turn", [=](const DramParams& params) { return in_order(params.turn, params.lull); },
      "lull");
  schema.rule(
      "longest_turn is at least turn, and lull",
      [=](const DramParams& params) {
        return in_order(params.turn, params.longest_turn) && in_order(params.lull, params.longest_turn);
      },
      "longest_turn");
}

void DramParams::estimate(const DramParams& params, MemoryEstimate& memory) {
  constexpr std::uint64_t kSubChannels = 2;  // of a channel, at most
  const std::uint64_t slots = std::uint64_t{params.read_queue} + params.write_queue;
  memory.add("channels", std::to_string(params.channels), params.channels * kSubChannels,
             sizeof(DramChannel) + slots * sizeof(DramQueue::Entry));
}

void DramParams::check(const DramParams& params) { static_cast<void>(resolve(params, {})); }

DramConfig resolve(const DramParams& params, std::optional<Bytes> capacity) {
  DramConfig config;
  config.device = preset_named(params.preset);
  DramDevice& device = config.device;
  choose_devices(device, {params.device_width, params.density, params.stack, params.ecc_width});
  if (params.burst_length) choose_burst(device, *params.burst_length);
  if (params.timing.tCK)
    device.clock = Rate::per_time(1, static_cast<std::uint64_t>(params.timing.tCK->ps()));
  for (const TimingRow& row : kTimings) {
    if (const auto& given = params.timing.*row.given) device.timing.*row.value = *given;
  }
  for (const CurrentRow& row : kCurrents) {
    if (const auto& given = params.currents.*row.given) device.currents.*row.value = *given;
  }
  if (params.two_cycle_commands != TwoCycleCommands::kUsual)
    device.two_cycle_commands = params.two_cycle_commands;

  const DramClock clock(device.clock);
  config.sub_channels = params.channels * device.organisation.sub_channels;
  set_ranks(config, params, capacity);
  config.mapping = params.mapping.value_or(DramMapping::usual(device.organisation));
  // Who writes a mapping says where each bit goes.
  config.channel_hash = params.channel_hash;
  if (params.channel_hash != ChannelHash::kNone && config.sub_channels % 2 != 0)
    refuse_unused("channel_hash", "an even number of channels");
  config.hash = params.bank_hash.value_or(params.mapping ? BankHash::kNone : BankHash::kFold);
  config.row_policy = params.row_policy;
  config.scheduler = params.scheduler;
  config.read_queue = params.read_queue;
  config.write_queue = params.write_queue;
  const auto share = [&](double fraction) {
    return static_cast<std::uint32_t>(std::floor(fraction * static_cast<double>(params.write_queue)));
  };
  config.write_high = std::max(share(params.write_high), 1U);
  config.write_low = std::min(share(params.write_low), config.write_high - 1);
  const std::uint32_t bursts_in_line = device.organisation.bursts_in_line();
  config.turn = params.turn.value_or(std::min(
      {device.turn_lines * bursts_in_line, params.lull.value_or(~0U), params.longest_turn.value_or(~0U)}));
  const std::uint32_t lull = std::max(device.lull_lines * bursts_in_line, config.turn);
  config.lull = params.lull.value_or(std::min(lull, params.longest_turn.value_or(~0U)));
  config.longest_turn =
      params.longest_turn.value_or(std::max(device.longest_turn_lines * bursts_in_line, config.lull));
  config.posted_writes = params.posted_writes;
  config.refresh = params.refresh;
  config.refresh_scope = scope_of(params.refresh.kind, device);
  config.refresh_postpone = params.refresh_postpone;
  if (params.power_down) config.power_down = clock.edge_at(*params.power_down);

  check(config);
  check_use(params, config);
  [[maybe_unused]] const DramMapping fits(config.mapping, device.organisation, config.sub_channels,
                                          config.hash, config.channel_hash);
  return config;
}

}  // namespace cxloom
