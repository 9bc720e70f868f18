#include "memory/ecc/media.hpp"

#include <algorithm>
#include <array>

#include "base/kind_registry.hpp"
#include "base/measure_table.hpp"
#include "base/schema.hpp"
#include "base/value.hpp"
#include "component/component.hpp"
#include "component/resource.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"
#include "memory/dram/controller/media.hpp"
#include "memory/media/registry.hpp"
#include "protocol/message.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

namespace {

struct InlineEccMeasured : InlineEccCounts {
  Value hit_rate = {};
};

constexpr std::array kInlineEccMeasures{
    measure<InlineEccMeasured, &InlineEccMeasured::hits>("ecc_hits", "",
                                                         "groups of lines whose line of ECC was cached"),
    measure<InlineEccMeasured, &InlineEccMeasured::misses>("ecc_misses", "",
                                                           "groups of lines whose line of ECC was not"),
    measure<InlineEccMeasured, &InlineEccMeasured::joined>(
        "ecc_joins", "", "groups of lines whose line of ECC was on its way into the cache"),
    measure<&InlineEccMeasured::hit_rate>("ecc_hit_rate", "",
                                          "hits / (hits, misses and joins); null if there were none"),
    measure<InlineEccMeasured, &InlineEccMeasured::reads>("ecc_reads", "", "lines of ECC that were read"),
    measure<InlineEccMeasured, &InlineEccMeasured::write_backs>("ecc_write_backs", "",
                                                                "lines of ECC that were written"),
};

CacheParams ecc_tags(const InlineEccParams& params) {
  CacheParams tags;
  tags.size = params.cache;
  tags.ways = params.ways;
  return tags;
}

}  // namespace

struct InlineEccMedia::CheckedPart {
  CheckedPart* next = nullptr;
  Served* access = nullptr;
  Message message;
  Account account;                 // that of the part done last joins the message's
  CheckedPart* joined = nullptr;   // of a line of ECC: who waits for it, the latest first
  Slot slot = kNoSlot;             // that it comes into
  bool comes = false;              // it is a line of ECC that is read
  std::uint64_t written_back = 0;  // it has no place: it goes back here, if not 0
  std::uint32_t index = 0;         // in the pool
};

InlineEccMedia::InlineEccMedia(const InlineEccParams& params, const MediaContext& context)
    : WrappingMedia(context),
      group_(params.data_lines * kLineBytes),
      tags_(ecc_tags(params), context.victims,
            RandomStream(context.seed, context.owner.name(), context.path + "ecc victims")),
      coming_(tags_.capacity()),
      backing_(*this, "backing", params.backing, bytes_behind(context), context, kDone) {
  lay_out();
}

InlineEccMedia::~InlineEccMedia() = default;

std::uint64_t InlineEccMedia::bytes_of_tables(const InlineEccParams& params) {
  return CacheArray::bytes(params.cache.count() / kLineBytes, params.ways) +
         params.cache.count() / kLineBytes * sizeof(CheckedPart*);
}

// The media hold the data of the memory, and their ECC.
std::optional<Bytes> InlineEccMedia::bytes_behind(const MediaContext& context) const {
  if (!context.capacity) return std::nullopt;
  const std::uint64_t groups = (context.capacity->count() + group_ - 1) / group_;
  return Bytes{groups * (group_ + kLineBytes)};
}

std::optional<Bytes> InlineEccMedia::capacity() const {
  const std::optional<Bytes> behind = backing_->capacity();
  if (!behind) return std::nullopt;
  return Bytes{behind->count() / (group_ + kLineBytes) * group_};
}

void InlineEccMedia::touched_before(Address address, std::uint64_t bytes) {
  const std::uint64_t end = address.value() + bytes;
  for (std::uint64_t at = address.value(); at < end;) {
    const Piece piece = piece_at(at, end);
    backing_->touched_before(Address{piece.behind}, piece.bytes);
    for (std::uint64_t i = 0; i < piece.groups; ++i) {
      const std::uint64_t group = piece.group(i, stripe_of(piece.first));
      backing_->touched_before(Address{line_behind(group)}, kLineBytes);
      const LineAddress key{group};
      const Slot slot = tags_.lookup(key);
      if (slot != kNoSlot) {
        tags_.touch(slot);
      } else {
        tags_.insert(key, LineState::kClean);
      }
    }
    at += piece.bytes;
  }
}

// --- where data and ECC lie ------------------------------------------------------------------------------

void InlineEccMedia::lay_out() {
  const DramMedia* const dram = backing_->parts().empty() ? backing_->dram() : nullptr;
  if (!dram) return;
  stripe_ = dram->bytes_between_lines_of_a_row() / kLineBytes;
  if (const std::optional<Bytes> data = capacity()) {
    const std::uint64_t groups = data->count() / group_;
    in_blocks_ = groups - groups % stripe_;
  }
}

std::uint64_t InlineEccMedia::line_behind(std::uint64_t group) const {
  if (group >= in_blocks_) return group * (group_ + kLineBytes) + group_;
  const std::uint64_t block = group / stripe_;
  return (block * (group_ + kLineBytes) + group_) * stripe_ + group % stripe_ * kLineBytes;
}

InlineEccMedia::Piece InlineEccMedia::piece_at(std::uint64_t at, std::uint64_t end) const {
  const std::uint64_t stripe = stripe_of(at / group_);
  const std::uint64_t size = group_ * stripe;  // of data in a block, or behind the blocks in a group
  const std::uint64_t block = at / size;
  Piece piece;
  piece.bytes = std::min(end, (block + 1) * size) - at;
  piece.behind = at + block * stripe * kLineBytes;
  piece.block = block * stripe;
  piece.first = piece.block + at % size / kLineBytes % stripe;
  piece.groups = std::min(stripe, (at % kLineBytes + piece.bytes + kLineBytes - 1) / kLineBytes);
  piece.whole = piece.bytes == size;
  return piece;
}

// --- accesses --------------------------------------------------------------------------------------------

void InlineEccMedia::access(Message& message, Address address, Time ready) {
  take(message, address, ready, ready, kBegun);
}

void InlineEccMedia::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kBegun) return begin(object_of<Served>(payload));
  CheckedPart& part = parts_.at(static_cast<std::uint32_t>(payload));
  if (part.comes) came(part);
  finish(part);
}

void InlineEccMedia::begin(Served& access) {
  const std::uint64_t end = access.end();
  access.left = 1;  // this one, until all are on their way
  for (std::uint64_t at = access.address.value(); at < end;) {
    const Piece piece = piece_at(at, end);
    send(part_of(access), access.message->opcode, piece.behind, piece.bytes);
    for (std::uint64_t i = 0; i < piece.groups; ++i)
      check(access, piece.group(i, stripe_of(piece.first)), piece.whole);
    at += piece.bytes;
  }
  --access.left;
}

// The line of ECC of a group: it is there, comes, or is fetched. A write of the `whole` group makes it anew.
void InlineEccMedia::check(Served& access, std::uint64_t group, bool whole) {
  const bool write = access.writes();
  const LineAddress key{group};
  const Slot slot = tags_.lookup(key);
  if (slot != kNoSlot) {
    tags_.touch(slot);
    if (write) tags_.mark_dirty(slot);
    CheckedPart* const line = coming_[slot];
    if (!line) {
      ++counts_->hits;
      return;
    }
    ++counts_->joined;
    CheckedPart& waits = part_of(access);
    waits.next = line->joined;
    line->joined = &waits;
    return;
  }
  ++counts_->misses;
  const Slot place = tags_.victim_for(key);
  const bool room = place == kNoSlot || !coming_[place];
  Slot into = kNoSlot;
  if (room) {
    const auto insertion = tags_.insert(key, write ? LineState::kDirty : LineState::kClean, place);
    into = insertion.slot;
    if (insertion.evicted_dirty()) {
      ++counts_->write_backs;
      send(part_of(access), Opcode::kMemWr, line_behind(insertion.victim.number()), kLineBytes);
    }
  }
  if (write && whole) {
    if (room) return;
    ++counts_->write_backs;
    send(part_of(access), Opcode::kMemWr, line_behind(group), kLineBytes);
    return;
  }
  ++counts_->reads;
  CheckedPart& line = part_of(access);
  line.comes = true;
  line.slot = into;
  if (room) {
    coming_[into] = &line;
  } else if (write) {
    line.written_back = line_behind(group);
  }
  send(line, Opcode::kMemRd, line_behind(group), kLineBytes);
}

InlineEccMedia::CheckedPart& InlineEccMedia::part_of(Served& access) {
  CheckedPart& part = parts_.take();
  part.access = &access;
  part.account.open(kernel_.now());
  part.message.tag = part.index;
  serve_by(access, part.message, part.account);
  ++access.left;
  return part;
}

void InlineEccMedia::send(CheckedPart& part, Opcode opcode, std::uint64_t address, std::uint64_t bytes) {
  backing_.send(part.message, opcode, Address{address}, bytes);
}

// A line of ECC is there: who came while it did goes on, in the order of coming.
void InlineEccMedia::came(CheckedPart& line) {
  if (line.slot != kNoSlot) coming_[line.slot] = nullptr;
  if (line.written_back != 0) {
    ++counts_->write_backs;
    CheckedPart& back = part_of(*line.access);
    back.account = line.account;  // it goes on from there
    send(back, Opcode::kMemWr, line.written_back, kLineBytes);
  }
  CheckedPart* first = nullptr;
  while (CheckedPart* part = line.joined) {
    line.joined = part->next;
    part->next = first;
    first = part;
  }
  while (first) {
    CheckedPart& part = *first;
    first = part.next;
    part.account.charge(Segment::kMedia, kernel_.now());
    finish(part);
  }
}

void InlineEccMedia::finish(CheckedPart& part) {
  Served& access = *part.access;
  const Account account = part.account;
  parts_.give_back(part);
  done(access, account);
}

// --- measures --------------------------------------------------------------------------------------------

std::vector<MeasureInfo> InlineEccMedia::measures() {
  return joined(infos_of(kInlineEccMeasures), {accesses_of_backing()});
}

void InlineEccMedia::report(MeasureSink& sink) const {
  InlineEccMeasured measured{counts_.window()};
  measured.hit_rate = mean_value(static_cast<double>(measured.hits),
                                 static_cast<double>(measured.hits + measured.misses + measured.joined));
  report_all(kInlineEccMeasures, measured, sink);
  WrappingMedia::report(sink);
}

void InlineEccMedia::resources(ResourceSink& sink) const {
  WrappingMedia::resources(sink);
  sink.add(waiting_for_media("the media with inline ECC of"));
}

}  // namespace cxloom
