// What must hold of SimpleSSD's configuration before the library sees it: it ends the process for most
// mistakes in it, and draws from the machine's entropy for some policies.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../common/ini.hpp"

namespace cxloom::integrations {

class SimpleSsdConfig {
 public:
  explicit SimpleSsdConfig(const std::string& path) : ini_(path) {
    ini_.number("cpu.ClockSpeed", 400'000'000);
    ini_.number("dram.tCK", 1250);
    if (ini_.number("dram.Model", 0, 0) != 0) ini_.refuse("dram.Model", "not known", "0");
    check_flash();
    check_translation();
    check_cache();
  }

 private:
  void check_flash() const {
    if (ini_.number("pal.DMAWidth", 8) % 8 != 0) ini_.refuse("pal.DMAWidth", "no whole bytes", "8 or 16");
    ini_.number("pal.DMASpeed", 400);
    if (ini_.number("pal.NANDType", 1, 0) > 2) ini_.refuse("pal.NANDType", "not known", "0, 1 or 2");
    const std::string order = ini_.text("pal.PageAllocation", "");
    bool whole = order.size() == 4;
    for (const char level : std::string_view("CWDP")) whole &= order.find(level) != std::string::npos;
    if (!whole)
      ini_.refuse("pal.PageAllocation", "no order", "C, W, D and P, each once, in some order: CWDP");
  }

  void check_translation() const {
    if (ini_.number("ftl.MappingMode", 0, 0) != 0) ini_.refuse("ftl.MappingMode", "not known", "0");
    const std::uint64_t mode = ini_.number("ftl.GCMode", 0, 0);
    if (mode > 1) ini_.refuse("ftl.GCMode", "not known", "0 or 1");
    if (mode == 0) ini_.number("ftl.GCReclaimBlocks", 1);
    const double threshold = ratio("ftl.GCThreshold", 0.05);
    if (mode == 1 && ratio("ftl.GCReclaimThreshold", 0.1) < threshold)
      ini_.refuse("ftl.GCReclaimThreshold", "below GCThreshold", "more than it");
    if (ini_.number("ftl.EvictPolicy", 0, 0) > 1)
      ini_.refuse("ftl.EvictPolicy", "not repeatable: it draws from the machine's entropy", "0 or 1");
    if (ini_.number("ftl.FillingMode", 0, 0) > 0)
      ini_.refuse("ftl.FillingMode", "not repeatable: it draws from the machine's entropy", "0");
    check_room(threshold);
  }

  /// The library counts all blocks: a block in each unit that it writes to at the same time is open.
  void check_room(double threshold) const {
    const std::string units_of = ini_.text("pal.SuperblockSize", "");
    const bool planes = flag("pal.EnableMultiPlaneOperation", true);
    std::uint64_t units = 1;
    const auto count = [&](const char* key, std::uint64_t otherwise, char level, bool together) {
      const std::uint64_t value = ini_.number(std::string("pal.") + key, otherwise);
      if (!together && units_of.find(level) == std::string::npos) units *= value;
    };
    count("Channel", 8, 'C', false);
    count("Package", 4, 'W', false);
    count("Die", 2, 'D', false);
    count("Plane", 1, 'P', planes);
    const auto blocks = static_cast<double>(units * ini_.number("pal.Block", 512));
    const auto open = static_cast<double>(units);
    ini_.number("pal.Page", 512);
    ini_.number("pal.PageSize", 16384, 512);
    const double logical = std::floor(blocks * (1 - ratio("ftl.OverProvisioningRatio", 0.25)));
    if (blocks <= logical + open)
      ini_.refuse("ftl.OverProvisioningRatio", "too small", "more than 1 / Block: a spare block each");
    if (logical < 1) ini_.refuse("ftl.OverProvisioningRatio", "too large", "less than 1");
    const double filled = logical * (ratio("ftl.FillRatio", 0) + ratio("ftl.InvalidPageRatio", 0));
    if (filled > blocks * (1 - threshold) - open)
      ini_.refuse(
          "ftl.FillRatio", "more than fits before garbage collection begins",
          "with InvalidPageRatio at most " + std::to_string((blocks * (1 - threshold) - open) / logical));
  }

  void check_cache() const {
    ini_.number("icl.ReadPrefetchCount", 1);
    if (std::strtod(ini_.text("icl.ReadPrefetchRatio", "0.5").c_str(), nullptr) <= 0)
      ini_.refuse("icl.ReadPrefetchRatio", "no ratio", "more than 0");
    const std::uint64_t policy = ini_.number("icl.EvictPolicy", 2, 0);
    if (policy == 0)
      ini_.refuse("icl.EvictPolicy", "not repeatable: it draws from the machine's entropy", "1 or 2");
    if (policy > 2) ini_.refuse("icl.EvictPolicy", "not known", "1 or 2");
  }

  double ratio(const std::string& key, double otherwise) const {
    const std::string found = ini_.text(key, std::to_string(otherwise));
    char* stop = nullptr;
    const double value = std::strtod(found.c_str(), &stop);
    if (stop == found.c_str() || !(value >= 0 && value <= 1))
      ini_.refuse(key, "no ratio", "a number from 0 to 1");
    return value;
  }
  bool flag(const std::string& key, bool otherwise) const {
    const std::string found = ini_.text(key, otherwise ? "1" : "0");
    return found == "true" || std::strtoul(found.c_str(), nullptr, 10) != 0;
  }

  Ini ini_;
};

}  // namespace cxloom::integrations
