#include "system/run/standstill.hpp"

#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "kernel/wait_list.hpp"
#include "system/model/system.hpp"

namespace cxloom {

std::string describe_standstill(const std::string& problem, Time now, const System& system,
                                const Kernel& kernel) {
  constexpr std::size_t kMaxLines = 40;
  std::uint64_t outstanding = 0;
  std::uint64_t write_backs = 0;
  for (const auto& [component, requester] : system.roles().all<Requester>()) {
    outstanding += requester->outstanding();
    write_backs += requester->progress().write_backs;
  }
  std::string text =
      problem + " (at " + to_text(now) + ", " + counted(outstanding, "request") + " under way" +
      (write_backs > 0 ? ", " + std::to_string(write_backs) + " of them write-backs" : "") + ")\n";
  std::size_t lines = 0;
  for (const auto& each : system.components()) {
    const std::string activity = each->activity();
    if (activity.empty()) continue;
    if (++lines <= kMaxLines) text += "  " + each->name() + ": " + activity + "\n";
  }
  if (lines > kMaxLines) text += "  ... and " + std::to_string(lines - kMaxLines) + " more\n";
  return text + describe_waits(kernel);
}

}  // namespace cxloom
