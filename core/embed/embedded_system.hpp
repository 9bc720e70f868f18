// A simulation as a program that embeds it sees it: from a resolved spec, driven from outside, summed up at
// its end.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "base/value.hpp"
#include "protocol/request.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/stream/block_order.hpp"

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

  /// Runs everything that happens up to and including `limit`; true when the simulation is over. Throws
  /// SimulationError with a diagnosis if it cannot finish.
  bool run_until(Time limit);
  Time next_event_time() const;
  Time now() const;
  /// It is inside of `run_until`: an answer has asked.
  bool advancing() const;

  /// Reads or writes bytes at once, without time passing: for those who need values.
  void read(Address address, std::span<std::byte> bytes) const;
  void write(Address address, std::span<const std::byte> bytes);

  /// As `summary.json` has it, without `cost`.
  Value summary() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cxloom
