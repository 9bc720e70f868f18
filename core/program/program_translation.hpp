// The TLBs of the cores that run a program, and their counts.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "tags/tlb.hpp"

namespace cxloom {

/// Counts over all threads.
struct TranslationCounts {
  std::uint64_t misses = 0;  ///< of the first level of the TLB
  std::uint64_t walks = 0;   ///< misses of the second level, too
  std::uint64_t loads = 0;   ///< entries of page tables that were read
  std::uint64_t cycles = 0;  ///< in which a thread had nothing to dispatch because of walks, memory aside
};

/// Threads that share a core share its TLB. What is counted is what happens while the run is recorded.
class ProgramTranslation {
 public:
  ProgramTranslation(const TlbParams& params, const VictimRegistry& policies)
      : params_(params), policies_(policies) {}

  const TlbParams& params() const { return params_; }
  /// The TLB of a core; any address that stays where it is may name the core.
  Tlb& tlb_of(const void* core);

  /// A first level missed, and so many entries of page tables are read for that.
  void count_miss(unsigned loads) {
    if (!recording_) return;
    ++counts_.misses;
    counts_.walks += loads > 0 ? 1 : 0;
    counts_.loads += loads;
  }
  /// `walked` are the cycles up to now in which threads waited for walks, here and below.
  void set_recording(bool recording, std::uint64_t walked);
  /// The counts while recording.
  TranslationCounts recorded(std::uint64_t walked) const;

 private:
  TlbParams params_;
  const VictimRegistry& policies_;
  std::unordered_map<const void*, std::unique_ptr<Tlb>> tlbs_;
  TranslationCounts counts_;        // with the cycles of earlier recordings
  std::uint64_t walked_start_ = 0;  // of this time of recording
  bool recording_ = false;
};

}  // namespace cxloom
