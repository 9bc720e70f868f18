#include "system/run/standstill.hpp"

#include <algorithm>

#include "component/component.hpp"
#include "component/io_roles.hpp"
#include "device/requester/requester.hpp"
#include "kernel/wait_list.hpp"
#include "system/model/system.hpp"
#include "system/tasks/task_player.hpp"

namespace cxloom {

std::string deadlock_in(System& system, const TaskPlayer* tasks) {
  const std::string deadlock = "deadlock: nothing is left to happen, and ";
  if (tasks && !tasks->over()) return deadlock + "tasks have not ended";
  const auto& requesters = system.roles().all<Requester>();
  if (std::ranges::any_of(requesters,
                          [](const auto& each) { return each.role->has_work() && !each.role->finished(); }))
    return deadlock + "requests wait for an answer";
  for (const auto& [component, requester] : requesters)
    ensure(requester->progress().live_requests == 0, "a request was lost");
  if (system.system_context().posted.live() > 0 ||
      std::ranges::any_of(system.roles().all<IoInitiator>(),
                          [](const auto& each) { return each.role->outstanding() > 0; }))
    return deadlock + "packets of CXL.io are under way";
  return {};
}

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
