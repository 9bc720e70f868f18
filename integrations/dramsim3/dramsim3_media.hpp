// `kind: dramsim3`: media simulated by an installed DRAMsim3.
#pragma once

#include <dramsim3.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "../common/clocked_media.hpp"
#include "../common/ini.hpp"

namespace cxloom::integrations {

struct Dramsim3Params : ClockedParams {
  static void describe(Schema<Dramsim3Params>& schema) {
    schema.doc("Media simulated by DRAMsim3, cycle by cycle.");
    describe_in(schema);
  }
};

/// What the configuration says that the adapter must know, and that it will not end the process: the library
/// calls exit() for most mistakes in it.
class Dramsim3Config {
 public:
  explicit Dramsim3Config(const std::string& path) : ini_(path) {
    const std::string protocol =
        ini_.choice("dram_structure.protocol", "DDR3",
                    {"DDR3", "DDR4", "GDDR5", "GDDR5X", "GDDR6", "LPDDR", "LPDDR3", "LPDDR4", "HBM", "HBM2"});
    const bool gddr = protocol.starts_with("GDDR");
    const bool hbm = protocol.starts_with("HBM");
    const std::uint64_t burst = ini_.number("dram_structure.BL", 8, 0);
    const std::uint64_t length = burst > 0 ? burst : hbm ? 4 : 8;
    if ((length & (length - 1)) != 0)
      ini_.refuse("dram_structure.BL", "not a power of two", "a power of two");
    const std::uint64_t groups = ini_.power_of_two("dram_structure.bankgroups", 2);
    const std::uint64_t banks = groups * ini_.power_of_two("dram_structure.banks_per_group", 2);
    const std::uint64_t rows = ini_.power_of_two("dram_structure.rows", 1U << 16U);
    if (rows < 1024) ini_.refuse("dram_structure.rows", "too small", "at least 1024");
    const std::uint64_t columns = ini_.power_of_two("dram_structure.columns", 1U << 10U) * (gddr  ? length
                                                                                            : hbm ? 2
                                                                                                  : 1);
    const std::uint64_t device = ini_.power_of_two("dram_structure.device_width", 8);
    const std::uint64_t width = ini_.power_of_two("system.bus_width", 64);
    if (width < device)
      ini_.refuse("system.bus_width", "narrower than a device", "at least the device_width");
    const std::uint64_t channels = ini_.power_of_two("system.channels", 1);
    const std::uint64_t rank_megabytes =
        columns * device / 8 * (rows / 1024) / 1024 * banks * (width / device);
    const std::uint64_t channel_megabytes = ini_.number("system.channel_size", 1024);
    if (rank_megabytes == 0 || channel_megabytes < rank_megabytes) {
      ini_.refuse("system.channel_size", "less than one rank of these devices",
                  "at least " + std::to_string(rank_megabytes) + " MB");
    }
    const std::uint64_t ranks = channel_megabytes / rank_megabytes;
    if ((ranks & (ranks - 1)) != 0)
      ini_.refuse("system.channel_size", "not a power of two of ranks", "such a size");
    bytes_ = width / 8 * length;
    capacity_ = channels * ranks * rank_megabytes << 20U;
    ini_.choice("system.queue_structure", "PER_BANK", {"PER_BANK", "PER_RANK"});
    ini_.choice("system.row_buf_policy", "OPEN_PAGE", {"OPEN_PAGE", "CLOSE_PAGE"});
    check_mapping();
    for (const char* key : {"trans_queue_size", "cmd_queue_size"})
      ini_.number(std::string("system.") + key, 16);
    read_period();
    read_refresh(ranks, banks);
  }

  Period period() const { return period_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t idle_period() const { return idle_period_; }

 private:
  void check_mapping() const {
    const std::string mapping = ini_.text("system.address_mapping", "chrobabgraco");
    bool whole = mapping.size() == 12;
    for (const char* field : {"ch", "ra", "bg", "ba", "ro", "co"}) {
      bool found = false;
      for (std::size_t at = 0; at + 1 < mapping.size(); at += 2) found |= mapping.compare(at, 2, field) == 0;
      whole &= found;
    }
    if (!whole) {
      ini_.refuse("system.address_mapping", "not a mapping",
                  "ch, ra, bg, ba, ro and co in some order, such as rochrababgco");
    }
  }

  /// tCK is written in nanoseconds with a decimal point: it is read as the fraction that it is.
  void read_period() {
    const std::string text = ini_.text("timing.tCK", "1.0");
    std::uint64_t digits = 0;
    std::uint64_t scale = 1;
    bool point = false;
    bool valid = !text.empty() && text.size() <= 12;
    for (const char letter : text) {
      if (letter == '.' && !point) {
        point = true;
      } else if (letter >= '0' && letter <= '9') {
        digits = digits * 10 + static_cast<std::uint64_t>(letter - '0');
        if (point) scale *= 10;
      } else {
        valid = false;
      }
    }
    if (!valid || digits == 0) ini_.refuse("timing.tCK", "not a time", "nanoseconds, such as 0.416");
    period_ = {digits * 1000, scale};
  }

  /// When idle, every refresh closes rows: after one round of them the library is where it was a round ago.
  /// Not so with self-refresh, which waits for idle time.
  void read_refresh(std::uint64_t ranks, std::uint64_t banks) {
    const std::string policy =
        ini_.choice("system.refresh_policy", "RANK_LEVEL_STAGGERED",
                    {"RANK_LEVEL_SIMULTANEOUS", "RANK_LEVEL_STAGGERED", "BANK_LEVEL_STAGGERED"});
    const std::uint64_t interval = ini_.number("timing.tREFI", 7800);
    const std::uint64_t of_banks = ini_.number("timing.tREFIb", 1950);
    if (policy == "BANK_LEVEL_STAGGERED") {
      idle_period_ = of_banks * banks * ranks;
    } else if (policy == "RANK_LEVEL_STAGGERED") {
      if (interval < ranks) ini_.refuse("timing.tREFI", "too short", "a cycle for each rank");
      idle_period_ = interval / ranks * ranks;
    } else {
      idle_period_ = interval;
    }
    if (ini_.text("system.enable_self_refresh", "false") != "false") idle_period_ = 0;
  }

  Ini ini_;
  Period period_;
  std::uint64_t bytes_ = 0;
  std::uint64_t capacity_ = 0;
  std::uint64_t idle_period_ = 0;
};

class Dramsim3 {
 public:
  static constexpr const char* kName = "DRAMsim3";
  static constexpr int kDoneCycle = 0;  // it looks for completions when a cycle begins

  explicit Dramsim3(const Dramsim3Params& params)
      : config_(params.config),
        system_(
            params.config, scratch_.path, [this](std::uint64_t address) { complete(reads_, address); },
            [this](std::uint64_t address) { complete(writes_, address); }) {}

  Period period() const { return config_.period(); }
  std::uint64_t bytes() const { return config_.bytes(); }
  std::uint64_t capacity() const { return config_.capacity(); }
  std::uint64_t idle_period() const { return config_.idle_period(); }

  bool send(std::uint64_t address, bool write, std::uint64_t tag) {
    if (!system_.WillAcceptTransaction(address, write)) return false;
    (write ? writes_ : reads_).push(address, tag);
    system_.AddTransaction(address, write);
    return true;
  }
  void tick() { system_.ClockTick(); }

  std::function<void(std::uint64_t tag)> done;

 private:
  /// It writes statistics as it goes: into a directory that goes away with it.
  struct Scratch {
    Scratch() : path((std::filesystem::temp_directory_path() / "cxloom-dramsim3-XXXXXX").string()) {
      if (!mkdtemp(path.data())) throw SimulationError("no directory can be made for DRAMsim3: " + path);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
    std::string path;
  };

  void complete(TagsByAddress& tags, std::uint64_t address) { done(tags.pop(address, kName)); }

  Dramsim3Config config_;  // checked before the library sees it
  Scratch scratch_;
  TagsByAddress reads_;
  TagsByAddress writes_;
  dramsim3::MemorySystem system_;
};

using Dramsim3Media = ClockedMedia<Dramsim3, Dramsim3Params>;

}  // namespace cxloom::integrations
