// The parameters of what hosts and accelerators have in common: that they make requests.
#pragma once

#include <cstdint>
#include <optional>

#include "base/memory_estimate.hpp"
#include "base/parameters.hpp"
#include "base/units.hpp"
#include "coherence/cache/params.hpp"
#include "component/request_throttle.hpp"
#include "device/io/completer.hpp"
#include "device/requester/core_params.hpp"

namespace cxloom {

/// The least that PCIe gives a completion.
inline constexpr Time kCompletionTimeout{50'000'000};

struct RequesterParams {
  Time process_time{10'000};
  std::uint32_t queue = 64;
  Time issue_interval;
  Time instruction_time;
  std::optional<Time> completion_timeout;
  std::optional<CoreParams> core;
  std::optional<CacheAgentParams> cache;
  bool external_cache = false;
  std::optional<ThrottleParams> throttle;
  AtomicsAt atomics = AtomicsAt::kCache;
  Time io_time = kDefaultIoTime;

  static void estimate(const RequesterParams& params, MemoryEstimate& memory);
  /// Declares these in the schema of a device that derives from them.
  template <class Params>
  static void describe_in(Schema<Params>& schema) {
    schema.field("process_time", &Params::process_time)
        .doc("Time that the requester works on each request before it leaves, in a pipeline.")
        .source("ESF, Table III");
    schema.field("queue", &Params::queue).min(1).max(1U << 24U).doc("Requests in flight at the same time.");
    schema.field("issue_interval", &Params::issue_interval).doc("Least time from one issue to the next.");
    schema.field("instruction_time", &Params::instruction_time)
        .max(Time{1'000'000})
        .doc(
            "Time an instruction takes: a trace's instruction gaps times this pass between its accesses. "
            "Only with a trace.");
    schema.field("core", &Params::core)
        .default_text("none")
        .doc(
            "Out-of-order cores in front, one for each thread: an access is made when its core can make it, "
            "in place of in order.");
    schema.effective(
        "instruction_time", [](const Params& params) { return !params.core.has_value(); },
        "beside a core: set core.cycles_per_instruction");
    schema.field("completion_timeout", &Params::completion_timeout)
        .min(Time{1})
        .default_text(to_text(kCompletionTimeout))
        .doc(
            "Time from the issue of a request until it ends with an error, if it or its answer was lost "
            "where a link or a switch failed. Only beside events that make something fail.")
        .source("PCI Express Base Specification, section 2.8: 50 us to 50 ms by default; the lower end");
    schema.field("cache", &Params::cache)
        .default_text("none")
        .doc(
            "A write-back, write-allocate cache in front of the memory: hits end there, misses fetch a line, "
            "dirty victims are written back.");
    schema.field("external_cache", &Params::external_cache)
        .doc(
            "Whether its cache is outside of the simulation: a program that embeds the system has it, says "
            "what its accesses want of their lines, and answers the snoops of homes.");
    schema.rule(
        "the cache is outside, or of the simulation",
        [](const Params& params) { return !params.external_cache || (!params.cache && !params.core); },
        "external_cache");
    schema.field("throttle", &Params::throttle)
        .default_text("none")
        .doc(
            "Holds requests back to memories that say that they are loaded (`qos` of a memory): each has a "
            "rate of its own. Requests for lines that somebody keeps coherent are not held back.");
    schema
        .choice("atomics", &Params::atomics,
                {{"cache", AtomicsAt::kCache},
                 {"home", AtomicsAt::kHome},
                 {"cache-or-home", AtomicsAt::kCacheOrHome}})
        .doc(
            "Where the atomic operations are made. cache: there, on a line that it has alone. home: by the "
            "memory, which its home asks; the requester gives its own copy up. cache-or-home: in the cache "
            "if that has the line alone, otherwise by the memory. Without a cache the memory makes them.")
        .source("own choice of the default: processors do so with memory that they cache");
    schema.effective(
        "atomics", [](const Params& params) { return params.cache.has_value(); },
        "unless there is a cache: without one the memory makes them");
    describe_io_time(schema, &Params::io_time);
  }
};

}  // namespace cxloom
