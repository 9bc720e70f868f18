#include "system/events/page_move_actions.hpp"

#include <functional>

#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "system/events/actions.hpp"
#include "system/model/system.hpp"
#include "workload/placement/numa_nodes.hpp"

namespace cxloom {

Requester& PageMoveActions::mover_of(const MovePagesParams& move) const {
  return with_path("requester", [&]() -> std::reference_wrapper<Requester> {
    Requester* const found = system_.roles().of<Requester>(system_.component(move.requester).id());
    if (!found || !found->has_work())
      refuse_event("it has no workload", "'" + move.requester + "'",
                   "a host or an accelerator with a workload");
    return *found;
  });
}

void PageMoveActions::expect_work(const EventParams& event) {
  with_path("move_pages", [&] {
    const MovePagesParams& move = *event.move_pages;
    MovablePages* const pages = mover_of(move).expect_moves();
    if (!pages) {
      throw InputError({"its pages cannot be moved: they are not placed",
                        "'" + move.requester + "'",
                        "a workload with addresses: {kind: ...}",
                        {}},
                       "requester");
    }
    order_of(move, *pages);
  });
}

PageMover::Order PageMoveActions::order_of(const MovePagesParams& move, MovablePages& pages) const {
  const auto node = [&](const char* key, const std::string& memory) {
    const auto found = pages.node_of_memory(memory);
    if (!found) {
      const AddressMap& map = system_.address_map_of(system_.component(move.requester).id());
      refuse_of_other(memory_of_others(map, move.requester), memory, pages.node_names(), key);
      throw InputError({"the program has no pages there", "'" + memory + "'", list_names(pages.node_names()),
                        nearest_name(memory, pages.node_names())},
                       key);
    }
    return *found;
  };
  PageMover::Order order{
      .from = node("from", move.from), .to = {node("to", move.to)}, .share = move.share, .copy = move.copy};
  if (order.from == order.to.front())
    throw InputError({"the pages are there already", "'" + move.to + "'", "another memory than `from`", {}},
                     "to");
  if (move.base) order.range = AddressRange{*move.base, move.size->count()};
  if (move.rate) order.rate = move.rate->rate;
  return order;
}

void PageMoveActions::act(std::size_t /*number*/, const EventParams& event) {
  Requester& requester = mover_of(*event.move_pages);
  requester.move_pages(order_of(*event.move_pages, *requester.expect_moves()));
}

}  // namespace cxloom
