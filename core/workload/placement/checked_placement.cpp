#include "workload/placement/checked_placement.hpp"

#include <algorithm>
#include <string>

#include "base/error.hpp"

namespace cxloom {

std::optional<PagePlacement::Choice> CheckedPlacement::place(std::uint64_t page, std::uint64_t count,
                                                             std::span<const std::uint64_t> free) {
  const auto choice = placement_->place(page, count, free);
  if (!choice) return choice;
  const auto what = [page] {  // only for who is refused: programs have millions of pages
    return "the placement puts page " + std::to_string(page) + " of the program ";
  };
  if (choice->node >= nodes_.size()) {
    std::vector<std::string> names;
    for (const NumaNode& node : nodes_)
      names.push_back(std::to_string(names.size()) + " (" + node.name() + ")");
    throw InputError({what() + "into a node that is not there",
                      "node " + std::to_string(choice->node),
                      list_names(names),
                      {}},
                     key_);
  }
  const std::uint64_t most = std::min(count, free[choice->node]);
  if (choice->pages == 0 || choice->pages > most) {
    throw InputError({what() + "where it has no frame",
                      counted(choice->pages, "page") + " into " + nodes_[choice->node].name(),
                      most == 0 ? "a node that has frames left" : "1 to " + std::to_string(most),
                      {}},
                     key_);
  }
  return choice;
}

}  // namespace cxloom
