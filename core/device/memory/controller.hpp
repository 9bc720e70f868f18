// The agent that serves memory: controller and media. Memory expanders and accelerators have one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/memory_estimate.hpp"
#include "base/schema.hpp"
#include "component/endpoint.hpp"
#include "component/memory_front.hpp"
#include "device/context/buffered_writes.hpp"
#include "device/context/context.hpp"
#include "device/memory/dynamic_capacity.hpp"
#include "device/memory/logical_devices.hpp"
#include "kernel/distribution.hpp"
#include "kernel/pool.hpp"
#include "kernel/wait_list.hpp"
#include "kernel/windowed.hpp"
#include "memory/media/context.hpp"
#include "memory/media/memory_owner.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class AtomicUnit;
class LineVersions;
class Media;

/// When the receive buffer of a request is free, and its credit goes back.
enum class CreditRelease : std::uint8_t {
  kDrain,       ///< when the controller takes the request
  kCompletion,  ///< when the request is answered
};

/// From how many requests on a memory, or its logical device, says that it is loaded.
struct DeviceLoadParams {
  std::uint32_t optimal = 1;
  std::uint32_t moderate = 0;
  std::uint32_t severe = 0;

  static void describe(Schema<DeviceLoadParams>& schema);
};

struct MemoryControllerParams {
  static constexpr std::uint32_t kLargestBuffer = 65'536;
  static constexpr Bytes kCapacity{16ULL << 30U};  ///< where neither it nor the media say

  std::optional<Bytes> capacity;
  Time controller_time{40'000};
  std::optional<std::uint32_t> queue;
  std::optional<std::uint32_t> read_buffer;
  std::optional<std::uint32_t> write_buffer;
  bool posted_writes = false;
  CreditRelease credit_release = CreditRelease::kDrain;
  Time atomic_time{5'000};
  KindSpec media{"fixed", Value(Value::Map{})};
  // Only where a device declares them:
  std::optional<DeviceLoadParams> qos;
  std::vector<LogicalDeviceParams> logical_devices;

  /// Reads and writes have places of their own.
  bool apart() const { return read_buffer || write_buffer; }

  static void describe(Schema<MemoryControllerParams>& schema) {
    schema.doc("A memory controller and its media.");
    describe_in(schema);
  }
  static void estimate(const MemoryControllerParams& params, MemoryEstimate& memory) {
    memory.add_kind("media", params.media);
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
            "buffer and hold their credits.");
    schema.field("read_buffer", &Params::read_buffer)
        .min(1)
        .max(kLargestBuffer)
        .default_text("unlimited")
        .doc(
            "Reads in the controller and the media at the same time, apart from writes (`queue` counts "
            "both); more wait in the port's receive buffer and hold their credits.");
    schema.field("write_buffer", &Params::write_buffer)
        .min(1)
        .max(kLargestBuffer)
        .default_text("unlimited")
        .doc("The same for writes. A write has its place until the media say that it is done.");
    schema.field("posted_writes", &Params::posted_writes)
        .doc(
            "Whether a write is answered once the controller has it in `write_buffer`, and not only when the "
            "media say that it is done. A read of what is in the buffer is answered from there.");
    schema.rule(
        "queue counts reads and writes together, read_buffer and write_buffer apart: one or the other",
        [](const Params& params) { return !params.queue || !params.apart(); }, "queue");
    schema.rule(
        "posted_writes need a write_buffer, in which they wait for the media",
        [](const Params& params) { return !params.posted_writes || params.write_buffer; }, "posted_writes");
    schema
        .choice("credit_release", &Params::credit_release,
                {{"drain", CreditRelease::kDrain}, {"completion", CreditRelease::kCompletion}})
        .doc(
            "When a request's receive buffer is free and its link credit goes back: when the controller "
            "takes the request, or only when it is answered.")
        .source("CXL 3.x leaves it to the device; a 48-entry device of the second kind stays near 31 GB/s");
    schema.field("atomic_time", &Params::atomic_time)
        .doc(
            "Time of an atomic operation in the controller, between the read of its bytes and the write. "
            "Other accesses to the line wait from the read on until the write is done.")
        .source("own choice: that of a cache");
    schema.field("media", &Params::media).category("media").doc("What stores the bytes.");
  }
};

struct ControllerCounts {
  std::uint64_t buffer_hits = 0;
  std::uint64_t extent_errors = 0;
  std::uint64_t loads = 0;    ///< sum of those that answers reported
  std::uint64_t answers = 0;  ///< their number
};

class alignas(64) MemoryController final : public Agent,
                                           public MemoryOwner,
                                           public DynamicMemory,
                                           public MediaClient,
                                           private LogicalDeviceServer {
 public:
  /// Joins the device and takes the requests that come to it.
  /// Without `takes_requests` another agent of the device takes them, and hands them on (`put_behind`).
  MemoryController(const MemoryControllerParams& params, Endpoint& endpoint, const DeviceContext& context,
                   bool takes_requests = true);
  /// Its answers go to `front` from now on.
  void put_behind(MemoryFront& front) { front_ = &front; }
  /// From now on it answers accesses outside the extents of their requesters with an error.
  void give_in_extents(std::unique_ptr<DynamicCapacity> extents);
  DynamicCapacity& dynamic_capacity() override { return *extents_; }
  ~MemoryController() override;

  Bytes memory_capacity() const override { return capacity_; }
  Media* media() override { return media_.get(); }
  Time least_time() const override;
  ExternalMedia* put_media_outside(OutsideMedium& outside) override;
  std::span<const LogicalDeviceExtent> logical_devices() const override;
  void set_host(std::size_t ld, NodeId host) override { logical_->set_host(ld, host); }
  double memory_queue_integral(Time now) override { return in_service_.integral(now); }
  bool memory_unlimited() const override;
  std::string answers_writes_early() const override;
  bool reports_load() const override { return qos_.has_value(); }
  void report_memory(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;

  void start() override;
  void receive(Message& message) override;
  void media_done(Message& message, Time at) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;

  void open_window(Time now) override;
  void close_window(Time now) override;
  std::string activity() const override;
  static std::vector<MeasureInfo> measures();

 private:
  enum Wake : std::uint8_t { kPlaceFree, kAnswer, kRefused, kWritten, kFront };

  /// Places for requests in controller and media, and the requests in the receive buffer that wait for one.
  struct Places final : public Waiter {
    Places(Kernel& kernel, const Component& device, const char* resource, std::optional<std::uint32_t> most)
        : component(device), limit(most), wanted(kernel, resource, device) {}
    const EventHandler& owner() const override { return component; }

    const Component& component;
    std::optional<std::uint32_t> limit;  // none: nobody needs to know how many are taken
    std::uint32_t taken = 0;
    MessageQueue outside;
    std::size_t outside_count = 0;
    WaitList wanted;
    LevelMonitor level;  // only of reads and writes apart: `queue` is measured as those in service
  };

  Places& places_of(const Message& message) {
    return writes_ && message.opcode == Opcode::kMemWr ? *writes_ : requests_;
  }
  // Its logical devices.
  bool has_place() const override { return !requests_.limit || requests_.taken < *requests_.limit; }
  void take(Message& message) override { admit(message, requests_); }
  void refuse(Message& message) override;
  void buffered(Message& message) override;

  void admit(Message& message, Places& places);
  void post(Message& message, Address address, Time ready);
  void to_media(Message& message, Address address, Time ready);
  void free_place(Places& places);
  void answer(Message& message, Time at);
  void leave(Message& message);
  void report_load(Message& message);

  // What every request touches lies together: with a thousand memories each of its lines is waited for.
  Kernel& kernel_;
  EventSource source_;
  Time controller_time_;
  CreditRelease credit_release_;
  bool counts_present_ = false;       // with `logical_` or `qos_`
  bool releases_when_taken_ = false;  // the receive buffer of a request
  std::uint32_t in_media_ = 0;        // without an end yet; counted until the first atomic operation
  std::unique_ptr<Media> media_;
  std::unique_ptr<Places> writes_;            // none: with the others
  std::unique_ptr<BufferedWrites> buffered_;  // none: writes are not posted
  std::unique_ptr<DynamicCapacity> extents_;  // none: its memory is everybody's
  std::unique_ptr<AtomicUnit> atomics_;       // none: no atomic operation has come yet
  LineVersions* versions_ = nullptr;          // null: nobody asks for them
  MemoryFront* front_ = nullptr;
  Time media_busy_until_;  // the last end that is known, as long as `in_media_` is counted
  BookedLevel in_service_;
  Places requests_;  // of all, or of reads alone

  Bytes capacity_;
  Time atomic_time_;
  std::unique_ptr<Media> replaced_;  // none: the media are its own
  Pool<Message> posted_;             // carry posted writes to the media
  Windowed<ControllerCounts> counts_;
  std::unique_ptr<LogicalDevices> logical_;  // none: the memory is one whole
  std::optional<DeviceLoadParams> qos_;      // none: it reports no load
  std::uint64_t present_ = 0;                // requests that are not answered, if they are counted
};

}  // namespace cxloom
