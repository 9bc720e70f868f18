// What short runs of lines are made of that say how fast a program is at the placement of the moment: that
// placement, its accesses folded to few pages, and policies that do one thing over and over, so that its cost
// shows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "base/schema.hpp"
#include "workload/placement/page_placement.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/tiering/tiering_policy.hpp"

namespace cxloom {

/// The node of a page, by its number in the program's addresses.
using NodeOfPage = std::function<std::size_t(std::uint64_t page)>;

struct WindowParams {
  static void describe(Schema<WindowParams>& schema) { schema.doc("Of a window of an epoch."); }
};

/// Each page where it is at the moment.
class PlacedNow final : public PagePlacement {
 public:
  explicit PlacedNow(NodeOfPage node_of) : node_of_(std::move(node_of)) {}

  std::optional<Choice> place(std::uint64_t page, std::uint64_t count,
                              std::span<const std::uint64_t> free) override {
    const std::size_t node = node_of_(page);
    if (free[node] == 0) return std::nullopt;
    std::uint64_t pages = 1;
    while (pages < std::min(count, free[node]) && node_of_(page + pages) == node) ++pages;
    return Choice{node, pages};
  }

 private:
  NodeOfPage node_of_;
};

/// The accesses of another stream, each in the same node, on so few pages that they are accessed again soon.
class FoldedStream final : public AccessStream {
 public:
  FoldedStream(std::unique_ptr<AccessStream> stream, NodeOfPage node_of, std::size_t nodes,
               std::uint64_t pages, std::uint64_t page)
      : stream_(std::move(stream)), node_of_(std::move(node_of)), nodes_(nodes), pages_(pages), page_(page) {}

  bool next(Access& access) override {
    if (!stream_->next(access)) return false;
    const std::uint64_t number = access.address.value() / page_;
    const std::uint64_t within =
        std::min(access.address.value() % page_, page_ - std::min<std::uint64_t>(access.size, page_));
    access.address = Address{(node_of_(number) * pages_ + number % pages_) * page_ + within};
    return true;
  }
  std::optional<AddressRange> range() const override {
    return AddressRange{Address{}, nodes_ * pages_ * page_};
  }

 private:
  std::unique_ptr<AccessStream> stream_;
  NodeOfPage node_of_;
  std::size_t nodes_;
  std::uint64_t pages_;  // of each node
  std::uint64_t page_;   // bytes
};

/// What a policy of a window does each time that it looks.
enum class WindowWork : std::uint8_t {
  kNothing,
  kFaults,    ///< a page is made inaccessible
  kPromotes,  ///< a page of a farther node is, and comes to the nearest when it faults
  kMoves,     ///< a page comes, and another one leaves
  kScans,     ///< the accessed bit of a page is read
};

class WindowPolicy final : public TieringPolicy {
 public:
  WindowPolicy(WindowWork work, Time period, std::span<const NumaNode> nodes)
      : work_(work), period_(period), nodes_(nodes), order_(nearest_first(nodes)) {}

  TieringSources sources() const override {
    TieringSources sources{.period = period_};
    sources.hint_faults = work_ == WindowWork::kFaults || work_ == WindowWork::kPromotes;
    sources.accessed_bits = work_ == WindowWork::kScans;
    return sources;
  }
  void faulted(const PageAccess& access, TieredPages& pages) override {
    if (work_ == WindowWork::kPromotes) pages.move(access.page, order_.front());
  }
  void look(TieredPages& pages) override {
    if (pages.pages() == 0) return;
    if (work_ == WindowWork::kScans) static_cast<void>(pages.accessed(hand_++ % pages.pages()));
    if (work_ == WindowWork::kFaults) pages.protect(hand_++ % pages.pages());
    if (work_ == WindowWork::kPromotes) {
      if (const auto page = next_of(pages, true)) pages.protect(*page);
    }
    while (work_ == WindowWork::kMoves && pages.moves_waiting() < kAhead) {
      const auto page = next_of(pages, comes_);
      const std::size_t to = comes_ ? order_.front() : order_.back();
      comes_ = !comes_;
      if (!page && ++missed_ > 1) return;
      if (!page) continue;
      missed_ = 0;
      pages.move(*page, to);
    }
  }

 private:
  static constexpr std::uint64_t kAhead = 2;

  /// The next page of a farther node, or of the nearest.
  std::optional<std::uint64_t> next_of(const TieredPages& pages, bool farther) {
    for (std::uint64_t seen = 0; seen < pages.pages(); ++seen) {
      const std::uint64_t page = hand_++ % pages.pages();
      if ((nodes_[pages.node_of(page)].distance > nodes_[order_.front()].distance) == farther) return page;
    }
    return std::nullopt;
  }

  WindowWork work_;
  Time period_;
  std::span<const NumaNode> nodes_;
  std::vector<std::size_t> order_;
  std::uint64_t hand_ = 0;
  bool comes_ = true;
  int missed_ = 0;
};

}  // namespace cxloom
