// The agent that serves memory: controller and media. Memory expanders and accelerators have one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "component/endpoint.hpp"
#include "component/memory_front.hpp"
#include "device/context/buffered_writes.hpp"
#include "device/context/context.hpp"
#include "device/memory/dynamic_capacity.hpp"
#include "device/memory/failing_memory.hpp"
#include "device/memory/logical_devices.hpp"
#include "device/memory/params.hpp"
#include "device/memory/sparing_unit.hpp"
#include "kernel/booked_level.hpp"
#include "kernel/distribution.hpp"
#include "kernel/pool.hpp"
#include "kernel/wait_list.hpp"
#include "kernel/windowed.hpp"
#include "memory/media/context.hpp"
#include "memory/memory_owner.hpp"
#include "protocol/message_queue.hpp"

namespace cxloom {

class AtomicUnit;
class LineVersions;
class ReplicaSets;
class SharedLines;
class Media;

struct ControllerCounts {
  std::uint64_t buffer_hits = 0;
  std::uint64_t extent_errors = 0;
  std::uint64_t poison_delivered = 0;
  std::uint64_t viral_errors = 0;
  std::uint64_t loads = 0;    ///< sum of those that answers reported
  std::uint64_t answers = 0;  ///< their number
};

class alignas(64) MemoryController final : public Agent,
                                           public MemoryOwner,
                                           public DynamicMemory,
                                           public MediaClient,
                                           private LogicalDeviceServer,
                                           private SparingUnit::SparedController {
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

  // Its device fails as a whole, and works again, or crashes for good: for a device that says so.

  void bear_failures() { bears_failures_ = true; }
  void bear_crashes() { bears_crashes_ = true; }
  /// What is in it is lost, now or when the media have ended it.
  void failed();
  void work_again() { failing_->work_again(); }

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
  std::uint32_t spares() const override { return spares_; }
  void expect_spares() override { sparing_unit().reserve(); }
  void spare(const SparedPart& part) override { sparing_->begin(part); }
  bool may_fail() const override { return bears_failures_; }
  bool may_crash() const override { return bears_crashes_; }
  void expect_failures() override;
  void contents_cleared() override { failing_->clear(); }
  void begin_viral() override { failing_->begin_viral(); }
  void end_viral(bool cleared) override {
    failing_->end_viral();
    if (cleared) failing_->clear();
  }
  bool contents_lost(LineAddress line) const override { return failing_ && failing_->lost(line); }
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
  void copy_access(Message& message, Address address) override;
  void goes_on(Message& message, Address address, Time ready) override;
  void buffered(Message& message) override;

  bool is_to_be_answered(Message& message);
  void admit(Message& message, Places& places);
  void post(Message& message, Address address, Time ready);
  SparingUnit& sparing_unit() {
    if (!sparing_) {
      straight_ = false;
      sparing_ = std::make_unique<SparingUnit>(kernel_, source_, endpoint(),
                                               static_cast<SparingUnit::SparedController&>(*this), spares_);
    }
    return *sparing_;
  }
  void to_media(Message& message, Address address, Time ready) {
    if (sparing_) [[unlikely]]
      return sparing_->access(message, address, ready);
    goes_on(message, address, ready);
  }
  void free_place(Places& places);
  void answer(Message& message, Time at);
  void leave(Message& message);
  void lose(Message& message);
  void give_up(Message& message);
  void report_load(Message& message);

  // What every request touches lies together: with a thousand memories each of its lines is waited for.
  Kernel& kernel_;
  EventSource source_;
  Time controller_time_;
  CreditRelease credit_release_;
  bool counts_present_ = false;          // with `logical_` or `qos_`
  bool answers_in_its_instant_ = false;  // what the media promise for later leaves by an event of its own
  bool releases_when_taken_ = false;     // the receive buffer of a request
  bool asks_for_addresses_ = true;       // the media do
  bool straight_ = false;                // nothing stands between it and the media
  std::uint32_t in_media_ = 0;           // without an end yet; of no use after the first atomic operation
  std::unique_ptr<Media> media_;
  std::unique_ptr<Places> writes_;            // none: with the others
  std::unique_ptr<BufferedWrites> buffered_;  // none: writes are not posted
  std::unique_ptr<DynamicCapacity> extents_;  // none: its memory is everybody's
  std::unique_ptr<AtomicUnit> atomics_;       // none: no atomic operation has come yet
  std::unique_ptr<SparingUnit> sparing_;      // none: no part of it is spared
  LineVersions* versions_ = nullptr;          // null: nobody asks for them
  SharedLines* shared_ = nullptr;             // null: nobody asks who has seen which stores
  ReplicaSets* replicas_ = nullptr;           // null: nobody asks for versions of replicated lines
  std::unique_ptr<FailingMemory> failing_;    // none: its device does not fail
  MemoryFront* front_ = nullptr;
  Time media_busy_until_;  // the last end that is known, as long as `in_media_` is counted
  BookedLevel in_service_;
  Places requests_;  // of all, or of reads alone

  Bytes capacity_;
  bool bears_failures_ = false;
  bool bears_crashes_ = false;
  std::uint32_t spares_;
  Time atomic_time_;
  std::unique_ptr<Media> replaced_;  // none: the media are its own
  Pool<Message> posted_;             // carry posted writes to the media
  Windowed<ControllerCounts> counts_{kernel_};
  std::unique_ptr<LogicalDevices> logical_;  // none: the memory is one whole
  std::optional<DeviceLoadParams> qos_;      // none: it reports no load
  std::uint64_t present_ = 0;                // requests that are not answered, if they are counted
};

}  // namespace cxloom
