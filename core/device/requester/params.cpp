#include "device/requester/params.hpp"

#include <algorithm>
#include <string>

#include "base/memory_estimate.hpp"
#include "base/schema.hpp"
#include "device/requester/core_cluster.hpp"
#include "device/requester/request_queue.hpp"

namespace cxloom {

namespace {

void describe_combining(Schema<RequesterParams>& schema) {
  schema.field("combining_buffers", &RequesterParams::combining_buffers)
      .min(1)
      .max(1024)
      .doc(
          "Buffers, of a line each, for stores that go past the caches: non-temporal ones, and those to "
          "memory of type wc. One is free again when memory has acknowledged its line.")
      .source(
          "10 to 12 line fill buffers of Intel's cores up to Ice Lake, which combine such stores; that one "
          "is kept until the acknowledgement is assumed");
}

}  // namespace

RequesterParams::RequesterParams() = default;
RequesterParams::RequesterParams(const RequesterParams& other) = default;
RequesterParams& RequesterParams::operator=(const RequesterParams& other) = default;
RequesterParams::~RequesterParams() = default;

void RequesterParams::estimate(const RequesterParams& params, MemoryEstimate& memory) {
  const std::uint64_t in_flight = std::min<std::uint64_t>(params.queue, memory.accesses());
  memory.add("queue", std::to_string(params.queue), 1, RequestQueue::bytes(params.queue, in_flight));
  if (params.core) memory.add("core", "1", 1, CoreCluster::bytes());
  if (params.cache)
    memory.add_below("cache",
                     [&](MemoryEstimate& inside) { CacheAgentParams::estimate(*params.cache, inside); });
}

void RequesterParams::describe_in(Schema<RequesterParams> schema) {
  schema.field("process_time", &RequesterParams::process_time)
      .doc("Time that the requester works on each request before it leaves, in a pipeline.")
      .source("ESF, Table III");
  schema.field("queue", &RequesterParams::queue)
      .min(1)
      .max(1U << 24U)
      .doc("Requests in flight at the same time.");
  schema.field("issue_interval", &RequesterParams::issue_interval)
      .doc("Least time from one issue to the next.");
  schema.field("instruction_time", &RequesterParams::instruction_time)
      .max(Time{1'000'000})
      .doc(
          "Time an instruction takes: a trace's instruction gaps times this pass between its accesses. "
          "Only with a trace.");
  schema.field("core", &RequesterParams::core)
      .default_text("none")
      .doc(
          "Out-of-order cores in front, one for each thread: an access is made when its core can make it, "
          "in place of in order.");
  schema.effective(
      "instruction_time", [](const RequesterParams& params) { return !params.core.has_value(); },
      "beside a core: set core.cycles_per_instruction");
  schema.field("completion_timeout", &RequesterParams::completion_timeout)
      .min(Time{1})
      .default_text(to_text(kCompletionTimeout))
      .doc(
          "Time from the issue of a request until it ends with an error, if it or its answer was lost "
          "where a link or a switch failed. Only beside events that make something fail.")
      .source("PCI Express Base Specification, section 2.8: 50 us to 50 ms by default; the lower end");
  schema.field("cache", &RequesterParams::cache)
      .default_text("none")
      .doc(
          "A write-back, write-allocate cache in front of the memory: hits end there, misses fetch a line, "
          "dirty victims are written back.");
  schema.field("external_cache", &RequesterParams::external_cache)
      .doc(
          "Whether its cache is outside of the simulation: a program that embeds the system has it, says "
          "what its accesses want of their lines, and answers the snoops of homes.");
  schema.rule(
      "the cache is outside, or of the simulation",
      [](const RequesterParams& params) { return !params.external_cache || (!params.cache && !params.core); },
      "external_cache");
  schema.field("throttle", &RequesterParams::throttle)
      .default_text("none")
      .doc(
          "Holds requests back to memories that say that they are loaded (`qos` of a memory): each has a "
          "rate of its own. Requests for lines that somebody keeps coherent are not held back.");
  describe_combining(schema);
  schema
      .choice("atomics", &RequesterParams::atomics,
              {{"cache", AtomicsAt::kCache},
               {"home", AtomicsAt::kHome},
               {"cache-or-home", AtomicsAt::kCacheOrHome}})
      .doc(
          "Where the atomic operations are made. cache: there, on a line that it has alone. home: by the "
          "memory, which its home asks; the requester gives its own copy up. cache-or-home: in the cache "
          "if that has the line alone, otherwise by the memory. Without a cache the memory makes them.")
      .source("own choice of the default: processors do so with memory that they cache");
  schema.effective(
      "atomics", [](const RequesterParams& params) { return params.cache.has_value(); },
      "unless there is a cache: without one the memory makes them");
  describe_io_time(schema, &RequesterParams::io_time);
}

}  // namespace cxloom
