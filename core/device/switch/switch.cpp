#include "device/switch/switch.hpp"

#include "base/measure_table.hpp"
#include "component/system_context.hpp"
#include "device/switch/replica_table.hpp"
#include "device/switch/virtual_switches.hpp"
#include "protocol/address_map.hpp"
#include "protocol/error_answer.hpp"

namespace cxloom {

namespace {

constexpr std::array kSwitchMeasures{
    measure<&VirtualSwitchCounts::isolation_errors>(
        "isolation_errors", "",
        "requests that it answered with an error in the window, because their device was not bound to the "
        "virtual switch that they came to. Absent without virtual switches"),
    measure<&VirtualSwitchCounts::removal_errors>(
        "removal_errors", "",
        "answers that it made errors in the window, because the device had been removed by surprise. Absent "
        "without virtual switches"),
};

/// It begins something: of memory by CXL.mem, of the home of a line by CXL.cache.
bool asks(const Message& message) { return is_request(message) || message.channel == Channel::kD2HReq; }

}  // namespace

Switch::Switch(const SwitchParams& params, const DeviceContext& context)
    : SwitchingDevice(params, context), system_context_(context.system_context), counts_(context.kernel) {
  context.system_context.roles.declare<ReplicatorOwner>(*this, id(), *this);
  persists_ = params.persist_buffer.has_value();
  if (params.vcs.empty()) return;
  virtual_ = std::make_unique<VirtualSwitches>(params.vcs);
  context.system_context.roles.declare<VirtualSwitching>(*this, id(), *this);
  core().guard_by(*this);
}

// What homes and caches say to each other about lines that these have stays within a virtual switch, of which
// they are or were. Those that are not joined are few: it may take its time.
bool Switch::admits(const Message& message, std::uint16_t input, std::uint16_t output) const {
  if (virtual_->joined(input, output, message.ld())) return true;
  if (is_about_held_line(message)) return virtual_->may_finish(input, output, message.ld());
  if (asks(message)) return false;
  // CXL.io between devices of which none is bound goes its way, DMA between a GPU and its host say.
  const bool answers = is_answer(message) || message.channel == Channel::kH2DRsp ||
                       message.channel == Channel::kH2DData || message.channel == Channel::kIo;
  return message.failed || (answers && virtual_->may_answer(input, output, message.ld()));
}

bool Switch::is_about_held_line(const Message& message) const {
  switch (message.channel) {
    case Channel::kS2MBISnp:
    case Channel::kM2SBIRsp:
    case Channel::kH2DReq:
    case Channel::kD2HRsp:
    case Channel::kD2HData: return true;
    case Channel::kS2MNDR: return message.opcode == Opcode::kBIConflictAck;
    case Channel::kM2SReq:
    case Channel::kM2SRwD:
    case Channel::kD2HReq: break;
    default: return false;
  }
  switch (message.opcode) {
    case Opcode::kMemClnEvct:
    case Opcode::kBIConflict:
    case Opcode::kMemRdFwd:
    case Opcode::kDirtyEvict:
    case Opcode::kCleanEvict: return true;
    default: break;
  }
  const auto place = system_context_.map->find(message.address);
  if (!place || !place->coherent()) return false;
  // A home apart from its memory ends what it has begun there, and a device by bias asks its host for lines.
  const bool of_home = message.source == place->home && message.destination != place->home;
  return of_home || (message.opcode == Opcode::kMemWr && message.snp == SnpType::kNoOp);
}

void Switch::forward_in_vcs(Message& message) {
  const std::uint16_t output = core().output_of(message);
  if (output == Routes::kNowhere || admits(message, message.port, output)) {
    core().forward_by(output, message);
    return;
  }
  ++(asks(message) ? counts_->isolation_errors : counts_->removal_errors);
  core().refuse(message);
}

std::string Switch::why_no_replicator() const {
  if (virtual_) return "virtual switches";
  return persists_ ? "a persist buffer" : "";
}

RequestTaker& Switch::begin_replicating(ReplicaSets& sets, std::uint32_t entries) {
  ReplicaTable& table = core().replicate(sets);
  table.add_entries(entries);
  return table;
}

std::vector<MeasureInfo> Switch::measures() {
  return joined(SwitchingDevice::measures(), infos_of(kSwitchMeasures));
}

void Switch::report(MeasureSink& sink) const {
  SwitchingDevice::report(sink);
  if (virtual_) report_all(kSwitchMeasures, counts_.window(), sink);
}

}  // namespace cxloom
