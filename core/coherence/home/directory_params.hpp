// The parameters of every home of coherent lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "coherence/home/snoop_filter.hpp"

namespace cxloom {

struct DirectoryParams {
  Time lookup_time{12'000};
  Time lookup_interval;
  std::optional<std::uint32_t> transactions;
  std::optional<Time> answer_timeout;

  static constexpr Time kAnswerTimeout{50'000'000};

  /// The memory that its filter takes.
  static void estimate_filter(const LineFilterParams& filter, MemoryEstimate& memory) {
    constexpr std::uint32_t kPeers = 63;  // how many caches there are is not known yet: a word of them
    memory.add_below("filter", [&](MemoryEstimate& inside) {
      inside.add("entries", std::to_string(filter.entries), 1, SnoopFilter::bytes(filter, kPeers));
    });
  }
  /// Declares these parameters, and the `filter` of those that derive from them, in their schema.
  template <class Params>
  static void describe_in(Schema<Params>& schema) {
    schema.field("filter", &Params::filter).doc("Its snoop filter.");
    describe_lookups(schema);
    schema.field("transactions", &Params::transactions)
        .min(1)
        .max(1U << 24U)
        .default_text("unlimited")
        .doc(
            "Requests in the agent at the same time, from their lookup to their answer, or until memory has "
            "the data that a home agent calls for; more wait in the port's receive buffer and hold their "
            "credits. Write-backs need no place: what snoops wait for must come in.");
  }
  /// Declares how long it waits for an answer that was lost.
  template <class Params>
  static void describe_timeout(Schema<Params>& schema) {
    schema.field("answer_timeout", &Params::answer_timeout)
        .min(Time{1})
        .default_text(to_text(kAnswerTimeout))
        .doc(
            "Time from a snoop until the agent goes on without its answer, if it or the answer was lost "
            "where a link or a switch failed, or without the data that it has called for. Also the time "
            "from the loss of an access to memory of another device, or of its answer, until the agent "
            "gives it up. Only beside events that make something fail.")
        .source("own estimate: the least completion timeout that PCIe has by default");
  }
  template <class Params>
  static void describe_lookups(Schema<Params>& schema) {
    schema.field("lookup_time", &Params::lookup_time)
        .doc("Time of one lookup of the filter, in a pipeline.")
        .source("own choice: that of a cache access in ESF, Table III, which gives none for the filter");
    schema.field("lookup_interval", &Params::lookup_interval)
        .doc("Least time from one lookup of the filter to the next.");
  }
};

}  // namespace cxloom
