#include "memory/dram/queue/command_bus.hpp"

namespace cxloom {

DramCommandBus::DramCommandBus(const DramDevice& device, std::uint32_t sub_channel)
    : split_(device.split_command_bus),
      split_activate_(device.splits_activates()),
      activate_clocks_(device.activate_clocks()),
      column_clocks_(device.column_clocks()),
      other_clocks_(device.other_clocks()),
      sub_channel_(sub_channel),
      banks_in_rank_(device.organisation.banks_in_rank()) {}

void DramCommandBus::show(DramCommand command, std::uint32_t rank, std::uint32_t bank, Clock now,
                          const DramBurst* burst) const {
  DramCommandRecord record{now, command, false, rank, bank, 0, 0};
  if (burst) {
    record.rmw = burst->rmw;
    record.row = burst->row;
    record.column = burst->column;
  }
  log_->command(sub_channel_, record);
}

}  // namespace cxloom
