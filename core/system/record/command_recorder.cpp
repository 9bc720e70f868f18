#include "system/record/command_recorder.hpp"

#include <utility>

#include "kernel/kernel.hpp"
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

CommandRecorder::Watch::Watch(NodeId memory, std::uint32_t first_channel, DramMedia& of, std::size_t part,
                              const Kernel& kernel, CommandRecorder& recorder)
    : media(of),
      clock(of.config().device.clock),
      device_(of.config().device),
      memory_(memory),
      first_channel_(first_channel),
      part_(part),
      kernel_(kernel),
      recorder_(recorder) {
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
  const CommandRow entry{clock.at(record.clock).ps(),
                         record.clock,
                         memory_.index(),
                         static_cast<std::uint16_t>(first_channel_ + sub_channel / in_channel),
                         static_cast<std::uint8_t>(sub_channel % in_channel),
                         static_cast<std::uint8_t>(record.rank),
                         static_cast<std::uint8_t>(record.command),
                         bank.group,
                         bank.bank,
                         row ? static_cast<std::int32_t>(record.row) : kNone,
                         column ? static_cast<std::int32_t>(record.column) : kNone,
                         record.rmw ? std::uint8_t{1} : std::uint8_t{0},
                         static_cast<std::uint8_t>(part)};
  if (recorder_.side_by_side()) recorder_.notes_.note(part_, kernel_.place(), entry);
  else recorder_.put(entry);
}

void CommandRecorder::put(const CommandRow& row) {
  table_.time_ps.push_back(row.time_ps);
  table_.clock.push_back(row.clock);
  table_.memory.push_back(row.memory);
  table_.channel.push_back(row.channel);
  table_.sub_channel.push_back(row.sub_channel);
  table_.rank.push_back(row.rank);
  table_.command.push_back(row.command);
  table_.bank_group.push_back(row.bank_group);
  table_.bank.push_back(row.bank);
  table_.row.push_back(row.row);
  table_.column.push_back(row.column);
  table_.rmw.push_back(row.rmw);
  table_.part.push_back(row.part);
}

void CommandRecorder::tell() {
  notes_.tell([this](std::size_t /*part*/, const CommandRow& row) { put(row); });
}

void CommandRecorder::add(NodeId memory, DramMedia& media, std::size_t part, const Kernel& kernel) {
  const bool more = !watches_.empty() && watches_.back()->memory() == memory;
  const std::uint32_t first_channel = more ? watches_.back()->end_channel() : 0;
  watches_.push_back(std::make_unique<Watch>(memory, first_channel, media, part, kernel, *this));
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
