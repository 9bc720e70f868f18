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
  void begin(Served& access);
  void check(Served& access, std::uint64_t group, bool whole);
  CheckedPart& part_of(Served& access);
  void send(CheckedPart& part, Opcode opcode, std::uint64_t address, std::uint64_t bytes);
  void came(CheckedPart& line);
  void finish(CheckedPart& part);

  // Data come in groups, each with its line of ECC behind it.
  std::uint64_t group_behind(std::uint64_t group) const { return group * (group_ + kLineBytes); }
  std::uint64_t line_behind(std::uint64_t group) const { return group_behind(group) + group_; }

  std::uint64_t group_;               ///< bytes of data
  CacheArray tags_;                   ///< of groups where it says lines
  ZeroedArray<CheckedPart*> coming_;  ///< by slot: what brings its line
  Held backing_;
  Windowed<InlineEccCounts> counts_{kernel_};

  Pool<CheckedPart> parts_;
};

}  // namespace cxloom
