// Inline compression before other media: each block is stored in whole sectors, as few as the ratio of its
// page allows. A read fetches the stored block and has an engine decompress it. A write of a whole block has
// an engine compress it and stores it; one of a part fetches and decompresses the block first.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/intrusive_queue.hpp"
#include "kernel/distribution.hpp"
#include "kernel/pool.hpp"
#include "kernel/windowed.hpp"
#include "memory/compressed/params.hpp"
#include "memory/media/wrapping_media.hpp"

namespace cxloom {

struct MeasureInfo;

struct CompressedCounts {
  std::uint64_t decompressed = 0;
  std::uint64_t compressed = 0;
  std::uint64_t merged = 0;
  std::uint64_t stored = 0;  // bytes of the blocks that were compressed
};

class CompressedMedia final : public WrappingMedia {
 public:
  using Params = CompressedParams;
  CompressedMedia(const CompressedParams& params, const MediaContext& context);
  ~CompressedMedia() override;

  void access(Message& message, Address address, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  std::optional<Bytes> capacity() const override;
  std::uint64_t remembers() const override { return backing_->remembers() / place_ * params_.block.count(); }
  void touched_before(Address address, std::uint64_t bytes) override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();

  /// Bytes that the block at this address takes.
  std::uint64_t stored_at(std::uint64_t address) const;
  /// Where in the media behind it begins.
  std::uint64_t behind(std::uint64_t address) const;

 private:
  struct BlockJob;  // what an access wants of one block
  enum Wake : std::uint8_t { kBegun, kBacking, kWorked };

  std::optional<Bytes> bytes_behind(const MediaContext& context) const;
  std::uint64_t end_of(const MediaContext& context) const;
  void begin(Served& access);
  void send(BlockJob& job, Opcode opcode);
  void ask_engine(BlockJob& job);
  void start(BlockJob& job);
  void worked(BlockJob& job);
  void finish(BlockJob& job);

  CompressedParams params_;
  std::uint64_t seed_;
  std::uint64_t place_;  ///< bytes between the stored blocks: what they take on average
  Held backing_;
  std::uint64_t end_;  ///< of the media behind
  Windowed<CompressedCounts> counts_{kernel_};
  LevelMonitor busy_;                 ///< engines
  IntrusiveQueue<BlockJob> waiting_;  ///< for an engine

  Pool<BlockJob> jobs_;
};

}  // namespace cxloom
