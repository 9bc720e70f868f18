#include "memory/dram/device/energy.hpp"

#include <algorithm>

namespace cxloom {

DramEnergy dram_energy(const DramConfig& config, DramRefreshScope refresh, const DramCounters& counters,
                       Clock clocks) {
  const DramTiming& t = config.device.timing;
  const DramCurrents& i = config.device.currents;
  const DramOrganisation& organisation = config.device.organisation;
  const auto number = [](auto count) { return static_cast<double>(count); };
  // mA x V x ns is pJ; all devices of a rank act alike.
  const double scale =
      i.VDD * DramClock(config.device.clock).cycle_ns() * organisation.devices_in_rank() * 1e-6;
  const double burst = number(organisation.burst_clocks);

  DramEnergy energy;
  const double ranks = number(config.sub_channels) * organisation.ranks;
  const double awake = ranks * number(clocks) - number(counters.asleep_closed) - number(counters.asleep_open);
  // IDD3N is measured with all banks open: each of them adds its part to IDD2N.
  const double open_bank = (i.IDD3N - i.IDD2N) / number(organisation.banks_in_rank());
  energy.background =
      scale * (i.IDD2N * awake + open_bank * number(counters.open) + i.IDD3P * number(counters.asleep_open) +
               i.IDD2P * number(counters.asleep_closed));
  const double pair = (i.IDD0 - i.IDD2N) * number(t.tRAS + t.tRP) - open_bank * number(t.tRAS);
  energy.activate = scale * number(counters.activates) * std::max(pair, 0.0);
  energy.read = scale * number(counters.reads) * std::max(i.IDD4R - i.IDD3N, 0.0) * burst;
  energy.write = scale * number(counters.writes) * std::max(i.IDD4W - i.IDD3N, 0.0) * burst;
  const double all = std::max(i.IDD5B - i.IDD2N, 0.0) * number(t.tRFC);
  const double sets = config.device.refresh_sets(DramRefreshScope::kSet);
  // Where no current is published, the banks cost what they cost in an all-bank refresh.
  const double same = i.IDD5SB > 0 ? std::max(i.IDD5SB - i.IDD2N, 0.0) * number(t.tRFC_SB) : all / sets;
  energy.refresh = scale * number(counters.refreshes) * (refresh == DramRefreshScope::kSet ? same : all);
  // Refresh management costs what refreshes cost that take as long.
  energy.refresh += scale * (number(counters.managed_sets) * same +
                             number(counters.managed_ranks) * std::max(i.IDD5B - i.IDD2N, 0.0));
  return energy;
}

}  // namespace cxloom
