// Inline ECC before other media: a line of ECC for so many lines of data, behind them in the same media. A
// read needs both. A write changes both, so that it reads the line of ECC unless it writes all data of it.
// Lines of ECC are cached, and written back when they leave.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/zeroed_array.hpp"
#include "kernel/pool.hpp"
#include "kernel/windowed.hpp"
#include "memory/ecc/params.hpp"
#include "memory/media/wrapping_media.hpp"
#include "tags/cache_array.hpp"

namespace cxloom {

struct MeasureInfo;

struct InlineEccCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t joined = 0;
  std::uint64_t reads = 0;
  std::uint64_t write_backs = 0;
};

class InlineEccMedia final : public WrappingMedia {
 public:
  using Params = InlineEccParams;
  InlineEccMedia(const InlineEccParams& params, const MediaContext& context);
  ~InlineEccMedia() override;

  void access(Message& message, Address address, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  std::optional<Bytes> capacity() const override;
  std::uint64_t remembers() const override { return backing_->remembers(); }
  void touched_before(Address address, std::uint64_t bytes) override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();

  /// What the table of lines takes of the machine's memory.
  static std::uint64_t bytes_of_tables(const InlineEccParams& params);

 private:
  struct CheckedPart;  // an access to the media behind, or a wait for a line that comes
  enum Wake : std::uint8_t { kBegun, kDone };

  std::optional<Bytes> bytes_behind(const MediaContext& context) const;
  /// Data of one block, or behind the blocks of one group, and the groups that they are of.
  struct Piece {
    std::uint64_t bytes = 0;
    std::uint64_t behind = 0;  ///< its address in the media behind
    std::uint64_t block = 0;   ///< the first group of its block
    std::uint64_t first = 0;   ///< its first group
    std::uint64_t groups = 0;  ///< from there on, around the block
    bool whole = false;        ///< all lines of these
    std::uint64_t group(std::uint64_t i, std::uint64_t stripe) const {
      return block + (first - block + i) % stripe;
    }
  };

  Piece piece_at(std::uint64_t at, std::uint64_t end) const;
  void begin(Served& access);
  void check(Served& access, std::uint64_t group, bool whole);
  CheckedPart& part_of(Served& access);
  void send(CheckedPart& part, Opcode opcode, std::uint64_t address, std::uint64_t bytes);
  void came(CheckedPart& line);
  void finish(CheckedPart& part);

  std::uint64_t line_behind(std::uint64_t group) const;
  std::uint64_t stripe_of(std::uint64_t group) const { return group < in_blocks_ ? stripe_ : 1; }
  void lay_out();

  // Data come in blocks, with a stripe of lines of ECC behind them. The lines of a group are a stripe apart,
  // as is its line of ECC: where DRAM spreads a stripe over its channels and banks, they lie in one row.
  std::uint64_t group_;                          ///< bytes of data
  std::uint64_t stripe_ = 1;                     ///< groups of a block
  std::uint64_t in_blocks_ = ~std::uint64_t{0};  ///< groups; behind them one follows the other
  CacheArray tags_;                              ///< of groups where it says lines
  ZeroedArray<CheckedPart*> coming_;             ///< by slot: what brings its line
  Held backing_;
  Windowed<InlineEccCounts> counts_{kernel_};

  Pool<CheckedPart> parts_;
};

}  // namespace cxloom
