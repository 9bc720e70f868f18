// Streams in one direction: once accesses have gone up or down in a page, the lines before them are asked
// for, some at each access, up to a distance. It is what the second level of Intel's cores has.
#pragma once

#include <cstdint>
#include <vector>

#include "tags/prefetcher.hpp"

namespace cxloom {

class StreamerPrefetcher final : public Prefetcher {
 public:
  struct Params : PrefetcherParams {
    std::uint32_t distance = 20;
    std::uint32_t degree = 2;
    std::uint32_t confidence = 2;
    std::uint32_t streams = 32;

    static void describe(Schema<Params>& schema);
  };
  StreamerPrefetcher(const Params& params, PrefetcherContext& context);

  void accessed(const Trigger& trigger, std::vector<LineAddress>& wanted) override;

 private:
  /// What one thread does in one page.
  struct Stream {
    std::uint64_t page = 0;
    std::uint32_t thread = 0;
    std::uint32_t steps = 0;  // in its direction, in a row
    bool up = true;
    std::uint64_t last = 0;       // line
    std::uint64_t ahead = 0;      // the furthest line that was asked for
    std::uint64_t used_last = 0;  // 0: it is free
  };

  Stream* find(std::uint64_t page, std::uint32_t thread);

  std::uint32_t distance_;
  std::uint32_t degree_;
  std::uint32_t confidence_;
  std::uint64_t accesses_ = 0;
  std::vector<Stream> streams_;
};

}  // namespace cxloom
