// The part of a device that serves memory: controller and media. Memory expanders and accelerators have one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/schema.hpp"
#include "kernel/component.hpp"
#include "kernel/distribution.hpp"
#include "kernel/wait_list.hpp"
#include "memory/media.hpp"
#include "protocol/address_map.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

/// When the receive buffer of a request is free, and its credit goes back.
enum class CreditRelease : std::uint8_t {
  kDrain,       ///< when the controller takes the request
  kCompletion,  ///< when the request is answered
};

struct MemoryControllerParams {
  static constexpr Bytes kCapacity{16ULL << 30U};  ///< where neither it nor the media say

  std::optional<Bytes> capacity;
  Time controller_time{40'000};
  std::optional<std::uint32_t> queue;
  CreditRelease credit_release = CreditRelease::kDrain;
  Kinded media{"fixed", Value(Value::Map{})};

  static void describe(Schema<MemoryControllerParams>& schema) {
    schema.doc("A memory controller and its media.");
    describe_in(schema);
  }
  /// Declares these parameters in the schema of a device that derives from them.
  template <class Params>
  static void describe_in(Schema<Params>& schema) {
    schema.field("capacity", &Params::capacity)
        .min(Bytes{4096})
        .default_text("that of the media if they have one (dram), otherwise " + to_text(kCapacity))
        .doc("Bytes of memory. Media of more bytes are used in part; media of fewer are refused.");
    schema.field("controller_time", &Params::controller_time)
        .doc("Time that the controller works on each request, in a pipeline.")
        .source("ESF, Table III");
    schema.field("queue", &Params::queue)
        .min(1)
        .default_text("unlimited")
        .doc(
            "Requests in the controller and the media at the same time; more wait in the port's receive "
            "buffer and "
            "hold their credits.");
    schema
        .choice("credit_release", &Params::credit_release,
                {{"drain", CreditRelease::kDrain}, {"completion", CreditRelease::kCompletion}})
        .doc(
            "When a request's receive buffer is free and its link credit goes back: when the controller "
            "takes the "
            "request, or only when it is answered.")
        .source("CXL 3.x leaves it to the device; a 48-entry device of the second kind stays near 31 GB/s");
    schema.field("media", &Params::media).category("media").doc("What stores the bytes.");
  }
};

/// Answers requests: `reply` gets each message, turned into its response, with the time from which it may leave.
class MemoryController final : public EventHandler, public MediaClient, public Waiter {
 public:
  /// The device around it.
  class Device {
   public:
    virtual void reply(Message& message, Time ready) = 0;
    /// The request is out of the receive buffer from `at` on.
    virtual void admitted(Message& message, Time at) = 0;

   protected:
    ~Device() = default;
  };

  MemoryController(const MemoryControllerParams& params, const MediaRegistry& media_kinds, Kernel& kernel,
                   const Component& owner, Device& device, std::uint64_t seed);

  void set_address_map(const AddressMap& map) { map_ = &map; }
  Bytes capacity() const { return capacity_; }
  Media& media() { return *media_; }
  /// Neither its queue nor the media bound what it serves at once.
  bool unlimited() const { return !queue_limit_ && media_->unlimited(); }

  void serve(Message& message);
  void media_done(Message& message, Time at) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  void open_window(Time now);
  void close_window(Time now);
  void report(MeasureSink& sink) const;
  static std::vector<MeasureInfo> measures();
  std::string activity() const;

 private:
  void admit(Message& message);

  Kernel& kernel_;
  EventSource source_;
  Device& device_;
  const AddressMap* map_ = nullptr;
  Bytes capacity_;
  Time controller_time_;
  std::optional<std::uint32_t> queue_limit_;
  CreditRelease credit_release_;
  std::unique_ptr<Media> media_;
  std::uint32_t admitted_ = 0;  // only with a limit: otherwise nobody needs to know when one leaves
  MessageQueue outside_;        // in the receive buffer, waiting for a slot
  std::size_t outside_count_ = 0;
  WaitList slots_;
  BookedLevel in_service_;
};

}  // namespace cxloom
