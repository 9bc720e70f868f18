// A cache of pages before other media: DRAM in front of flash or NVM, as devices have that store more than
// they can reach quickly. Both the cache and what is behind it are media of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/zeroed_array.hpp"
#include "kernel/pool.hpp"
#include "memory/cached/meter.hpp"
#include "memory/cached/page_prefetches.hpp"
#include "memory/cached/params.hpp"
#include "memory/media/wrapping_media.hpp"
#include "tags/cache_array.hpp"
#include "tags/line_index.hpp"

namespace cxloom {

/// Write-back and write-allocate. A page that misses is fetched from behind while a dirty victim is read out
/// of the cache; then it is filled in, whoever waited for it is done, and the victim goes back behind in the
/// background. A prefetcher may ask for pages that nobody waits for.
class CachedMedia final : public WrappingMedia {
 public:
  using Params = CachedMediaParams;
  CachedMedia(const CachedMediaParams& params, const MediaContext& context);
  ~CachedMedia() override;

  void access(Message& message, Address address, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  std::optional<Bytes> capacity() const override { return backing_->capacity(); }
  std::string answers_early() const override { return "cache"; }
  std::string described() const override;
  std::uint64_t remembers() const override { return tags_.capacity() * page_ + backing_->remembers(); }
  void touched_before(Address address, std::uint64_t bytes) override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();

  /// What the tables of pages take of the machine's memory.
  static std::uint64_t bytes_of_tables(const CachedMediaParams& params);
  /// What a page on its way takes of the machine's memory.
  static std::uint64_t bytes_of_miss();

 private:
  struct PagePiece;  // what an access wants of one page
  struct Miss;       // a page on its way in, and its victim on the way out
  struct Transfer;   // an access to one of the two media
  struct MissQueue;  // the pieces that wait to become misses
  enum class Step : std::uint8_t { kUse, kFetch, kVictim, kFill, kWriteBack };
  enum Wake : std::uint8_t { kLookedUp, kTransferred };

  std::uint64_t pages_behind(const MediaContext& context) const;

  void look_up(Served& access);
  void serve(PagePiece& piece);
  bool find(PagePiece& piece);
  bool begin_miss(PagePiece& piece);
  void wait(PagePiece& piece);
  bool has_place(std::uint64_t page, Slot& place);
  void bring(std::uint64_t page, Slot place, bool writes, PagePiece* leader, bool fetches);
  void look_ahead(const Trigger& trigger);
  void serve_waiting();
  void fill(Miss& miss);
  void filled(Miss& miss);
  void release(Miss& miss);
  void finish(PagePiece& piece);
  void transfer(Held& media, Step step, Opcode opcode, Address address, std::uint64_t bytes, PagePiece* piece,
                Miss* miss);
  void transferred(Transfer& transfer);

  Address address_of(Slot slot) const { return Address{slot * page_}; }
  std::uint64_t page_of(const PagePiece& piece) const;
  static LineAddress key_of(std::uint64_t page) { return LineAddress{page}; }

  std::uint64_t page_;  // bytes
  Time lookup_time_;
  std::uint32_t most_misses_;
  CacheArray tags_;            // of pages where it says lines
  ZeroedArray<Miss*> coming_;  // by slot: what fills it now
  LineIndex leaving_;          // pages on their way out
  Held cache_;
  Held backing_;
  CachedMediaMeter meter_;
  PagePrefetches prefetches_;
  std::unique_ptr<MissQueue> miss_queue_;

  Pool<PagePiece> pieces_;
  Pool<Miss> misses_;
  Pool<Transfer> transfers_;
};

}  // namespace cxloom
