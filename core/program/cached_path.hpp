// The instructions of a block one behind the other, as long as what they access is in the first cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "program/core_pipeline.hpp"
#include "program/dependence.hpp"
#include "program/feed/block.hpp"
#include "program/feed/program_sink.hpp"
#include "program/store_places.hpp"
#include "program/thread_translation.hpp"
#include "workload/trace/capture_filter.hpp"

namespace cxloom {

/// The time of a load whose address is known in that cycle: its line may be under way from a further level.
inline std::uint32_t load_cycles(const CorePipeline& pace, const CaptureFilter::Delivery& found,
                                 std::uint64_t known) {
  const std::uint32_t load = pace.load_cycles(found.level);
  if (found.arrives > known + load) [[unlikely]]
    return static_cast<std::uint32_t>(std::min(found.arrives - known, pace.longest_load()));
  return load;
}

/// What is made of `others` and of what a load delivers, whose address and page are there with `placed`.
[[gnu::always_inline]] inline Dependence loaded(Dependence others, Dependence placed,
                                                const ProgramAccess& access,
                                                const CaptureFilter::Delivery& found,
                                                const CorePipeline& pace, const DependenceTracker& values) {
  const Dependence delivered = later(others, Dependence(found.record));
  const Dependence stored = values.stored(access.address, access.size).after(pace.load_cycles(0));
  return later(delivered, later(placed.after(load_cycles(pace, found, placed.known)), stored));
}

/// How far a thread has come in a block.
struct BlockProgress {
  std::size_t number = 0;               ///< of the next instruction
  const ProgramAccess* next = nullptr;  ///< the accesses from this one on are of that and of later ones
  const ProgramAccess* end = nullptr;
  Dependence needs;    ///< of the last instruction
  bool reads = false;  ///< that has read memory
};

/// Accesses of instructions to memory.
struct AccessCounts {
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
};

/// Does what `ProgramCapture` does with any instruction, for those that most are: of few registers, and with
/// one access at most, whose line and page are where they were lately. It does nothing about the first other
/// one. The pace of the thread is in registers meanwhile. Its parts are part of their caller, and none copies
/// in wide words what was just written in narrow ones: a processor waits for that.
class CachedPath {
 public:
  /// The path of one thread; `translation` is null if its core has no TLB.
  CachedPath(CaptureFilter& filter, CaptureFilter::Core& caches, DependenceTracker& values,
             StorePlaces& places, ThreadTranslation* translation, AccessCounts& counts)
      : filter_(filter),
        caches_(caches),
        values_(values),
        places_(places),
        translation_(translation),
        counts_(counts) {}

  /// Goes through a block from where the thread is, `timed` if it has a core; gives how far it came.
  template <bool timed>
  [[gnu::always_inline]] BlockProgress go_on(const ProgramThread& thread, const ProgramBlock& block,
                                             CorePipeline& of, BlockProgress at) {
    CorePipeline::Front pace(of);
    const std::size_t size = block.registers.size();
    while (at.number < size) {
      const FewRegisters* few = &block.registers[at.number];
      const std::size_t accessing = at.next == at.end ? size : at.next->instruction;
      if (accessing > at.number) {
        const std::size_t count = std::min<std::size_t>(few->alike, accessing - at.number);
        if (count == 0) break;
        at.needs = compute<timed>({few, count}, pace);
        at.reads = false;
        at.number += count;
        continue;
      }
      CaptureFilter::Delivery found;
      if (!few->all || accessing < at.number || !hits(thread, at, found)) break;
      access<timed>(*few, found, of, pace, at);
      ++at.number;
    }
    pace.put_back();
    return at;
  }

 private:
  /// Instructions that access nothing; gives what the last one waits for.
  template <bool timed>
  [[gnu::always_inline]] Dependence compute(std::span<const FewRegisters> instructions,
                                            CorePipeline::Front& pace) {
    Dependence needs;
    for (const FewRegisters& few : instructions) {
      if constexpr (timed) pace.dispatch();
      needs = values_.of(few.data_reads).not_before(pace.now());
      const Dependence done = needs.after(kLatencies[static_cast<std::size_t>(few.kind)]);
      values_.set(few.data_writes, done);
      if constexpr (timed) pace.retire(done.known);
    }
    return needs;
  }

  /// An instruction with one access, which has found its line.
  template <bool timed>
  [[gnu::always_inline]] void access(const FewRegisters& few, const CaptureFilter::Delivery& found,
                                     const CorePipeline& of, CorePipeline::Front& pace, BlockProgress& at) {
    if constexpr (timed) pace.dispatch();
    const ProgramAccess& access = *at.next++;
    Dependence result = values_.of(few.data_reads).not_before(pace.now());
    const Dependence address = values_.of(few.address_reads).not_before(pace.now());
    if (access.reads) {
      ++counts_.loads;
      result = loaded(result, address, access, found, of, values_);
    } else {
      ++counts_.stores;
      places_.enter();
      values_.store(access.address, access.size, result);
    }
    at.needs = result;
    at.reads = access.reads;
    // A value that is only read from memory is there with the data.
    const bool computes = !access.reads || few.kind != InstructionClass::kMove;
    const Dependence done = result.after(computes ? kLatencies[static_cast<std::size_t>(few.kind)] : 0);
    values_.set(few.data_writes, done);
    values_.set({few.pointer_write, few.pointer_write}, address.after(1));
    if constexpr (timed) pace.retire(std::max(done.known, address.known));
  }

  /// Whether the instruction has one access, to a line and a page that are where they were lately.
  [[gnu::always_inline]] bool hits(const ProgramThread& thread, const BlockProgress& at,
                                   CaptureFilter::Delivery& found) {
    const ProgramAccess& access = *at.next;
    if ((at.next + 1 != at.end && at.next[1].instruction == at.number) || access.reads == access.writes ||
        (access.writes && places_.waits()))
      return false;
    if (translation_ != nullptr &&
        (translation_->any_under_way() || !translation_->has(among_all(thread, access.address), access.size)))
      return false;
    return filter_.hits(caches_, Address{place_of(thread, access)}, access.size,
                        access.writes ? AccessKind::kWrite : AccessKind::kRead, found);
  }

  CaptureFilter& filter_;
  CaptureFilter::Core& caches_;
  DependenceTracker& values_;
  StorePlaces& places_;
  ThreadTranslation* translation_;
  AccessCounts& counts_;
};

}  // namespace cxloom
