#include "memory/dram/controller/params.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "memory/dram/controller/channel.hpp"
#include "memory/dram/device/standard.hpp"

namespace cxloom {

namespace {

const DramDevice& preset_named(const std::string& name) {
  std::vector<std::string> names;
  for (const DramDevice& device : dram_presets()) {
    if (device.name == name) return device;
    names.emplace_back(device.name);
  }
  throw InputError({"unknown DRAM preset '" + name + "'", {}, list_names(names), nearest_name(name, names)},
                   "preset");
}

// What the kinds take that come with cxloom: of others their policies know.
std::optional<DramRefreshScope> scope_of(const std::string& refresh, const DramDevice& device) {
  if (refresh == "usual") return device.usual_refresh;
  if (refresh == "all-bank") return DramRefreshScope::kRank;
  if (refresh == "same-bank") return DramRefreshScope::kSet;
  return std::nullopt;
}

bool in_order(const std::optional<std::uint32_t>& few, const std::optional<std::uint32_t>& many) {
  return !few || !many || *few <= *many;
}

// As many ranks as are written; otherwise as many as the capacity of the memory needs.
void set_ranks(DramConfig& config, const DramParams& params, std::optional<Bytes> capacity) {
  constexpr std::uint32_t kMostRanks = 8;
  DramOrganisation& organisation = config.device.organisation;
  organisation.ranks = organisation.stack * organisation.pseudo_channels;
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

// The controller gets the data of a read so much later. It sends those of a write as much earlier as the data
// buffers delay them, which is half of it where command and data take the same time: so the turn from reads
// to writes takes twice that half longer.
void delay_reads(DramDevice& device, Time delay) {
  const Clock clocks = DramClock(device.clock).edge_at(delay);
  device.timing.CL += clocks;
  device.timing.tRTW += clocks;
}

}  // namespace

void DramParams::describe(Schema<DramParams>& schema) {
  schema.doc(
      "DRAM and its controller: banks, rows, refresh and the constraints between commands, and a scheduler.");
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
          "channels, one of an MRDIMM two sub-channels of two pseudo channels.");
  schema.field("ranks", &DramParams::ranks)
      .min(1)
      .max(8)
      .where([](const std::uint32_t& n) { return std::has_single_bit(n); }, "a power of two")
      .default_text("as many as the memory's capacity needs, or 1")
      .doc("Ranks that share a channel; of an MRDIMM, in each of its two pseudo channels.");
  schema.choice("device_width", &DramParams::device_width, {{"x4", 4}, {"x8", 8}, {"x12", 12}, {"x16", 16}})
      .default_text("that of the preset")
      .doc(
          "Data pins of a device: how many devices a rank has, their bank groups, and the size of a page "
          "with its tRRD and tFAW.")
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
          "take energy for the same bytes.");
  schema.field("burst_length", &DramParams::burst_length)
      .min(16)
      .max(48)
      .default_text("that of the preset")
      .doc(
          "Of a preset of LPDDR5 or LPDDR6 alone: beats of a read or write. 16 (LPDDR6: 24) are 32 bytes, so "
          "that a line takes two commands; 32 (48) are a line in one (RD32, WR32), whose halves have a gap "
          "for those of another bank group.")
      .source(
          "JESD209-5, bank-group mode; gem5's configurations of LPDDR5 (BL32); JESD209-6 (BL48), as quoted "
          "by Ramulator 2");
  schema.field("buffer_delay", &DramParams::buffer_delay)
      .min(Time{0})
      .max(Time{1'000'000})
      .doc(
          "What the buffers of a module (a registering clock driver, and the data buffers of an MRDIMM) "
          "delay a read, command and data together. Reads then end as much later before writes of their "
          "rank. Those of an MRDIMM are not published.");
  schema.field("mapping", &DramParams::mapping)
      .default_text("rorabacobgch, lines of 64 bytes kept together")
      .doc(
          "Fields of an address from the top: ro (row), ch (channel), ra (rank), ba (bank), bg (bank group), "
          "co (column), each once, or in parts with a number of bits (co3).");
  schema
      .choice("bank_hash", &DramParams::bank_hash,
              {{"none", BankHash::kNone}, {"xor", BankHash::kXor}, {"fold", BankHash::kFold}})
      .default_text("fold, or none where `mapping` is written")
      .doc(
          "What bank group and bank are XORed with: nothing, the lowest bits of the row, or all of them, so "
          "that streams a power of two apart do not meet in one bank.")
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
          "bits from 64 KiB, 2 MiB and 1 GiB on); the bits are our own choice");
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
          "order. An MRDIMM has so many for each pseudo channel.");
  schema.field("write_queue", &DramParams::write_queue)
      .min(1)
      .max(4096)
      .doc(
          "Writes that a sub-channel holds, in bursts; more wait outside, those of a requester in order. An "
          "MRDIMM has so many for each pseudo channel.");
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
          "requester waits that has accesses in the other direction alone.")
      .source(
          "own choice: two queues of 64, so that a drain is not cut short; the uMCTL2 controller lets a "
          "queue starve for 64 bursts of DDR4 (w_max_starve: 127 of its clocks at half the DRAM's rate, AMD "
          "UG1087)");
  schema.field("lull", &DramParams::lull)
      .min(1)
      .max(100'000'000)
      .default_text("that of the preset: 768 lines of 64 bytes")
      .doc(
          "Bursts of a turn while requesters that wait have accesses in both directions, counted from the "
          "last access that came to the other one: as long as more come, one turn serves them all.")
      .source(
          "own choice: six turns, with which a requester by itself keeps 99 % of its bandwidth at any mix up "
          "to 98 % writes");
  schema.field("longest_turn", &DramParams::longest_turn)
      .min(1)
      .max(100'000'000)
      .default_text("that of the preset: 2048 lines of 64 bytes")
      .doc(
          "Bursts of a turn in any case, though more come to the other direction: turns then cost little "
          "bandwidth.")
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
               {"all", TwoCycleCommands::kAll},
               {"every", TwoCycleCommands::kEvery}})
      .doc(
          "Commands that take two clocks of the command bus: activates (activate; split-activate: other "
          "commands may go between their halves), or with them reads and writes (all), or every command and "
          "each half of an activate (every). Usual is all for DDR5, MRDIMM and GDDR7, split-activate for "
          "LPDDR5, every for LPDDR6, activate for HBM, none for DDR3, DDR4 and GDDR6.");
  schema.field("row_hammer", &DramParams::row_hammer)
      .doc("What is done against rows that are opened so often that their neighbours lose data; off.");
  schema.field("timing", &DramParams::timing).doc("Timings that differ from the preset's.");
  schema.field("currents", &DramParams::currents).doc("Currents that differ from the preset's.");
  schema.rule("write_low must be below write_high",
              [](const DramParams& params) { return params.write_low < params.write_high; });
  schema.rule(
      "burst_length is 16, 24, 32 or 48",
      [](const DramParams& params) {
        const std::uint32_t beats = params.burst_length.value_or(16);
        return beats == 16 || beats == 24 || beats == 32 || beats == 48;
      },
      "burst_length");
  schema.rule(
      "lull is at least turn", [](const DramParams& params) { return in_order(params.turn, params.lull); },
      "lull");
  schema.rule(
      "longest_turn is at least turn, and lull",
      [](const DramParams& params) {
        return in_order(params.turn, params.longest_turn) && in_order(params.lull, params.longest_turn);
      },
      "longest_turn");
}

void DramParams::estimate(const DramParams& params, MemoryEstimate& memory) {
  constexpr std::uint64_t kSubChannels = 4;  // of a channel, at most
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
  if (params.row_hammer.prac) count_activates(device);
  override_timing(device, params.timing, params.currents);
  delay_reads(device, params.buffer_delay);
  if (params.two_cycle_commands != TwoCycleCommands::kUsual)
    device.two_cycle_commands = params.two_cycle_commands;

  const DramClock clock(device.clock);
  config.sub_channels = params.channels * device.organisation.sub_channels;
  set_ranks(config, params, capacity);
  config.mapping = params.mapping.value_or(DramMapping::usual(device.organisation));
  // A mapping that is written says where each bit goes.
  config.channel_hash = params.channel_hash;
  if (params.channel_hash != ChannelHash::kNone && config.sub_channels % 2 != 0)
    refuse_unused("channel_hash", "an even number of channels");
  config.hash = params.bank_hash.value_or(params.mapping ? BankHash::kNone : BankHash::kFold);
  config.row_policy = params.row_policy;
  config.scheduler = params.scheduler;
  config.read_queue = params.read_queue * device.organisation.pseudo_channels;
  config.write_queue = params.write_queue * device.organisation.pseudo_channels;
  const auto share = [&](double fraction) {
    return static_cast<std::uint32_t>(std::floor(fraction * static_cast<double>(config.write_queue)));
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
  config.management = management_of(params.row_hammer, device);
  if (params.power_down) config.power_down = clock.edge_at(*params.power_down);

  check_timing(config);
  check_use(params.timing, params.currents, config);
  [[maybe_unused]] const DramMapping fits(config.mapping, device.organisation, config.sub_channels,
                                          config.hash, config.channel_hash);
  return config;
}

}  // namespace cxloom
