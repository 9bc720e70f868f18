#include "system/record/run_recorders.hpp"
#include "component/component.hpp"

#include <algorithm>
#include <utility>

#include "memory/media/media.hpp"
#include "memory/memory_owner.hpp"
#include "system/model/system.hpp"
#include "system/record/command_recorder.hpp"
#include "system/record/protocol_recorder.hpp"
#include "system/record/sampler.hpp"

namespace cxloom {

RunRecorders::RunRecorders() = default;
RunRecorders::~RunRecorders() = default;

void RunRecorders::sample(Kernel& kernel, System& system, Time interval) {
  sampler_ = std::make_unique<Sampler>(kernel, system, interval);
}

void RunRecorders::record_commands(const System& system, const std::vector<std::uint32_t>& part_of) {
  const std::size_t parts = part_of.empty() ? 1 : std::ranges::max(part_of) + std::size_t{1};
  commands_ = std::make_unique<CommandRecorder>(parts);
  for (const auto& [component, owner] : system.roles().all<MemoryOwner>()) {
    if (!owner->media()) continue;
    each_medium(*owner->media(), [&, of = component](Media& media) {
      const std::size_t part = part_of.empty() ? 0 : part_of[of->id().index()];
      if (DramMedia* dram = media.dram()) commands_->add(of->id(), *dram, part, of->kernel());
    });
  }
  if (commands_->empty()) {
    throw InputError({"there are no commands to record: no memory of this system has media of kind dram",
                      {},
                      "a memory with media: {kind: dram, preset: ...}; other media have no commands",
                      {}},
                     "outputs.commands");
  }
}

ProtocolRecorder& RunRecorders::log_protocol(System& system, const std::vector<Address>& addresses) {
  std::vector<LineAddress> lines;
  for (const Address address : addresses) {
    if (!system.address_map().find(address)) {
      throw InputError(
          {"an address that no region holds",
           to_text(address),
           system.address_map().empty() ? "none: there is no memory" : system.address_map().described(),
           {}});
    }
    lines.push_back(LineAddress::of(address));
  }
  std::vector<NodeId> divided;
  for (const auto& [component, memory] : system.roles().all<MemoryOwner>()) {
    if (!memory->logical_devices().empty()) divided.push_back(component->id());
  }
  protocol_ = std::make_unique<ProtocolRecorder>(system.address_map(), std::move(lines), std::move(divided));
  return *protocol_;
}

void RunRecorders::open_window(Time now) {
  if (sampler_) sampler_->open_window(now);
  if (commands_) commands_->open_window(now);
  if (protocol_) protocol_->open_window();
}

void RunRecorders::close_window(Time now) {
  if (sampler_) sampler_->close_window();
  if (commands_) commands_->close_window(now);
  if (protocol_) protocol_->close_window();
}

void RunRecorders::finish(Time now) {
  if (commands_) commands_->finish(now);
}

void RunRecorders::stop(Time now) {
  if (commands_) commands_->stop(now);
}

}  // namespace cxloom
