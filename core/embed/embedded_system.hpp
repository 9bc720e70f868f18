// A simulation as a program that embeds it sees it: from a resolved spec, driven from outside, summed up at
// its end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "base/value.hpp"
#include "coherence/external/agent.hpp"
#include "memory/external/outside_medium.hpp"
#include "protocol/request.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/stream/block_order.hpp"
#include "workload/stream/tagged_answers.hpp"

namespace cxloom {

/// A refused call throws InputError, and leaves everything as it was.
class EmbeddedSystem {
 public:
  /// Told of the answer to one access, with the request's account and the time.
  using Answered = std::function<void(const Request& request, Time now)>;

  /// Told of the end of a transfer: whether some of it was answered without data, and the time.
  using Moved = std::function<void(bool failed, Time now)>;

  /// `json` is a resolved spec, as `cxloom resolve` prints it; `plugins` are libraries with kinds that it
  /// names. Throws InputError with the path of what is wrong.
  explicit EmbeddedSystem(std::string_view json, const std::vector<std::string>& plugins = {});
  EmbeddedSystem(const EmbeddedSystem&) = delete;
  EmbeddedSystem& operator=(const EmbeddedSystem&) = delete;
  ~EmbeddedSystem();

  /// Lets the outside give accesses to a host or accelerator that has no workload; to be called before it
  /// runs.
  void drive(const std::string& device);
  /// Gives one access to a device that is driven from outside, now; `answered` is called at its completion.
  void inject(const std::string& device, const Access& access, Answered answered = {});
  /// Gives a block to move to a device that is driven from outside, now; `moved` is called at its end. A
  /// device with a DMA engine copies it between its own memory and system memory. Another without cores reads
  /// it line by line, or writes it, or copies it within system memory: each line is written once it is there,
  /// and its place in its line of 64 B is that which it came from.
  void transfer(const std::string& device, const BlockOrder& order, Moved moved = {});
  /// No more accesses will come from outside, but for those of answers to others.
  void close_feeds();

  // For many accesses: without names, closures and memory to allocate.

  /// An access that is given with a tag.
  struct Given {
    Access access;
    bool of_cache = false;  ///< only a cache has such an access
    NodeId memory;          ///< the address is an offset in it; NodeId{}: it is one of the address map
    std::uint64_t tag = 0;
    Time ready;  ///< when it becomes ready, now or later; Time{}: now
  };
  /// Its number.
  NodeId device(const std::string& name) const;
  /// The answers to what a device is given go to `answers` from now on; it is driven from now on, if it is
  /// not already.
  void tell_answers(NodeId device, TaggedAnswers& answers);
  /// Gives one access to a device whose answers are told.
  void give(NodeId device, const Given& given);

  // A medium outside of the simulation.

  /// The medium of a memory is `outside` from now on: it is told of each access when it begins, and says when
  /// it is done. To be called before the system runs. The controller's places bound how many there are.
  void put_medium_outside(NodeId memory, OutsideMedium& outside);
  /// An access to it is done at `at`, now or later; Time{}: now.
  void medium_done(NodeId memory, std::uint64_t number, Time at);
  /// What of an access the outside may ask for: the number of its requester, and the tag that it was given
  /// with.
  struct Cause {
    NodeId requester;
    std::optional<std::uint64_t> tag;  ///< none: it was not given with one, or a cache or a home asks for it
  };
  Cause cause_of(const Message& message) const;

  // A cache outside of the simulation, of a device with `external_cache`.

  /// The cache is `outside` from now on: it is told of snoops, and answers them. To be called before the
  /// system runs. What homes have granted it can be asked of what is returned.
  const ExternalCache& put_cache_outside(NodeId device, OutsideCache& outside);
  /// It held the line of a snoop so. Returns what it holds now.
  LineState snoop_answered(NodeId device, std::uint64_t number, LineState held);

  /// No more accesses come, but for those of answers to others: runs to the end. Throws InputError if a
  /// medium outside still has accesses then, or a cache outside snoops.
  void finish();

  /// Runs everything that happens up to and including `limit`; true when the simulation is over. Throws
  /// SimulationError with a diagnosis if it cannot finish.
  bool run_until(Time limit);
  Time next_event_time() const;
  /// No answer comes before this time, as things are: later than the next event, and never later than the
  /// next answer. Time::max(): none comes until more is given.
  Time next_call();
  Time now() const;
  /// It is inside of `run_until`: an answer has asked.
  bool advancing() const;

  /// Reads or writes bytes at once, without time passing: for those who need values.
  void read(Address address, std::span<std::byte> bytes) const;
  void write(Address address, std::span<const std::byte> bytes);

  /// The latency of an access where nothing else is under way: in a second system of the same spec, which is
  /// built for the first of them. What media and caches remember they remember of these accesses.
  Time estimate(NodeId device, const Given& given);

  /// The measured window ends now and the next one begins: what is measured up to now is what `summary` and
  /// `measure` give until another one ends, or the simulation does.
  void new_window();
  /// As `summary.json` has it, without `cost`.
  Value summary() const;
  /// A number of the summary, by its keys with dots between them: "per_memory.mem0.reads".
  double measure(std::string_view path) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cxloom
