// NAND flash as media: accesses are divided into pages, reads of a page join, writes gather in a buffer, and
// dies read and program.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/flat_table.hpp"
#include "base/intrusive_list.hpp"
#include "base/intrusive_queue.hpp"
#include "kernel/distribution.hpp"
#include "kernel/event_source.hpp"
#include "kernel/pool.hpp"
#include "memory/flash/die.hpp"
#include "memory/flash/params.hpp"
#include "memory/flash/past.hpp"
#include "memory/media/block_table.hpp"
#include "memory/media/coalescing_buffer.hpp"
#include "memory/media/context.hpp"
#include "memory/media/divided_access.hpp"
#include "memory/media/media.hpp"

namespace cxloom {

struct MeasureInfo;

class FlashMedia final : public Media, private FlashClient {
 public:
  using Params = FlashParams;
  FlashMedia(const FlashParams& params, const MediaContext& context);
  ~FlashMedia() override;

  void access(Message& message, Address address, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  std::optional<Bytes> capacity() const override {
    return Bytes{geometry_.logical_pages() * params_.page.count()};
  }
  std::string answers_early() const override { return params_.write_buffer > 0 ? "write_buffer" : ""; }
  std::string described() const override;
  MediaPast* past() override { return &past_; }
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();

  const FlashGeometry& geometry() const { return geometry_; }
  const FlashPlane& plane(std::uint32_t plane) const { return *planes_[plane]; }
  /// For tests that follow the data.
  void observe(FlashObserver* observer) { works_.observer = observer; }
  /// Whether a job is the write of this page of the memory, by one of its planes.
  std::uint64_t page_of(const FlashJob& job) const {
    return std::uint64_t{job.logical} * geometry_.all_planes() + job.plane;
  }

 private:
  struct Reading;  // a page on its way out of its die
  struct BufferedPage;
  enum Wake : std::uint8_t { kArrived, kFinished };

  void arrive(DividedAccess& access);
  void read(BlockPiece& piece);
  bool forwards(const BlockPiece& piece);
  void write(BlockPiece& piece);
  friend CoalescingBuffer<FlashMedia, BufferedPage>;
  BufferedPage& new_entry(std::uint64_t page);
  void buffered(BlockPiece& piece, BufferedPage& entry, bool merged);
  void drain(BufferedPage& entry);
  void finish_in_buffer(BlockPiece& piece);
  void finish_all(IntrusiveQueue<BlockPiece>& pieces, Time work);
  std::uint32_t bytes_of(std::uint64_t sectors) const {
    return static_cast<std::uint32_t>(std::popcount(sectors)) * sector_;
  }
  void place(FlashJob& job, std::uint64_t page) const;
  void send(FlashJob& job);

  void data_leave(FlashJob& job) override;
  void read_done(FlashJob& job) override;
  std::uint32_t missing(const FlashJob& job) const override;
  void write_begins(FlashJob& job) override;
  void write_done(FlashJob& job) override;
  bool writes_are_waited_for() const override;

  FlashParams params_;
  FlashGeometry geometry_;
  Kernel& kernel_;
  MediaClient& client_;
  EventSource source_;
  std::uint32_t sector_;  // bytes
  std::uint64_t whole_;   // the sectors of a page, a bit each
  FlashWorks works_;
  std::unique_ptr<GcPolicy> collector_;
  std::vector<std::unique_ptr<FlashPlane>> planes_;
  std::vector<std::unique_ptr<FlashChannel>> channels_;
  std::vector<std::unique_ptr<FlashDie>> dies_;

  FlashPast past_;

  BlockTable<Reading> reading_;             // reads that others may join
  std::vector<BufferedPage*> programming_;  // by plane

  DividedAccesses accesses_;  // a block of these is a page, and its parts are sectors
  Pool<Reading> readings_;
  Pool<BufferedPage> entries_;

  CoalescingBuffer<FlashMedia, BufferedPage> buffer_;
};

}  // namespace cxloom
