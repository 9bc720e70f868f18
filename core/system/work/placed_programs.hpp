// The programs of a run whose pages are placed: the memory that each finds, its part of what it shares with
// others, and where its pages go.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "system/spec/spec.hpp"
#include "system/work/program_nodes.hpp"
#include "workload/placement/page_shares.hpp"
#include "workload/placement/placed_stream.hpp"
#include "workload/work.hpp"

namespace cxloom {

class AddressMap;
struct Registry;
class System;
struct Tiering;

class PlacedPrograms {
 public:
  /// The pages that a program touches at most; none: it is not known.
  using PagesTouched = std::function<std::optional<PageRuns>(const Spec::Workload&)>;

  /// Looks for them among the workloads of `spec`. All of these outlive it.
  PlacedPrograms(const Registry& registry, const Spec& spec, const System& system);

  /// Gives each its part of the memory; to be called before the others. Asks for the pages of those that have
  /// to share. Throws InputError, with the path of the workload, for what cannot be placed.
  void divide_memory(const Spec& spec, const PagesTouched& pages_of);
  /// The size of the pages of all programs.
  Bytes page() const { return page_; }
  /// Throws InputError, with the path `footprint`, if pages of these ranges of a device's program have no
  /// place in all of its memory.
  void check_pages(const std::string& device, const std::vector<AddressRange>& ranges) const;
  /// Places the pages of a program's work, the `touched` ones before it runs, and moves them if it says how.
  /// Throws InputError with the path below the workload's device.
  void place(const Spec::Workload& workload, const PageRuns& touched, Work& work);
  /// Sentences on memory that placements name and that is not there, of what was placed so far.
  const std::vector<std::string>& notes() const { return notes_; }
  /// Ways or extents have changed: they find other memory from now on.
  void memory_changed();

 private:
  struct Placed {
    const Spec::Workload* workload;
    std::vector<NumaNode> nodes;
    std::unique_ptr<PagePlacement> placement = {};  ///< its stream's, once that is made
    ProgramMemory::Parts frames = {};               ///< its own
    ProgramMemory::Parts spare = {};                ///< frames that its pages can be moved to besides
    PlacedStream* stream = nullptr;                 ///< of its requester
  };

  /// All of them, with their nodes.
  std::vector<Placed*> programs_of(const Spec& spec);
  static void check_tables(const std::vector<Placed*>& all);
  /// Every program that shares memory with others says the same of `page` and `frames`.
  void check_alike(const Spec::Workload& workload, const Spec::Workload& first) const;
  /// Throws InputError below this key.
  std::unique_ptr<PagePlacement> make_placement(const Placed& placed, const char* key,
                                                const KindSpec& kinded) const;
  /// The placement, which has placed nothing yet, and knows which nodes have memory now; `ever`: all that
  /// will have some.
  static PagePlacement& restarted(const Placed& placed, const std::vector<std::vector<bool>>& offers,
                                  bool ever = false);
  std::shared_ptr<Tiering> make_tiering(const Placed& placed) const;
  /// Shows a policy that knows the future what comes.
  void foresee(const Spec::Workload& workload, Tiering& tiering, Work& work) const;
  /// Notes whether this placement of it, at a key, wants pages in memory that it has not.
  void note_missing_memory(const Placed& placed, const char* key, const PagePlacement& placement,
                           const std::vector<std::vector<bool>>& offers);
  /// Which parts of its nodes it has now.
  std::vector<std::vector<bool>> offered(const Placed& placed) const {
    return nodes_.offered(placed.workload->device, placed.nodes, page_);
  }
  std::shared_ptr<const FrameOrder> order_of(const Frames& frames) const;
  /// A node that is one device's alone: who else has it has other frames.
  ProgramMemory::Parts::value_type parts_in_extents(const NumaNode& node) const;

  const Registry& registry_;
  const RunParams& run_;
  const System& system_;
  ProgramNodes nodes_;
  Bytes page_;
  FrameLayout layout_ = FrameLayout::kScattered;
  std::map<std::string, Placed> placed_;  // by device
  Division division_;
  std::vector<std::string> notes_;
  bool changes_ = false;  // memory may come and go for programs
};

}  // namespace cxloom
