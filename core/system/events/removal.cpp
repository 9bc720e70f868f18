#include "system/events/removal.hpp"

#include <algorithm>
#include <utility>

#include "coherence/cache/agent.hpp"
#include "component/component.hpp"
#include "device/requester/requester.hpp"
#include "kernel/kernel.hpp"
#include "system/model/system.hpp"
#include "workload/stream/movable_pages.hpp"

namespace cxloom {

std::vector<std::size_t> nodes_of_device(const MovablePages& pages, const std::string& device) {
  std::vector<std::size_t> nodes;
  for (std::size_t node = 0; node < pages.node_names().size(); ++node) {
    const std::string& name = pages.node_names()[node];
    if (name == device || name.starts_with(device + " ld ")) nodes.push_back(node);
  }
  return nodes;
}

/// A program whose pages leave the memory, and its requester's cache.
class Removal::Leaver : public PagesLeaving {
 public:
  Leaver(Removal& removal, Requester& requester, MovablePages& pages, std::vector<std::size_t> nodes,
         std::vector<std::size_t> to, Rate rate)
      : removal_(removal),
        requester_(requester),
        pages_(pages),
        nodes_(std::move(nodes)),
        to_(std::move(to)),
        rate_(rate) {}
  virtual ~Leaver() = default;

  void begin() {
    stayed_ = 0;
    orders_ = nodes_.size();
    for (const std::size_t node : nodes_)
      requester_.move_pages({.from = node, .to = to_, .rate = rate_, .leaving = this});
  }
  void end_accesses() { requester_.end_accesses(removal_.memory_, *this); }

  void page_left(const PageMove& move) override { removal_.bytes_moved_ += move.bytes; }
  void page_stays() override { ++stayed_; }
  // A page that was on its way there when the orders were given is there only now, and has not been tried.
  void order_over() override {
    if (--orders_ > 0) return;
    std::uint64_t pages = 0;
    for (const std::size_t node : nodes_) pages += pages_.pages_in(node, std::nullopt).size();
    if (pages <= stayed_) return removal_.program_over(pages);
    begin();
  }
  // What was under way has come to its end in the cache, too.
  void accesses_over() override { requester_.flush_lines(lines_to_flush(), *this); }
  void flushed() override { removal_.program_over(0); }

 private:
  // What the cache holds of the memory, and what it is writing back there.
  std::vector<LineAddress> lines_to_flush() {
    CacheAgent* const cache = requester_.losing_cache();
    if (!cache) return {};
    std::vector<LineAddress> lines = cache->under_way_to(removal_.memory_);
    cache->levels().for_each_line([&](LineAddress line) {
      const auto place = removal_.system_.address_map().find(line.address());
      if (place->target == removal_.memory_) lines.push_back(line);
    });
    std::ranges::sort(lines, {}, &LineAddress::number);
    lines.erase(std::ranges::unique(lines, {}, &LineAddress::number).begin(), lines.end());
    removal_.lines_flushed_ += static_cast<std::uint64_t>(std::ranges::count_if(
        lines, [&](LineAddress line) { return cache->held(line) == LineState::kDirty; }));
    return lines;
  }

  Removal& removal_;
  Requester& requester_;
  MovablePages& pages_;
  std::vector<std::size_t> nodes_;
  std::vector<std::size_t> to_;
  Rate rate_;
  std::size_t orders_ = 0;    // that are not over
  std::uint64_t stayed_ = 0;  // pages of them
};

Removal::Removal(const Kernel& kernel, System& system, NodeId memory, std::function<void()> changed)
    : kernel_(kernel), system_(system), memory_(memory), changed_(std::move(changed)) {}

Removal::~Removal() = default;

void Removal::begin(const Targets& targets, Rate rate) {
  began_ = kernel_.now();
  answered_before_ = answered_so_far(system_);
  system_.set_offline(memory_, true);
  const std::string& name = system_.components()[memory_.index()]->name();
  for (const auto& [component, requester] : system_.roles().all<Requester>()) {
    MovablePages* const pages = requester->expect_moves();
    if (!pages) continue;
    std::vector<std::size_t> nodes = nodes_of_device(*pages, name);
    if (nodes.empty()) continue;
    leavers_.push_back(
        std::make_unique<Leaver>(*this, *requester, *pages, std::move(nodes), targets(*pages), rate));
  }
  pending_ = leavers_.size() + 1;
  for (const auto& leaver : leavers_) leaver->begin();
  program_over(0);
}

void Removal::program_over(std::uint64_t pages_left) {
  pages_left_ += pages_left;
  if (--pending_ > 0) return;
  if (pages_left_ > 0) {
    end(false);
  } else if (flushing_) {
    empty_buffers();
  } else {
    empty_caches();
  }
}

// With one pending more, as a program may have nothing under way, and its cache nothing to flush.
void Removal::empty_caches() {
  flushing_ = true;
  pending_ = leavers_.size() + 1;
  for (const auto& leaver : leavers_) leaver->end_accesses();
  program_over(0);
}

// What one buffer drains comes into the next one on its way.
void Removal::empty_buffers() {
  for (const auto& [component, buffer] : system_.roles().all<PersistDomain>())
    buffer->empty_of(memory_, *this);
  line_left();
}

void Removal::line_left() {
  const auto& buffers = system_.roles().all<PersistDomain>();
  if (std::ranges::any_of(buffers,
                          [&](const auto& each) { return each.role->entries().count_of(memory_) > 0; }))
    return;
  for (const auto& [component, buffer] : buffers) buffer->end_emptying(memory_);
  end(true);
}

void Removal::end(bool empty) {
  answered_until_end_ = answered_so_far(system_);
  if (empty) {
    done_ = kernel_.now();
    return;
  }
  given_up_ = true;
  system_.set_offline(memory_, false);
  changed_();
}

}  // namespace cxloom
