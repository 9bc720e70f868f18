#include "memory/dram/controller/media.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"
#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "component/component.hpp"
#include "component/resource.hpp"
#include "kernel/kernel.hpp"
#include "memory/dram/device/energy.hpp"
#include "protocol/message.hpp"

namespace cxloom {

namespace {

struct DramMeasured : DramCounters {
  Value hit_rate = {};
  double read_rate = 0;
  double write_rate = 0;
  double bus = 0;
  double read_queue_mean = 0;
  std::uint64_t read_queue_max = 0;
  double write_queue_mean = 0;
  std::uint64_t write_queue_max = 0;
  double refresh_share = 0;
  double power_down_share = 0;
  std::optional<std::uint64_t> refresh_managements;
  std::optional<std::uint64_t> row_alerts;
  std::optional<double> energy;
  std::optional<double> background;
  std::optional<double> activate;
  std::optional<double> read;
  std::optional<double> write;
  std::optional<double> refresh;
  std::optional<double> power;
};

constexpr std::array kDramMeasures{
    measure<DramMeasured, &DramMeasured::hits>("row_hits", "", "bursts that found their row open"),
    measure<DramMeasured, &DramMeasured::misses>("row_misses", "", "bursts that found their bank closed"),
    measure<DramMeasured, &DramMeasured::conflicts>("row_conflicts", "",
                                                    "bursts that found another row open"),
    measure<&DramMeasured::hit_rate>("row_hit_rate", "", "row hits / bursts; null if there were none"),
    measure<&DramMeasured::read_rate>("media_read_gb_per_s", "GB/s",
                                      "bytes of read bursts / length of the window"),
    measure<&DramMeasured::write_rate>("media_write_gb_per_s", "GB/s",
                                       "bytes of write bursts / length of the window"),
    measure<&DramMeasured::bus>("data_bus_utilization", "",
                                "share of time that the data buses move data, mean"),
    measure<&DramMeasured::read_queue_mean>("read_queue_mean", "",
                                            "bursts in a read queue, mean over time and sub-channels"),
    measure<&DramMeasured::read_queue_max>("read_queue_max", "",
                                           "bursts in a read queue, largest number in one"),
    measure<&DramMeasured::write_queue_mean>("write_queue_mean", "",
                                             "bursts in a write queue, mean over time and sub-channels"),
    measure<&DramMeasured::write_queue_max>("write_queue_max", "",
                                            "bursts in a write queue, largest number in one"),
    measure<DramMeasured, &DramMeasured::forwarded>("forwarded_reads", "",
                                                    "read bursts answered from a write queue"),
    measure<DramMeasured, &DramMeasured::merged>("merged_writes", "",
                                                 "write bursts merged into a queued one"),
    measure<DramMeasured, &DramMeasured::activates>("activates", "", "activate commands"),
    measure<DramMeasured, &DramMeasured::refreshes>("refreshes", "", "refresh commands"),
    measure<&DramMeasured::refresh_share>("refresh_share", "",
                                          "share of time that a bank is being refreshed, mean"),
    measure<&DramMeasured::power_down_share>("power_down_share", "",
                                             "share of time that a rank is in power-down, mean"),
    measure<&DramMeasured::refresh_managements>("refresh_managements", "",
                                                "refresh management commands, if activates are managed"),
    measure<&DramMeasured::row_alerts>("row_alerts", "",
                                       "alerts of devices that count the activates of each row"),
    measure<&DramMeasured::energy>("energy_uj", "uJ", "energy of the devices, if their currents are known"),
    measure<&DramMeasured::background>("energy_background_uj", "uJ", "of it standby and power-down"),
    measure<&DramMeasured::activate>("energy_activate_uj", "uJ", "of it activate and precharge"),
    measure<&DramMeasured::read>("energy_read_uj", "uJ", "of it reading"),
    measure<&DramMeasured::write>("energy_write_uj", "uJ", "of it writing"),
    measure<&DramMeasured::refresh>("energy_refresh_uj", "uJ", "of it refresh"),
    measure<&DramMeasured::power>("power_mw", "mW", "energy / length of the window"),
};

}  // namespace

DramMedia::DramMedia(const DramParams& params, const MediaContext& context)
    : kernel_(context.kernel),
      owner_(context.owner),
      client_(context.client),
      source_(context.kernel.new_source()),
      config_(resolve(params, context.capacity)),
      clock_(config_.device.clock),
      mapping_(config_.mapping, config_.device.organisation, config_.sub_channels, config_.hash,
               config_.channel_hash),
      burst_bytes_(config_.device.organisation.burst_bytes()),
      burst_bits_(static_cast<unsigned>(std::countr_zero(burst_bytes_))),
      // The ECC word of a DDR5 device is 128 bits: a burst of 16 on 4 pins is half of it.
      always_rmw_(config_.device.organisation.device_width == 4 &&
                  config_.device.organisation.burst_length == 16) {
  for (std::uint32_t i = 0; i < config_.sub_channels; ++i) {
    sub_channels_.push_back({std::make_unique<DramChannel>(config_, context.kinds, i)});
  }
}

void DramMedia::watch(DramCommandLog* log) {
  for (SubChannel& sub_channel : sub_channels_) sub_channel.channel->watch(log);
}

// What has failed stays as it is: to catch up with it for the measures of a run that ended with that would
// only fail again.
inline void DramMedia::advance(SubChannel& sub_channel, Clock limit) {
  if (failed_) [[unlikely]]
    return;
  try {
    sub_channel.channel->advance(limit);
  } catch (...) {
    failed_ = true;
    throw;
  }
}

void DramMedia::catch_up(Time now) {
  for (SubChannel& sub_channel : sub_channels_) advance(sub_channel, clock_.edge_at(now));
}

void DramMedia::drain() {
  constexpr Time kPatience{
      64'000'000'000};  // in which every row is refreshed: nobody holds an access back for longer
  for (SubChannel& sub_channel : sub_channels_) {
    if (sub_channel.channel->drain(clock_.edge_at(kPatience))) continue;
    throw SimulationError("deadlock: the DRAM scheduler '" + config_.scheduler.kind + "' of '" +
                          owner_.name() + "' has picked none of " +
                          cxloom::counted(sub_channel.channel->queued(), "burst") + " for " +
                          to_text(kPatience) + ": they are missing from the trace of commands");
  }
}

inline std::uint32_t DramMedia::new_access(Message& message, std::uint32_t bursts) {
  if (free_ == kNoAccess) [[unlikely]]
    add_access();
  const std::uint32_t index = free_;
  free_ = accesses_[index].bursts;
  accesses_[index] = {&message, bursts, kNeverClock};
  return index;
}

[[gnu::noinline]] void DramMedia::add_access() {
  free_ = static_cast<std::uint32_t>(accesses_.size());
  accesses_.push_back({nullptr, kNoAccess, 0});
}

// In line, as it comes with every access: the registers that a call saves are a hundredth of one in idle
// time.
[[gnu::always_inline]] inline void DramMedia::wake_by(SubChannel& sub_channel, Clock clock) {
  if (sub_channel.next.clock <= clock) return;
  const Time now = kernel_.now();
  WakeUp wake_up{clock_.at(clock), clock};
  if (wake_up.at < now) [[unlikely]]
    wake_up = {now, clock_.edge_at(now)};
  if (sub_channel.next.at <= wake_up.at) return;
  if (sub_channel.next.at != Time::max()) [[unlikely]]
    wake_earlier(sub_channel);
  sub_channel.next = wake_up;
  kernel_.schedule(wake_up.at, source_, *this, 0, payload_of(sub_channel));
}

[[gnu::hot]] void DramMedia::access(Message& message, Address address, Time ready) {
  const std::uint64_t begin = address.value();
  const std::uint64_t end = begin + std::max<std::uint64_t>(message.size, 1);
  const std::uint64_t first = begin >> burst_bits_;
  const std::uint64_t last = (end - 1) >> burst_bits_;
  const Clock now = clock_.edge_at(kernel_.now());
  const Clock clock = ready == kernel_.now() ? now : clock_.edge_at(ready);
  const DramOrganisation& organisation = config_.device.organisation;
  const std::uint32_t access = new_access(message, static_cast<std::uint32_t>(last - first + 1));
  const bool write = message.opcode == Opcode::kMemWr;
  for (std::uint64_t i = first; i <= last; ++i) {
    const DramPlace place = mapping_.place(i);
    SubChannel& sub_channel = sub_channels_[place.channel];
    DramBurst& burst = sub_channel.channel->next_burst(now);
    burst.access = access;
    burst.bank = (place.rank * organisation.bank_groups + place.group) * organisation.banks + place.bank;
    burst.row = place.row;
    burst.column = place.column;
    burst.requester = message.requester;
    burst.write = write;
    burst.rmw = write && (always_rmw_ || i * burst_bytes_ < begin || (i + 1) * burst_bytes_ > end);
    burst.first = i == first;
    if (sub_channel.channel->next_changes_turns()) [[unlikely]]
      advance(sub_channel, now);
    const Clock bound = sub_channel.channel->arrive(clock, now);
    if (bound != kNeverClock) wake_by(sub_channel, bound);
  }
}

// Than was foreseen.
[[gnu::noinline]] void DramMedia::wake_earlier(SubChannel& sub_channel) {
  sub_channel.others.push_back(sub_channel.next);
}

[[gnu::hot]] void DramMedia::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  auto& sub_channel = object_of<SubChannel>(payload);
  const Clock now = sub_channel.next.clock;
  sub_channel.next = {};
  if (!sub_channel.others.empty()) [[unlikely]] {
    sub_channel.next = sub_channel.others.back();
    sub_channel.others.pop_back();
  }
  advance(sub_channel, now);
  DramChannel::Done done;
  while (sub_channel.channel->take_done(now, done)) {
    ensure(done.at == now, "a burst of the DRAM was done and nobody was told");
    finish(done);
  }
  const Clock bound = sub_channel.channel->next_done_bound();
  if (bound != kNeverClock) wake_by(sub_channel, bound);
}

inline void DramMedia::finish(const DramChannel::Done& done) {
  PendingAccess& access = accesses_[done.access];
  access.first = std::min(access.first, done.first);
  if (--access.bursts != 0) return;
  access.bursts = free_;
  free_ = done.access;
  Message& message = *access.message;
  message.charge(Segment::kMediaQueue, clock_.at(access.first));
  message.charge(Segment::kMedia, kernel_.now());
  client_.media_done(message, kernel_.now());
}

std::uint64_t DramMedia::bytes_between_lines_of_a_row() const {
  constexpr std::uint64_t kMostLines = 1U << 16U;
  const DramPlace first = mapping_.place(0);
  for (std::uint64_t lines = 1; lines <= kMostLines; ++lines) {
    const DramPlace place = mapping_.place(lines * kLineBytes / burst_bytes_);
    if (place.channel == first.channel && place.rank == first.rank && place.group == first.group &&
        place.bank == first.bank && place.row == first.row)
      return lines * kLineBytes;
  }
  return kLineBytes;
}

std::string DramMedia::described() const {
  const DramOrganisation& organisation = config_.device.organisation;
  const std::uint32_t ranks = organisation.ranks / organisation.stack;
  std::string text = std::to_string(config_.sub_channels / organisation.sub_channels) + " x " +
                     std::string(config_.device.name) + ", " + cxloom::counted(ranks, "rank");
  if (config_.device.standard == DramStandard::kNone) return text;
  text += " of " + cxloom::counted(organisation.devices_in_rank() * organisation.sub_channels, "device") +
          ", " + std::to_string(organisation.density) + "Gb x" + std::to_string(organisation.device_width);
  if (organisation.ecc_width != 0) text += ", ECC among them";
  if (organisation.stack > 1) text += ", stacks of " + std::to_string(organisation.stack);
  return text;
}

std::string DramMedia::held_back() const {
  std::uint64_t held[2] = {};
  for (const SubChannel& sub_channel : sub_channels_) {
    for (const bool write : {false, true}) held[write] += sub_channel.channel->held_back(write);
  }
  if (held[0] + held[1] == 0) return {};
  return "the DRAM scheduler '" + config_.scheduler.kind + "' picks none of " +
         (held[0] != 0 ? cxloom::counted(held[0], "queued read burst") : "") +
         (held[0] != 0 && held[1] != 0 ? " and " : "") +
         (held[1] != 0 ? cxloom::counted(held[1], "queued write burst") : "");
}

DramCounters DramMedia::counted(Time now) {
  catch_up(now);
  DramCounters sum;
  for (SubChannel& sub_channel : sub_channels_) sum = sum_of(sum, sub_channel.channel->counters());
  return sum;
}

void DramMedia::open_window(Time now) {
  counts_.open(now, counted(now));
  for (SubChannel& sub_channel : sub_channels_) sub_channel.channel->restart_levels();
}

void DramMedia::close_window(Time now) {
  counts_.close(now, counted(now));
  most_queued_ = {};
  for (const SubChannel& sub_channel : sub_channels_) {
    for (const bool write : {false, true})
      most_queued_[write] = std::max(most_queued_[write], sub_channel.channel->most_queued(write));
  }
}

std::vector<MeasureInfo> DramMedia::measures() { return infos_of(kDramMeasures); }

void DramMedia::resources(ResourceSink& sink) const {
  const std::uint32_t channels = config_.sub_channels / config_.device.organisation.sub_channels;
  const std::uint32_t pseudo_channels = config_.device.organisation.pseudo_channels;
  const std::string more = std::to_string(2 * std::uint64_t{channels}) + " channels";
  const auto queue = [&](const char* name, const char* measure, const char* parameter, std::uint32_t places,
                         Traffic counts) {
    sink.add({.name = name,
              .stage = Stage::kPlaces,
              .capacity = places,
              .occupancy = Occupancy::kLevel,
              .measures = {measure},
              .wait = Segment::kMediaQueue,
              .counts = counts,
              .twice = {doubled(parameter, places / pseudo_channels)},
              .twice_text = std::to_string(2 * std::uint64_t{places}) + " places"});
  };
  queue("the DRAM read queues of", "read_queue_mean", "read_queue", config_.read_queue, Traffic::kReads);
  queue("the DRAM write queues of", "write_queue_mean", "write_queue", config_.write_queue, Traffic::kWrites);
  // Refreshes and turns of direction take the rest of a data bus.
  sink.add({.name = "the DRAM data bus of",
            .stage = Stage::kMedia,
            .capacity = 1,
            .occupancy = Occupancy::kShare,
            .measures = {"data_bus_utilization"},
            .wait = Segment::kMediaQueue,
            .counts = Traffic::kBytes,
            .twice = {doubled("channels", channels)},
            .twice_text = more,
            .full_from = 0.85});
  Resource banks = waiting_for_media("the DRAM banks (rows) of");
  banks.twice = {doubled("channels", channels)};
  banks.twice_text = more;
  banks.remark = "row_hit_rate";
  banks.remark_text = "row hits";
  sink.add(std::move(banks));
}

std::optional<DramMedia::Refreshes> DramMedia::refreshes() const {
  const DramChannel& channel = *sub_channels_.front().channel;
  if (channel.refresh_interval() == kNeverClock) return std::nullopt;
  const DramRefreshScope scope = channel.refresh_scope();
  const Clock clocks = channel.refresh_interval() * config_.device.refresh_sets(scope);
  return Refreshes{clock_.whole(clocks), clock_.at(config_.device.refresh_clocks(scope))};
}

void DramMedia::report(MeasureSink& sink) const {
  DramMeasured measured{counts_.closed_window()};
  const DramCounters& n = measured;
  const double nanoseconds = counts_.measured().length().ns();
  const Clock clocks =
      clock_.edge_at(counts_.measured().closed()) - clock_.edge_at(counts_.measured().opened());
  const double bus_clocks = static_cast<double>(clocks) * config_.sub_channels;
  const DramOrganisation& organisation = config_.device.organisation;
  const auto share = [](auto part, double whole) {
    return whole > 0 ? static_cast<double>(part) / whole : 0.0;
  };
  const auto bytes = [&](std::uint64_t bursts) { return bursts * burst_bytes_; };
  const double rank_clocks = bus_clocks * organisation.ranks;
  const DramRefreshScope refresh = sub_channels_.front().channel->refresh_scope();
  const double refreshing =
      static_cast<double>(config_.device.refresh_clocks(refresh)) / config_.device.refresh_sets(refresh);
  measured.hit_rate = mean_value(static_cast<double>(n.hits), static_cast<double>(n.reads + n.writes));
  measured.read_rate = share(bytes(n.reads), nanoseconds);
  measured.write_rate = share(bytes(n.writes), nanoseconds);
  measured.bus =
      share((n.reads + n.writes) * organisation.burst_clocks, bus_clocks * organisation.pseudo_channels);
  measured.read_queue_mean = share(n.read_queue, bus_clocks);
  measured.read_queue_max = most_queued_[0];
  measured.write_queue_mean = share(n.write_queue, bus_clocks);
  measured.write_queue_max = most_queued_[1];
  measured.refresh_share = share(static_cast<double>(n.refreshes) * refreshing, rank_clocks);
  measured.power_down_share = share(n.asleep_closed + n.asleep_open, rank_clocks);
  if (config_.management.on()) measured.refresh_managements = n.managements;
  if (config_.management.alert_at != 0) measured.row_alerts = n.alerts;
  if (config_.device.currents.VDD != 0) {
    const DramEnergy energy = dram_energy(config_, refresh, n, clocks);
    measured.energy = energy.total();
    measured.background = energy.background;
    measured.activate = energy.activate;
    measured.read = energy.read;
    measured.write = energy.write;
    measured.refresh = energy.refresh;
    measured.power = share(energy.total() * 1e6, nanoseconds);
  }
  report_all(kDramMeasures, measured, sink);
}

}  // namespace cxloom
