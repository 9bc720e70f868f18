#include "kernel/wait_list.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "kernel/kernel.hpp"

namespace cxloom {

WaitList::WaitList(Kernel& kernel, const char* resource, const EventHandler& holder) {
  kernel.register_wait_list({this, resource, &holder});
}

namespace {

using Names = std::vector<const EventHandler*>;

// Follows the holders from `at`, depth first, whatever number of things each waits for. True once `path` ends
// in a handler that it holds already. `done` are those from which no circle was found.
bool walk_into_circle(const EventHandler* at, const std::map<const EventHandler*, Names>& holders,
                      Names& path, std::set<const EventHandler*>& done) {
  if (done.contains(at)) return false;
  const bool met = std::find(path.begin(), path.end(), at) != path.end();
  path.push_back(at);
  if (met) return true;
  if (const auto next = holders.find(at); next != holders.end()) {
    for (const EventHandler* holder : next->second) {
      if (walk_into_circle(holder, holders, path, done)) return true;
    }
  }
  path.pop_back();
  done.insert(at);
  return false;
}

// A circle to which a walk from `start` leads, or nothing.
Names circle_from(const EventHandler* start, const std::map<const EventHandler*, Names>& holders,
                  std::set<const EventHandler*>& done) {
  Names path;
  if (!walk_into_circle(start, holders, path, done)) return {};
  return {std::find(path.begin(), path.end(), path.back()), path.end() - 1};
}

}  // namespace

std::string describe_waits(const Kernel& kernel) {
  constexpr std::size_t kMaxLines = 40;
  std::string text;
  std::size_t lines = 0;
  std::map<const EventHandler*, Names> holders;  // waiter -> its holders
  Names owners;                                  // in the order found, so that the text never varies
  for (const WaitedFor& waited : kernel.wait_lists()) {
    if (waited.list->empty()) continue;
    const Waiter& first = *waited.list->first();
    std::size_t waiting = 0;
    for (const Waiter* waiter = &first; waiter; waiter = waiter->next()) {
      ++waiting;
      const EventHandler* owner = &waiter->owner();
      if (owner == waited.holder) continue;
      if (holders[owner].empty()) owners.push_back(owner);
      holders[owner].push_back(waited.holder);
    }
    if (++lines > kMaxLines) continue;
    text += "  " + first.owner().name() + " waits for " + waited.resource + " held by " +
            waited.holder->name() + " since " + to_text(first.since());
    if (waiting > 1) text += " (" + std::to_string(waiting) + " waiting)";
    text += '\n';
  }
  if (lines > kMaxLines) text += "  ... and " + std::to_string(lines - kMaxLines) + " more\n";
  std::set<const EventHandler*> done;
  for (const EventHandler* owner : owners) {
    const Names circle = circle_from(owner, holders, done);
    if (circle.empty()) continue;
    text += "  circle: ";
    for (const EventHandler* member : circle) text += member->name() + " -> ";
    text += circle.front()->name() + "\n";
    break;
  }
  return text;
}

}  // namespace cxloom
