// Asks for lines ahead of their use: what a prefetcher wants of them, through registers of its own, and
// follows each until it is used for the first time or leaves. docs/model/prefetch.md has its rules.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/flat_table.hpp"
#include "base/measure.hpp"
#include "base/units.hpp"
#include "component/endpoint.hpp"
#include "kernel/pool.hpp"
#include "kernel/windowed.hpp"
#include "protocol/request.hpp"
#include "tags/prefetcher.hpp"

namespace cxloom {

/// Counts of lines that a cache asks for ahead of their use, and their measures.
struct PrefetchCounts {
  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();

  std::uint64_t issued = 0;
  std::uint64_t useful = 0;
  std::uint64_t late = 0;
  std::uint64_t useless = 0;
  std::uint64_t failed = 0;
  std::uint64_t dropped = 0;
};

class PrefetchUnit {
 public:
  /// The cache, as it sees it.
  class Cache {
   public:
    /// The line is in the cache, or something is under way for it.
    virtual bool concerns(LineAddress line) const = 0;
    /// Asks for a line that does not concern it, by a read of that line. `came` ends it.
    virtual void fetch(Request& request) = 0;

   protected:
    ~Cache() = default;
  };

  /// One with the prefetcher that a cache names, whose counts are measured; null: it names none.
  static std::unique_ptr<PrefetchUnit> make(const KindSpec& prefetcher, const CacheKinds& kinds,
                                            Endpoint& endpoint, Cache& cache);

  PrefetchUnit(std::unique_ptr<Prefetcher> prefetcher, Endpoint& endpoint, Cache& cache);

  /// An access has been looked up in all levels at `looked_up`; `hit`: its line concerned the cache before
  /// it. Asks for what that makes worth asking for.
  void accessed(const Request& request, bool hit, Time looked_up);
  /// An access uses the line, if it came ahead or is on its way so. True: for the first time.
  bool used(LineAddress line);
  /// A line has come into the cache because of an access.
  void filled(LineAddress line) { prefetcher_->filled(line, false); }
  /// The line of a read that it had made has come into the cache, or `request.failed`. The request ends.
  void came(Request& request);
  /// A line is in the cache no more.
  void left(LineAddress line);
  /// It came, or is on its way, ahead of its use, and nobody has used it yet.
  bool is_ahead(LineAddress line) const { return ahead_.find(key_of(line)) != nullptr; }

  /// Lines that have come ahead of their use, or are on their way, and that nobody has used yet.
  std::uint64_t unused() const { return ahead_.used(); }
  /// Reads without an answer.
  std::uint64_t under_way() const { return requests_.live(); }

  Windowed<PrefetchCounts>& counts() { return counts_; }
  const Windowed<PrefetchCounts>& counts() const { return counts_; }

 private:
  /// A line that nobody has used yet.
  struct Ahead {
    std::uint64_t line = 0;  // its number + 1
    bool here = false;
    std::uint64_t key() const { return line; }
  };

  static std::uint64_t key_of(LineAddress line) { return line.number() + 1; }
  bool worth_asking(LineAddress line, LineAddress trigger) const;
  void ask(LineAddress line, const Request& trigger, Time looked_up);

  std::unique_ptr<Prefetcher> prefetcher_;
  const Endpoint& endpoint_;
  Cache& cache_;
  FlatTable<Ahead> ahead_;
  Pool<Request> requests_;
  std::vector<LineAddress> wanted_;
  Windowed<PrefetchCounts> counts_;
};

}  // namespace cxloom
