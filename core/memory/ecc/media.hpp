// Inline ECC before other media: a line of ECC for so many lines of data, behind them in the same media. A
// read needs both. A write changes both, so that it reads the line of ECC unless it writes all data of it.
// Lines of ECC are cached, and written back when they leave.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/zeroed_array.hpp"
#include "kernel/event_source.hpp"
#include "kernel/pool.hpp"
#include "kernel/windowed.hpp"
#include "memory/ecc/params.hpp"
#include "memory/media/context.hpp"
#include "memory/media/media.hpp"
#include "protocol/opcode.hpp"
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

class InlineEccMedia final : public Media {
 public:
  using Params = InlineEccParams;
  InlineEccMedia(const InlineEccParams& params, const MediaContext& context);
  ~InlineEccMedia() override;

  void access(Message& message, Address address, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  std::optional<Bytes> capacity() const override;
  DramMedia* dram() override { return backing_->dram(); }
  std::string answers_early() const override;
  std::string described() const override { return backing_->described(); }
  std::string held_back() const override { return backing_->held_back(); }
  std::vector<Media*> parts() override { return {backing_.get()}; }
  std::uint64_t remembers() const override;
  void touched_before(Address address, std::uint64_t bytes) override;
  void open_window(Time now) override;
  void close_window(Time now) override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();

  /// What the table of lines takes of the machine's memory.
  static std::uint64_t bytes_of_tables(const InlineEccParams& params);

 private:
  struct CheckedAccess;  // a message, until all its parts are done
  struct CheckedPart;    // an access to the media behind, or a wait for a line that comes
  /// The listener to the media behind.
  class Behind final : public MediaClient {
   public:
    explicit Behind(InlineEccMedia& media) : media_(media) {}
    void media_done(Message& message, Time at) override;

   private:
    InlineEccMedia& media_;
  };
  enum Wake : std::uint8_t { kBegun, kDone };

  std::unique_ptr<Media> make(const KindSpec& kinded, const MediaContext& context);
  void begin(CheckedAccess& access);
  void check(CheckedAccess& access, std::uint64_t group, bool whole);
  void make_room(CheckedAccess& access, std::uint64_t group, Slot place, LineState state);
  CheckedPart& part_of(CheckedAccess& access);
  void send(CheckedPart& part, Opcode opcode, std::uint64_t address, std::uint64_t bytes);
  void came(CheckedPart& line);
  void finish(CheckedPart& part);

  // Data come in groups, each with its line of ECC behind it.
  std::uint64_t group_behind(std::uint64_t group) const { return group * (group_ + kLineBytes); }
  std::uint64_t line_behind(std::uint64_t group) const { return group_behind(group) + group_; }

  Kernel& kernel_;
  MediaClient& client_;
  EventSource source_;
  std::uint64_t group_;               ///< bytes of data
  CacheArray tags_;                   ///< of groups where it says lines
  ZeroedArray<CheckedPart*> coming_;  ///< by slot: what brings its line
  std::unique_ptr<Behind> behind_;
  std::unique_ptr<Media> backing_;
  Windowed<InlineEccCounts> counts_;

  Pool<CheckedAccess> accesses_;
  Pool<CheckedPart> parts_;
};

}  // namespace cxloom
