#include "memory/dram/controller/at_rest.hpp"

namespace cxloom {

void DramAtRest::show(const DramBurst& burst) const {
  if (sent_.row_before != sent_.row) {
    if (sent_.row_before != DramTimers::kClosed)
      the_.bus.show(DramCommand::kPrecharge, sent_.bank, sent_.precharge);
    the_.bus.show(DramCommand::kActivate, sent_.bank, sent_.activate, &burst);
  }
  the_.bus.show(column_command(), sent_.bank, sent_.column, &burst);
}

// As if they were sent now, one after the other.
void DramAtRest::write_down_commands() {
  the_.timers.set_row(sent_.bank, sent_.row_before);
  if (sent_.row_before != sent_.row) {
    if (sent_.row_before != DramTimers::kClosed) {
      the_.timers.precharge(sent_.bank, sent_.precharge);
      the_.bus.hold(DramCommand::kPrecharge, sent_.precharge);
    }
    the_.timers.activate(sent_.bank, sent_.row, sent_.activate);
    the_.bus.hold(DramCommand::kActivate, sent_.activate);
  }
  the_.timers.column(sent_.bank, sent_.write, sent_.close, sent_.column);
  the_.bus.hold(column_command(), sent_.column);
  sent_.column = kNeverClock;
}

}  // namespace cxloom
