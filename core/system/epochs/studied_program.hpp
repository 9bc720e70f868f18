// The program of a study by epochs: its pages, where they are at first, its policy, when it accesses them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "system/epochs/page_demand.hpp"
#include "system/spec/spec.hpp"
#include "workload/placement/page_placement.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/tiering/tiering.hpp"

namespace cxloom {

struct Registry;

class StudiedProgram {
 public:
  /// The program of a spec, which outlives it. Throws InputError for what epochs cannot give.
  StudiedProgram(const Registry& registry, const Spec& spec);

  /// A spec without the memory that its program has no way to, such as that of another host's virtual switch.
  static Spec within_reach(const Registry& registry, Spec spec);

  const std::string& device() const { return device_; }
  const std::vector<NumaNode>& nodes() const { return nodes_; }
  std::vector<std::string> node_names() const;
  std::vector<std::uint64_t> frames() const;
  const Tiering& tiering() const { return tiering_; }
  const PageDemand& demand() const { return *demand_; }
  const PageRuns& pages() const { return pages_; }
  const std::vector<Spec::Workload>& phases() const { return phases_; }
  std::uint32_t threads() const { return threads_; }
  bool has_cores() const { return has_cores_; }
  std::uint64_t page_bytes() const { return page_.count(); }
  /// Accesses that it makes in all.
  std::uint64_t requests() const { return requests_; }
  bool is_explicit(std::uint64_t page) const { return placement_->is_explicit(page); }
  /// The number of a page in the order of first touch; pages are of the program's addresses.
  std::uint64_t number_of(std::uint64_t page) const;
  /// The node of each page, as it is placed, in that order.
  std::vector<std::uint8_t> placed() const;
  /// An access of a phase.
  PageAccess draw(std::size_t phase, double accesses, RandomStream& random) const;

 private:
  void check(const Spec& spec) const;
  void find_nodes(const Registry& registry, const Spec& spec);
  void find_demand(const Registry& registry, const Spec& spec);
  void make_policy(const Registry& registry, const Spec::Workload& workload);
  void check_sources() const;

  std::string device_;
  Bytes page_;
  std::uint32_t threads_ = 1;
  bool has_cores_ = false;
  bool has_cache_ = false;
  std::uint64_t requests_ = 0;
  std::vector<NumaNode> nodes_;
  std::vector<Spec::Workload> phases_;
  PageRuns pages_;
  std::unique_ptr<PagePlacement> placement_;
  std::unique_ptr<PageDemand> demand_;
  Tiering tiering_;
  std::vector<std::vector<std::unique_ptr<AccessStream>>> streams_;  // by phase and thread
};

}  // namespace cxloom
