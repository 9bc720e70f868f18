#include "memory/cached/media.hpp"

#include <algorithm>
#include <optional>

#include "base/kind_registry.hpp"
#include "base/measure_table.hpp"
#include "base/schema.hpp"
#include "component/component.hpp"
#include "component/resource.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"
#include "kernel/wait_list.hpp"
#include "memory/media/registry.hpp"
#include "protocol/message.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

namespace {

CacheParams tags_of(const CachedMediaParams& params) {
  CacheParams tags;
  tags.size = Bytes{params.pages() * kLineBytes};
  tags.ways = params.ways;
  tags.policy = params.policy;
  return tags;
}

}  // namespace

struct CachedMedia::PagePiece {
  PagePiece* next = nullptr;
  Served* access = nullptr;
  Address address;
  std::uint64_t bytes = 0;
  Account account;  // from the look-up on; that of the piece done last joins the message's

  bool writes() const { return access->writes(); }
};

struct CachedMedia::Miss {
  Miss* next = nullptr;
  PagePiece* leader = nullptr;  // which began it; null: a prefetcher
  PagePiece* joined = nullptr;  // which came while it was under way, the latest first
  std::uint64_t victim = 0;
  Slot slot = kNoSlot;
  std::uint8_t before_fill = 0;  // transfers that come first
  bool writes_back = false;      // the victim is not behind yet
  bool filled = false;
};

struct CachedMedia::Transfer {
  Transfer* next = nullptr;
  Message message;
  PagePiece* piece = nullptr;
  Miss* miss = nullptr;
  std::uint32_t index = 0;  // in the pool
  Step step = Step::kUse;
};

/// What the media say is done goes on at its time: they may say so ahead of it.
struct CachedMedia::MissQueue final : public Waiter {
  MissQueue(Kernel& kernel, const Component& device)
      : component(device), list(kernel, "a miss of the media's cache", device) {}
  const EventHandler& owner() const override { return component; }

  const Component& component;
  WaitList list;
  PagePiece* first = nullptr;
  PagePiece* last = nullptr;
};

CachedMedia::CachedMedia(const CachedMediaParams& params, const MediaContext& context)
    : WrappingMedia(context),
      page_(params.page.count()),
      lookup_time_(params.lookup_time),
      most_misses_(params.misses),
      tags_(tags_of(params), context.victims,
            RandomStream(context.seed, context.owner.name(), context.path + "page victims")),
      coming_(tags_.capacity()),
      leaving_(params.misses),
      cache_(*this, "cache", params.cache, params.size, context, kTransferred),
      backing_(*this, "backing", params.backing, context.capacity, context, kTransferred),
      meter_(context.kernel),
      prefetches_(params.prefetch, context, tags_.capacity(), pages_behind(context), meter_.counts()),
      miss_queue_(std::make_unique<MissQueue>(context.kernel, context.owner)) {}

std::uint64_t CachedMedia::bytes_of_tables(const CachedMediaParams& params) {
  return CacheArray::bytes(params.pages(), params.ways) + params.pages() * sizeof(Miss*);
}

std::uint64_t CachedMedia::bytes_of_miss() {
  return sizeof(Miss) + 4 * sizeof(Transfer) + LineIndex::bytes(1);
}

std::uint64_t CachedMedia::pages_behind(const MediaContext& context) const {
  const std::optional<Bytes> behind = context.capacity ? context.capacity : backing_->capacity();
  return behind ? behind->count() / page_ : ~std::uint64_t{0};
}

CachedMedia::~CachedMedia() = default;

std::uint64_t CachedMedia::page_of(const PagePiece& piece) const { return piece.address.value() / page_; }

void CachedMedia::access(Message& message, Address address, Time ready) {
  take(message, address, ready, ready + lookup_time_, kLookedUp);
}

void CachedMedia::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kLookedUp) {
    look_up(object_of<Served>(payload));
  } else {
    transferred(transfers_.at(static_cast<std::uint32_t>(payload)));
  }
}

void CachedMedia::look_up(Served& access) {
  const Time now = kernel_.now();
  access.message->charge(Segment::kMedia, now);
  const std::uint64_t begin = access.address.value();
  const std::uint64_t end = access.end();
  access.left = (end - 1) / page_ - begin / page_ + 1;
  for (std::uint64_t at = begin; at < end;) {
    const std::uint64_t next = std::min(end, (at / page_ + 1) * page_);
    PagePiece& piece = pieces_.take();
    piece.access = &access;
    piece.address = Address{at};
    piece.bytes = next - at;
    piece.account.open(now);
    at = next;
    serve(piece);
  }
}

void CachedMedia::serve(PagePiece& piece) {
  // The prefetcher sees what is cached before the piece is served. Its pages are asked for after the piece's
  // own miss.
  std::optional<Trigger> trigger;
  if (prefetches_.on()) {
    const LineAddress page = key_of(page_of(piece));
    trigger = prefetches_.trigger(page, tags_.lookup(page), piece.access->message->requester.index());
  }
  if (!find(piece) && (miss_queue_->first || !begin_miss(piece))) wait(piece);
  if (trigger) look_ahead(*trigger);
}

void CachedMedia::wait(PagePiece& piece) {
  if (!miss_queue_->first) miss_queue_->list.join(*miss_queue_, kernel_.now());
  piece.next = nullptr;
  (miss_queue_->last ? miss_queue_->last->next : miss_queue_->first) = &piece;
  miss_queue_->last = &piece;
  meter_.waiting(kernel_.now(), +1);
}

/// Serves a piece whose page is in the cache, or on its way.
bool CachedMedia::find(PagePiece& piece) {
  const Slot slot = tags_.lookup(key_of(page_of(piece)));
  if (slot == kNoSlot) return false;
  tags_.touch(slot);
  if (piece.writes()) tags_.mark_dirty(slot);
  Miss* const miss = coming_[slot];
  prefetches_.accessed(slot, miss != nullptr);
  if (miss) {
    ++meter_.counts().joined;
    piece.next = miss->joined;
    miss->joined = &piece;
    return true;
  }
  ++meter_.counts().hits;
  const Address place{address_of(slot).value() + piece.address.value() % page_};
  transfer(cache_, Step::kUse, piece.access->message->opcode, place, piece.bytes, &piece, nullptr);
  return true;
}

/// Brings the page of a piece in, if it can come now.
bool CachedMedia::begin_miss(PagePiece& piece) {
  const std::uint64_t page = page_of(piece);
  Slot place = kNoSlot;
  if (!has_place(page, place)) return false;
  ++meter_.counts().misses;
  const bool writes = piece.writes();
  // A write of the whole page needs nothing of what was there.
  bring(page, place, writes, &piece, !writes || piece.bytes < page_);
  return true;
}

void CachedMedia::touched_before(Address address, std::uint64_t bytes) {
  for (std::uint64_t page = address.value() / page_; page * page_ < address.value() + bytes; ++page) {
    const Slot slot = tags_.lookup(key_of(page));
    if (slot != kNoSlot) {
      tags_.touch(slot);
      continue;
    }
    backing_->touched_before(Address{page * page_}, page_);
    tags_.insert(key_of(page), LineState::kClean);
  }
}

/// Not if there is no miss to be had, the page is on its way out, or the one whose place it would take is
/// still on its way in.
bool CachedMedia::has_place(std::uint64_t page, Slot& place) {
  if (misses_.live() == most_misses_ || leaving_.find(key_of(page)) != kNoSlot) return false;
  place = tags_.victim_for(key_of(page));
  return place == kNoSlot || !coming_[place];
}

void CachedMedia::bring(std::uint64_t page, Slot place, bool writes, PagePiece* leader, bool fetches) {
  const auto insertion = tags_.insert(key_of(page), writes ? LineState::kDirty : LineState::kClean, place);
  meter_.at_work(kernel_.now(), +1);
  Miss& miss = misses_.take();
  miss.leader = leader;
  miss.slot = insertion.slot;
  coming_[miss.slot] = &miss;
  prefetches_.placed(miss.slot, leader == nullptr);
  if (insertion.evicted_dirty()) {
    ++meter_.counts().write_backs;
    miss.victim = insertion.victim.number();
    miss.writes_back = true;
    ++miss.before_fill;
    leaving_.insert(key_of(miss.victim), miss.slot);
    transfer(cache_, Step::kVictim, Opcode::kMemRd, address_of(miss.slot), page_, nullptr, &miss);
  }
  if (fetches) {
    ++miss.before_fill;
    transfer(backing_, Step::kFetch, Opcode::kMemRd, Address{page * page_}, page_, leader, &miss);
  }
  if (miss.before_fill == 0) fill(miss);
}

/// Asks for what a prefetcher wants ahead of its use and is not there, as far as there are places.
void CachedMedia::look_ahead(const Trigger& trigger) {
  for (const LineAddress page : prefetches_.wanted(trigger)) {
    if (tags_.contains(page)) continue;
    Slot place = kNoSlot;
    const bool asks = prefetches_.register_free() && has_place(page.number(), place);
    prefetches_.asked(asks);
    if (asks) bring(page.number(), place, false, nullptr, true);
  }
}

/// Serves pieces that waited, in order, as far as they can go on.
void CachedMedia::serve_waiting() {
  while (PagePiece* piece = miss_queue_->first) {
    PagePiece* const next = piece->next;
    piece->account.charge(Segment::kMediaQueue, kernel_.now());
    if (!find(*piece) && !begin_miss(*piece)) return;
    miss_queue_->first = next;
    meter_.waiting(kernel_.now(), -1);
    if (next) continue;
    miss_queue_->last = nullptr;
    miss_queue_->list.leave(*miss_queue_);
  }
}

void CachedMedia::fill(Miss& miss) {
  if (miss.leader) miss.leader->account.charge(Segment::kMediaQueue, kernel_.now());
  transfer(cache_, Step::kFill, Opcode::kMemWr, address_of(miss.slot), page_, miss.leader, &miss);
}

void CachedMedia::filled(Miss& miss) {
  coming_[miss.slot] = nullptr;
  miss.filled = true;
  prefetches_.filled(tags_.line(miss.slot), miss.leader == nullptr);
  if (miss.leader) finish(*miss.leader);
  // In the order in which they came.
  PagePiece* first = nullptr;
  while (PagePiece* piece = miss.joined) {
    miss.joined = piece->next;
    piece->next = first;
    first = piece;
  }
  while (first) {
    PagePiece& piece = *first;
    first = piece.next;
    piece.account.charge(Segment::kMedia, kernel_.now());
    finish(piece);
  }
}

void CachedMedia::release(Miss& miss) {
  if (!miss.filled || miss.writes_back) return;
  misses_.give_back(miss);
  meter_.at_work(kernel_.now(), -1);
}

/// An access to several pages waited for the one done last.
void CachedMedia::finish(PagePiece& piece) {
  Served& access = *piece.access;
  const Account account = piece.account;
  pieces_.give_back(piece);
  done(access, account);
}

void CachedMedia::transfer(Held& media, Step step, Opcode opcode, Address address, std::uint64_t bytes,
                           PagePiece* piece, Miss* miss) {
  Transfer& transfer = transfers_.take();
  transfer.piece = piece;
  transfer.miss = miss;
  transfer.step = step;
  transfer.message.tag = transfer.index;
  if (piece)
    serve_by(*piece->access, transfer.message, piece->account);  // what goes back behind is for nobody
  media.send(transfer.message, opcode, address, bytes);
}

void CachedMedia::transferred(Transfer& transfer) {
  const Step step = transfer.step;
  PagePiece* const piece = transfer.piece;
  Miss* const miss = transfer.miss;
  transfers_.give_back(transfer);
  switch (step) {
    case Step::kUse: finish(*piece); return;
    case Step::kVictim:
      this->transfer(backing_, Step::kWriteBack, Opcode::kMemWr, Address{miss->victim * page_}, page_,
                     nullptr, miss);
      [[fallthrough]];
    case Step::kFetch:
      if (--miss->before_fill == 0) fill(*miss);
      return;
    case Step::kFill: filled(*miss); break;
    case Step::kWriteBack:
      leaving_.erase(key_of(miss->victim));
      miss->writes_back = false;
      break;
  }
  release(*miss);
  serve_waiting();
}

std::string CachedMedia::described() const {
  const std::string front = cache_->described();
  const std::string behind = backing_->described();
  std::string text = front.empty() ? "" : "cache: " + front;
  if (!front.empty() && !behind.empty()) text += "; ";
  return behind.empty() ? text : text + "backing: " + behind;
}

std::vector<MeasureInfo> CachedMedia::measures() {
  return joined(CachedMediaMeter::measures(), {accesses_of_cache(), accesses_of_backing()});
}

void CachedMedia::resources(ResourceSink& sink) const {
  sink.add({.name = "the misses at work of the page cache of",
            .stage = Stage::kPlaces,
            .capacity = most_misses_,
            .occupancy = Occupancy::kLevel,
            .measures = {"misses_mean"},
            .wait = Segment::kMediaQueue,
            .counts = Traffic::kRequests,
            .twice = {doubled("misses", most_misses_)},
            .twice_text = std::to_string(2 * std::uint64_t{most_misses_}) + " misses"});
  sink.add(waiting_for_media("the cached media of"));
  WrappingMedia::resources(sink);
}

void CachedMedia::report(MeasureSink& sink) const {
  meter_.report(sink, prefetches_.on());
  WrappingMedia::report(sink);
}

}  // namespace cxloom
