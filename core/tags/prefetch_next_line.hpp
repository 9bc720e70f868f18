// The lines behind one that is new: tagged next-line prefetching (Smith, "Cache Memories", ACM Computing
// Surveys 1982).
#pragma once

#include <cstdint>
#include <vector>

#include "tags/prefetcher_schema.hpp"

namespace cxloom {

class NextLinePrefetcher final : public Prefetcher {
 public:
  struct Params : PrefetcherParams {
    std::uint32_t degree = 1;

    static void describe(Schema<Params>& schema) {
      schema.doc(
          "The lines behind one that missed, and behind one that was asked for ahead when it is used for the "
          "first time.");
      describe_prefetcher(schema);
      schema.field("degree", &Params::degree)
          .min(1)
          .max(1024)
          .doc("How many lines behind it are asked for, no further than the page.");
    }
  };
  NextLinePrefetcher(const Params& params, PrefetcherContext& /*context*/)
      : Prefetcher(params), degree_(params.degree) {}

  void accessed(const Trigger& trigger, std::vector<LineAddress>& wanted) override {
    if (!trigger.is_new()) return;
    LineAddress line = trigger.line;
    for (std::uint32_t i = 0; i < degree_; ++i) wanted.push_back(line = line.next());
  }

 private:
  std::uint32_t degree_;
};

}  // namespace cxloom
