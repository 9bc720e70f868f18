// `kind: ramulator2`: media simulated by an installed Ramulator 2.
#pragma once

#include <ramulator/base/config.h>
#include <ramulator/base/factory.h>
#include <ramulator/base/request.h>
#include <ramulator/frontend/i_frontend.h>
#include <ramulator/memory_system/i_memory_system.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>

#include "../common/clocked_media.hpp"

namespace cxloom::integrations {

struct Ramulator2Params : ClockedParams {
  static void describe(Schema<Ramulator2Params>& schema) {
    schema.doc("Media simulated by Ramulator 2, cycle by cycle.");
    describe_in(schema);
  }
};

class Ramulator2 {
 public:
  static constexpr const char* kName = "Ramulator 2";
  static constexpr int kDoneCycle = 1;  // it counts the cycle before it looks for completions

  explicit Ramulator2(const Ramulator2Params& params) {
    // The library ends the process if there is no such file: it gets the text.
    std::ifstream file(params.config);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file || text.empty()) {
      throw InputError(
          {params.config + ": the configuration cannot be read, or is empty", {}, "a file in YAML", {}},
          "config");
    }
    const Ramulator::ConfigNode config = Ramulator::Config::parse_config_string(text);
    const std::string kind = config["frontend"]["impl"].as<std::string>("");
    if (kind != "External") {
      throw InputError({params.config + ": cxloom is the frontend",
                        kind.empty() ? "none" : "'" + kind + "'",
                        "frontend: {impl: External, clock_ratio: 1}",
                        {}},
                       "config");
    }
    capacity_ = capacity_of(config);
    frontend_.reset(Ramulator::Factory::create_frontend(config));
    memory_.reset(Ramulator::Factory::create_memory_system(config));
    frontend_->connect_memory_system(memory_.get());
    memory_->connect_frontend(frontend_.get());
    bytes_ = static_cast<std::uint64_t>(memory_->get_tx_bytes());
    const auto picoseconds = std::llround(memory_->get_tCK() * 1000.0F);  // whole picoseconds in the library
    if (picoseconds <= 0 || bytes_ == 0) throw std::runtime_error("it has no clock or no transaction size");
    period_ = {static_cast<std::uint64_t>(picoseconds), 1};
  }

  Period period() const { return period_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t idle_period() const { return 0; }  // its interface does not say

  bool send(std::uint64_t address, bool write, std::uint64_t tag) {
    const int type = write ? Ramulator::Request::Type::Write : Ramulator::Request::Type::Read;
    return frontend_->receive_external_requests(
        type, static_cast<Ramulator::Addr_t>(address), 0, [this, tag](Ramulator::Request&) { done(tag); },
        static_cast<int>(bytes_));
  }
  void tick() { memory_->tick(); }

  std::function<void(std::uint64_t tag)> done;

 private:
  /// Bytes of all channels: the product of each one's levels is its columns.
  static std::uint64_t capacity_of(const Ramulator::ConfigNode& config) {
    std::uint64_t bytes = 0;
    const Ramulator::ConfigNode controllers =
        config["memory_system"]["controllers"];  // the library gives copies
    for (const Ramulator::ConfigNode& controller : controllers.seq()) {
      const Ramulator::ConfigNode dram = controller["dram"];
      const Ramulator::ConfigNode levels = dram["org"]["count"];
      std::uint64_t columns = 1;
      for (const Ramulator::ConfigNode& level : levels.seq())
        columns *= static_cast<std::uint64_t>(level.as<int>());
      bytes += columns * static_cast<std::uint64_t>(dram["channel_width"].as<int>()) / 8;
    }
    return bytes;
  }

  std::unique_ptr<Ramulator::IFrontEnd> frontend_;
  std::unique_ptr<Ramulator::IMemorySystem> memory_;
  Period period_;
  std::uint64_t bytes_ = 0;
  std::uint64_t capacity_ = 0;
};

using Ramulator2Media = ClockedMedia<Ramulator2, Ramulator2Params>;

}  // namespace cxloom::integrations
