// Non-volatile media: banks that read and write whole blocks in times of their own, behind a write and a read
// buffer.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <vector>

#include "base/intrusive_list.hpp"
#include "base/intrusive_queue.hpp"
#include "kernel/distribution.hpp"
#include "kernel/event_source.hpp"
#include "kernel/pool.hpp"
#include "kernel/wait_list.hpp"
#include "kernel/windowed.hpp"
#include "memory/media/block_table.hpp"
#include "memory/media/coalescing_buffer.hpp"
#include "memory/media/context.hpp"
#include "memory/media/data_path.hpp"
#include "memory/media/divided_access.hpp"
#include "memory/media/media.hpp"
#include "memory/nvm/params.hpp"
#include "memory/nvm/recent_blocks.hpp"
#include "memory/nvm/wear.hpp"

namespace cxloom {

struct MeasureInfo;

struct NvmCounts {
  std::uint64_t read_bytes = 0;
  std::uint64_t written_bytes = 0;
  std::uint64_t media_read_bytes = 0;
  std::uint64_t media_written_bytes = 0;
  std::uint64_t forwarded = 0;
  std::uint64_t read_hits = 0;
  std::uint64_t merged = 0;
};

class NvmMedia final : public Media {
 public:
  using Params = NvmMediaParams;
  NvmMedia(const NvmMediaParams& params, const MediaContext& context);
  ~NvmMedia() override;

  std::string answers_early() const override { return params_.write_buffer > 0 ? "write_buffer" : ""; }
  void access(Message& message, Address address, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();

  /// What a bank takes of the machine's memory.
  static std::uint64_t bytes_of_bank();

 private:
  struct BufferedBlock;
  struct Operation;  // what a bank does for reads of a block, or a write of it
  struct Bank;
  struct Wish;  // of a bank for a data path
  /// A data path. A bank that waits for it is free meanwhile, for what it may do first.
  struct Path {
    explicit Path(const Bandwidth& bandwidth) : data(bandwidth) {}
    DataPath data;
    IntrusiveQueue<Wish> wishes;  // of the banks that wait, the first one first
    bool offers = false;          // itself to them
  };
  enum Wake : std::uint8_t { kArrived, kFinished, kBlockRead, kBlockWritten, kPathFree };

  Bank& bank_of(std::uint64_t block) { return *banks_[block % banks_.size()]; }
  void arrive(DividedAccess& access);
  void read(BlockPiece& piece);
  bool forwards(const BlockPiece& piece);
  void write(BlockPiece& piece);
  friend CoalescingBuffer<NvmMedia, BufferedBlock>;
  BufferedBlock& new_entry(std::uint64_t block);
  void buffered(BlockPiece& piece, BufferedBlock& entry, bool merged);
  void drain(BufferedBlock& entry);
  void request(Operation& operation);
  void start(Bank& bank);
  bool is_written_first(const Operation& operation) const;
  bool may_begin(Bank& bank, const Operation& operation);
  void offer(Path& path);
  void note_turn(Bank& bank);
  void begin_drain(Bank& bank);
  void begin_access(Bank& bank);
  void begin(Bank& bank, Operation& operation);
  void write_block(Bank& bank);
  void block_read(Bank& bank);
  void block_written(Bank& bank);
  void finish_after(BlockPiece& piece, Time latency);
  void finish_all(Operation& operation);
  void finish(BlockPiece& piece) { accesses_.finish(piece, kernel_.now(), client_); }

  NvmMediaParams params_;
  Kernel& kernel_;
  MediaClient& client_;
  EventSource source_;
  std::uint64_t whole_;  // the lines of a whole block, a bit each
  std::vector<std::unique_ptr<Bank>> banks_;
  Path read_path_;
  Path write_path_;
  NvmWear wear_;
  RecentBlocks read_buffer_;

  BlockTable<Operation> reads_;  // with a read buffer

  DividedAccesses accesses_;
  Pool<BufferedBlock> entries_;
  Pool<Operation> operations_;

  Windowed<NvmCounts> counts_{kernel_};
  LevelMonitor waiting_;
  CoalescingBuffer<NvmMedia, BufferedBlock> buffer_;
};

}  // namespace cxloom
