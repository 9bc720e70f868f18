// Streams of equal strides: what follows an access that is as far from the one before it as that one was from
// its own predecessor (Baer and Chen, "An effective on-chip preloading scheme to reduce data access penalty",
// Supercomputing 1991). Accesses have no program counter, so a stream is what one thread does in one page.
#pragma once

#include <cstdint>
#include <vector>

#include "tags/prefetcher.hpp"

namespace cxloom {

class StridePrefetcher final : public Prefetcher {
 public:
  struct Params : PrefetcherParams {
    std::uint32_t degree = 2;
    std::uint32_t confidence = 2;
    std::uint32_t streams = 32;

    static void describe(Schema<Params>& schema);
  };
  StridePrefetcher(const Params& params, PrefetcherContext& context);

  void accessed(const Trigger& trigger, std::vector<LineAddress>& wanted) override;

 private:
  /// What one thread does in one page.
  struct Stream {
    std::uint64_t page = 0;
    std::uint32_t thread = 0;
    std::uint32_t repeats = 0;  // how often its stride came in a row
    LineAddress last;
    std::int64_t stride = 0;      // in lines; 0: it has none yet
    std::uint64_t used_last = 0;  // 0: it is free
  };

  Stream* find(std::uint64_t page, std::uint32_t thread);
  /// A free stream, or the one that nothing has been added to for longest.
  Stream& replaceable();

  std::uint32_t degree_;
  std::uint32_t confidence_;
  std::uint64_t accesses_ = 0;
  std::vector<Stream> streams_;
};

}  // namespace cxloom
