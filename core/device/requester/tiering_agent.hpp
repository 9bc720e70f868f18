// The part of a kernel that moves a program's pages between memories as a policy says: docs/model/tiering.md.
// It shows the policy what a kernel sees, charges what seeing and moving costs, and hands the moves to a
// PageMover.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "base/units.hpp"
#include "device/requester/page_mover.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "protocol/request.hpp"
#include "workload/stream/movable_pages.hpp"
#include "workload/tiering/tiering.hpp"

namespace cxloom {

class Kernel;

class TieringAgent final : public EventHandler, private TieredPages {
 public:
  /// The requester of the program.
  class TieredProgram {
   public:
    /// An access that faulted goes on.
    virtual void fault_over(Request& access) = 0;
    /// Threads that have something to do.
    virtual std::uint64_t running() const = 0;
    /// Nothing of it goes on while the kernel has its only thread: it has no core that waits for memory
    /// anyway.
    virtual bool stands_still() const = 0;
    /// The kernel takes so much of the time of a thread, or of each that runs; gives what it takes in all.
    virtual Time interrupt(std::optional<std::uint32_t> thread, Time time) = 0;

   protected:
    ~TieredProgram() = default;
  };

  TieringAgent(Kernel& kernel, const EventHandler& owner, std::shared_ptr<const Tiering> tiering,
               MovablePages& pages, PageMover& mover, TieredProgram& program);

  /// The program begins.
  void start();
  /// An access to a page is made; it faults, and goes on by `fault_over`.
  bool faults(Request& access, std::uint64_t page);
  /// It was answered.
  void completed(const Request& access, Time now);
  /// A page is somewhere else, or stays.
  void settled(const PageMove& move, bool moved);
  /// A page's translations are being shot down.
  void shot_down();

  /// Answers of memory are counted from now on, by node.
  void count_answers() { counts_answers_ = true; }
  /// Counts of answers: of the nearest node, and of all.
  struct Answers {
    std::uint64_t nearest = 0;
    std::uint64_t all = 0;
  };
  Answers answers() const;

  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

  std::string name() const override { return owner_.name() + ", tiering pages"; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  enum Wake : std::uint8_t { kFaultOver, kLook };
  /// Accesses that wait for the same page to become accessible, the one that found it so first.
  struct Fault {
    std::uint64_t page;
    std::vector<Request*> accesses;
  };
  struct PageState {
    bool is_protected : 1 = false;
    bool faulting : 1 = false;
    bool accessed : 1 = false;
  };

  Time now() const override;
  std::uint64_t pages() const override { return pages_.count(); }
  std::size_t node_of(std::uint64_t page) const override { return pages_.node_of(known_page(page)); }
  bool is_table(std::uint64_t page) const override { return pages_.is_table(known_page(page)); }
  bool is_explicit(std::uint64_t page) const override { return pages_.is_explicit(known_page(page)); }
  Address address_of(std::uint64_t page) const override { return pages_.program_address(known_page(page)); }
  std::uint64_t free(std::size_t node) const override { return pages_.free_frames(known_node(node)); }
  NodeTraffic traffic(std::size_t node) const override;
  std::uint64_t moves_waiting() const override { return mover_.waiting(); }
  std::uint64_t coming(std::uint64_t page) const override;
  bool protect(std::uint64_t page) override;
  bool accessed(std::uint64_t page) override;
  void move(std::uint64_t page, std::size_t node) override;
  void look_at(Time time) override;

  // What a policy names has to be there.
  std::uint64_t known_page(std::uint64_t page) const;
  std::size_t known_node(std::size_t node) const;
  PageState& state_of(std::uint64_t page);
  void end_fault();
  void look();
  /// A look has taken so much of the program. Throws InputError if looks without a break have left it no time
  /// at all.
  void check_progress(Time taken);
  void schedule_look(Time time);
  /// The policy has returned: what it did is paid for. Gives how long that takes.
  Time pay();
  void take(std::optional<std::uint32_t> thread, Time time);

  Kernel& kernel_;
  EventSource source_;
  const EventHandler& owner_;
  std::shared_ptr<const Tiering> tiering_;
  const KernelCosts& costs_;
  TieringSources sources_;
  MovablePages& pages_;
  PageMover& mover_;
  TieredProgram& program_;
  std::vector<PageState> states_;  // by page
  std::deque<Fault> faults_;       // under way, all of which take as long
  std::vector<NodeTraffic> traffic_;
  std::uint64_t until_sample_ = 0;
  std::uint64_t protected_now_ = 0;  // by this call of the policy
  std::uint64_t scanned_now_ = 0;
  Time next_look_;
  Time busy_until_;              // with what the last look did
  std::uint64_t looks_ = 0;      // that were scheduled, of which the last one counts
  std::uint64_t completed_ = 0;  // accesses of the program
  std::uint64_t completed_at_look_ = 0;
  std::uint32_t starved_looks_ = 0;  // one behind the other, between which there was no time for any
  bool looking_ = false;
  bool counts_answers_ = false;
  bool urgent_ = false;  // what it orders is because of a fault

  // Over the whole run.
  std::uint64_t faulted_ = 0;
  std::uint64_t protected_ = 0;
  std::uint64_t scanned_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t shootdowns_ = 0;
  std::uint64_t promoted_ = 0;  // bytes
  std::uint64_t demoted_ = 0;
  Time taken_;  // from the program's threads
};

}  // namespace cxloom
