// The line at the offset that would have been in time most often: best-offset prefetching (Michaud,
// "Best-Offset Hardware Prefetching", HPCA 2016). An offset is good if, when a line is wanted, the line that
// far before it had already come: then a prefetch made when that one was asked for would have been in time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tags/prefetcher.hpp"

namespace cxloom {

class BestOffsetPrefetcher final : public Prefetcher {
 public:
  struct Params : PrefetcherParams {
    std::optional<std::uint32_t> max_offset;
    std::uint32_t best_score = 31;
    std::uint32_t rounds = 100;
    std::uint32_t confidence = 2;
    std::uint32_t recent = 256;

    static void describe(Schema<Params>& schema);
  };
  BestOffsetPrefetcher(const Params& params, PrefetcherContext& context);

  void accessed(const Trigger& trigger, std::vector<LineAddress>& wanted) override;
  void filled(LineAddress line, bool ahead) override;

  /// In lines; 0: no offset is good enough.
  std::uint64_t offset() const { return offset_; }

 private:
  struct Candidate {
    std::uint64_t offset;
    std::uint32_t score = 0;
  };

  void learn(LineAddress line);
  void end_of_phase();
  /// Lines that were asked for, and with them what lies an offset ahead, and that have come.
  void remember(LineAddress base);
  bool remembers(LineAddress line) const { return recent_[place_of(line)] == line.number() + 1; }
  std::size_t place_of(LineAddress line) const;

  std::uint32_t best_score_;
  std::uint32_t rounds_;
  std::uint32_t confidence_;
  std::vector<Candidate> candidates_;
  std::vector<std::uint64_t> recent_;  // number of the line + 1; 0: none
  std::size_t next_ = 0;               // the candidate to be tried next
  std::uint32_t round_ = 0;
  std::uint64_t offset_ = 1;
};

}  // namespace cxloom
