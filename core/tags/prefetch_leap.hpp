// The stride that most of the latest accesses have, as far ahead as it has been worth it: Leap (Al Maruf and
// Chowdhury, "Effectively Prefetching Remote Memory with Leap", USENIX ATC 2020), made for pages behind a
// slow medium.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tags/prefetcher.hpp"

namespace cxloom {

/// Keeps the distances between the latest new accesses of each thread, and looks for one that the majority of
/// the last few have; if there is none, of twice as many, up to all. A window says how many strides are asked
/// for at a miss: as many as were useful since the last time and one more, rounded up to a power of two; half
/// of it if they were fewer.
class LeapPrefetcher final : public Prefetcher {
 public:
  struct Params : PrefetcherParams {
    std::uint32_t history = 32;
    std::uint32_t split = 2;
    std::uint32_t window = 8;

    static void describe(Schema<Params>& schema);
  };
  LeapPrefetcher(const Params& params, PrefetcherContext& context);

  void accessed(const Trigger& trigger, std::vector<LineAddress>& wanted) override;

 private:
  struct Stream {
    std::uint32_t thread = 0;
    std::uint64_t last = 0;
    std::vector<std::int64_t> strides;  // a ring
    std::size_t newest = 0;
    std::uint64_t seen = 0;    // accesses
    std::int64_t trend = 0;    // the last one found; 0: none yet
    std::uint32_t useful = 0;  // first uses since lines were asked for
    std::uint32_t window = 0;
  };

  Stream& stream_of(std::uint32_t thread);
  void record(Stream& stream, std::uint64_t line) const;
  std::optional<std::int64_t> find_trend(const Stream& stream) const;
  std::optional<std::int64_t> majority(const Stream& stream, std::size_t count) const;
  std::uint32_t next_window(Stream& stream, bool follows) const;

  std::size_t history_;
  std::size_t first_;  // strides that are looked at first
  std::uint32_t most_;
  std::vector<Stream> streams_;
};

}  // namespace cxloom
