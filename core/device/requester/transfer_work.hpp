// The work of a device that copies by DMA: takes accesses from its stream and gives each to the engine as a
// copy. A read copies from system memory to the device, a write from the device. Its requests are those of
// the engine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "component/endpoint.hpp"
#include "component/transfer_engine.hpp"
#include "device/io/dma_engine.hpp"
#include "device/requester/large_accesses.hpp"
#include "device/requester/meter.hpp"
#include "device/requester/request_count.hpp"
#include "device/requester/requester.hpp"
#include "kernel/windowed.hpp"
#include "protocol/request_observer.hpp"
#include "workload/work.hpp"

namespace cxloom {

struct FailedCopies {
  std::uint64_t copies = 0;
};

class TransferWork final : public Agent, public Requester, public DmaEngine::Client {
 public:
  /// `queue`: copies that a stream of the engine has at the same time.
  TransferWork(std::uint32_t queue, Endpoint& endpoint);
  ~TransferWork() override;
  /// To be called once, before anything else.
  void use(DmaEngine& engine) { engine_ = &engine; }

  Traits traits() const override;
  Progress progress() const override;
  bool has_work() const override { return work_.stream != nullptr; }
  bool warm() const override { return count_.warm(); }
  bool out_of_work() const override { return out_of_work_; }
  std::uint64_t outstanding() const override { return engine_->transfers(); }
  const CacheAgent* cache() const override { return nullptr; }
  CacheAgent* losing_cache() override { return nullptr; }
  void assign(Work work, RequestObserver& observer) override;
  void read_through(std::uint64_t most) override;
  void check_mapped(const Access& access) const override;
  MovablePages* expect_moves() override { return nullptr; }
  TieringAgent* tiering() override { return nullptr; }
  void move_pages(const PageMover::Order& order) override;
  void end_accesses(NodeId memory, PagesLeaving& leaving) override;
  void flush_lines(std::vector<LineAddress> lines, PagesLeaving& leaving) override;
  void crash(bool /*last*/) override { cease(); }
  void cease() override { out_of_work_ = has_work() && !work_.stream->from_outside(); }
  void count_from_now() override { count_.begin_counting(); }
  void divide_window() override { count_.divide_window(); }
  void resume() override { submit(); }

  void start() override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open_window(Time at) override;
  void report_requests(MeasureSink& sink) const override;
  static std::vector<MeasureInfo> measures();

  const LatencyDistribution& latency() const override { return meter_.latency(); }
  const LatencyDistribution& errors() const override { return meter_.errors(); }
  const BatchMeans& batches() const override { return meter_.batches(); }

 private:
  class Copy;

  void request_made(const Request& request) override;
  void request_ended(Request& request) override;
  void transfer_ended(Time since, bool failed) override;
  void count_lines(const Request& request, Time now);
  Time now() const;
  void submit();
  bool take(Copy& copy);
  bool add_piece(Copy& copy);
  /// Throws InputError if it is to wait for anything but the engine.
  void check_free(const Access& access) const;
  void issued(const Copy& copy);
  void ended(Copy& copy, bool failed);
  void end_if_out_of_work();

  DmaEngine* engine_ = nullptr;
  std::uint32_t queue_;
  Work work_;
  RequestObserver* observer_ = nullptr;
  std::uint64_t requests_ = 0;  // of its copies
  bool out_of_work_ = false;
  bool ended_ = false;
  bool wants_answers_ = false;
  Request last_;        // that has ended, if so
  RequestCount count_;  // of accesses of its stream
  RequesterMeter meter_;
  std::unique_ptr<LargeAccesses> copies_;  // of the engine that were whole; none: it has no work
  Windowed<FailedCopies> failed_;
  std::vector<std::unique_ptr<Copy>> all_;
  std::vector<Copy*> idle_;
  std::vector<std::uint32_t> open_;  // copies, by stream
  std::uint32_t turn_ = 0;           // of a stream
};

}  // namespace cxloom
