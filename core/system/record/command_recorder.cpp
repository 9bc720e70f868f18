#include "system/record/command_recorder.hpp"

#include <utility>

#include "memory/dram/controller/media.hpp"

namespace cxloom {

namespace {

constexpr std::int16_t kNone = -1;

struct BankAddress {
  std::int16_t group = kNone;
  std::int16_t bank = kNone;
};

// A same-bank refresh takes one bank of every group, or one bank; the others without a bank take the rank.
BankAddress bank_of(const DramCommandRecord& record, const DramDevice& device) {
  const std::uint32_t banks = device.organisation.banks;
  switch (record.command) {
    case DramCommand::kPrechargeAll:
    case DramCommand::kRefreshAll:
    case DramCommand::kManageAll:
    case DramCommand::kPowerDown:
    case DramCommand::kPowerUp: return {};
    case DramCommand::kRefreshSame:
    case DramCommand::kManageSame:
      if (device.refresh_set == RefreshSet::kBankOfEveryGroup)
        return {kNone, static_cast<std::int16_t>(record.bank)};
      [[fallthrough]];
    default:
      return {static_cast<std::int16_t>(record.bank / banks), static_cast<std::int16_t>(record.bank % banks)};
  }
}

}  // namespace

CommandRecorder::Watch::Watch(NodeId memory, std::uint32_t first_channel, DramMedia& of, CommandTable& table)
    : media(of),
      clock(of.config().device.clock),
      device_(of.config().device),
      memory_(memory),
      first_channel_(first_channel),
      table_(table) {
  media.watch(this);
}

std::uint32_t CommandRecorder::Watch::end_channel() const {
  return first_channel_ + media.config().sub_channels / device_.organisation.sub_channels;
}

void CommandRecorder::Watch::command(std::uint32_t sub_channel, const DramCommandRecord& record) {
  const std::uint32_t in_channel = device_.organisation.sub_channels;
  const bool column = record.command >= DramCommand::kRead && record.command <= DramCommand::kWritePrecharge;
  const bool row = column || record.command == DramCommand::kActivate;
  const BankAddress bank = bank_of(record, device_);
  const RunPart part = record.clock >= closed   ? RunPart::kDrain
                       : record.clock >= opened ? RunPart::kWindow
                                                : RunPart::kWarmup;
  table_.time_ps.push_back(clock.at(record.clock).ps());
  table_.clock.push_back(record.clock);
  table_.memory.push_back(memory_.index());
  table_.channel.push_back(static_cast<std::uint16_t>(first_channel_ + sub_channel / in_channel));
  table_.sub_channel.push_back(static_cast<std::uint8_t>(sub_channel % in_channel));
  table_.rank.push_back(static_cast<std::uint8_t>(record.rank));
  table_.command.push_back(static_cast<std::uint8_t>(record.command));
  table_.bank_group.push_back(bank.group);
  table_.bank.push_back(bank.bank);
  table_.row.push_back(row ? static_cast<std::int32_t>(record.row) : kNone);
  table_.column.push_back(column ? static_cast<std::int32_t>(record.column) : kNone);
  table_.rmw.push_back(record.rmw ? 1 : 0);
  table_.part.push_back(static_cast<std::uint8_t>(part));
}

void CommandRecorder::add(NodeId memory, DramMedia& media) {
  const bool more = !watches_.empty() && watches_.back()->memory() == memory;
  const std::uint32_t first_channel = more ? watches_.back()->end_channel() : 0;
  watches_.push_back(std::make_unique<Watch>(memory, first_channel, media, table_));
}

void CommandRecorder::open_window(Time now) {
  for (const auto& watch : watches_) watch->opened = watch->clock.edge_at(now);
}

void CommandRecorder::close_window(Time now) {
  for (const auto& watch : watches_) watch->closed = watch->clock.edge_at(now);
}

void CommandRecorder::finish(Time now) {
  stop(now);
  for (const auto& watch : watches_) watch->media.drain();
}

void CommandRecorder::stop(Time now) {
  for (const auto& watch : watches_) watch->media.catch_up(now);
}

CommandTable CommandRecorder::take() { return std::exchange(table_, {}); }

}  // namespace cxloom
