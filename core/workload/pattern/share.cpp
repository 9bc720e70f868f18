#include "workload/pattern/share.hpp"

#include <utility>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "protocol/address_map.hpp"
#include "protocol/request.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kMostShared = std::uint64_t{1} << 16U;
constexpr std::uint16_t kFlagBytes = 8;

/// Lines before the blocks: of locks and flags.
std::uint32_t flag_lines(SharingProtocol protocol, std::uint32_t members) {
  switch (protocol) {
    case SharingProtocol::kLock: return 2;              // tickets, and the ticket that is served
    case SharingProtocol::kEpochs: return members + 1;  // which have arrived, and that all may go on
    default: return members;                            // what is published, and who has read it
  }
}

}  // namespace

void ShareParams::describe(Schema<ShareParams>& schema) {
  schema.doc(
      "Hosts that share an object: all requesters with this pattern and the same base. `requests` are the "
      "operations of each: sections under a lock, epochs, or messages. Where no hardware keeps the memory "
      "coherent, a host flushes what it has written and drops what it is about to read.");
  schema
      .choice("protocol", &ShareParams::protocol,
              {{"lock", SharingProtocol::kLock},
               {"epochs", SharingProtocol::kEpochs},
               {"publish", SharingProtocol::kPublish}})
      .doc(
          "lock: each host takes a ticket, by an atomic operation, waits for its turn, and reads and writes "
          "the object. epochs: each host writes a block, all wait for each other, and each reads the block "
          "of its neighbour, which it writes in the next epoch. publish: the first host writes the object "
          "and sets a flag; the others wait for that, read, and say so by flags of their own. Both need "
          "another host with the same `base`.");
  schema.field("base", &ShareParams::base)
      .where([](const Address& base) { return base.value() % kLineBytes == 0; }, "a multiple of 64")
      .doc("First address: of the locks and flags, a line each, which the object follows.");
  schema.field("size", &ShareParams::size)
      .min(Bytes{kLineBytes})
      .max(Bytes{kMostShared})
      .where([](const Bytes& size) { return size.count() % kLineBytes == 0; }, "a multiple of 64B")
      .doc("Bytes of the object, or of each host's block of epochs.");
  schema
      .choice("stores", &ShareParams::stores,
              {{"cached", Stores::kCached}, {"non-temporal", Stores::kNonTemporal}})
      .doc("How the object is written. What is written past the caches needs no flush.");
  schema
      .choice("flush", &ShareParams::flush,
              {{"clflushopt", ShowBy::kClflushopt},
               {"clflush", ShowBy::kClflush},
               {"clwb", ShowBy::kClwb},
               {"none", ShowBy::kNothing}})
      .doc(
          "How a host flushes the lines that it has written. clflushopt: they leave its cache, side by side. "
          "clflush: one after the other. clwb: they stay there, clean. none: not at all, which is right "
          "where writes go to memory by themselves.");
  schema.field("drop", &ShareParams::drop)
      .doc(
          "Whether a host drops its copies of the lines that it is about to read, which may be old. Without "
          "it the flags are read right, and the object may not be.");
  schema.effective(
      "flush", [](const ShareParams& params) { return params.stores == Stores::kCached; },
      "where stores go past the caches");
}

std::uint64_t ShareParams::bytes(std::uint32_t members) const {
  const std::uint64_t blocks = protocol == SharingProtocol::kEpochs ? members : 1;
  return flag_lines(protocol, members) * kLineBytes + blocks * size.count();
}

Share::Share(const ShareParams& params, const PatternContext& context)
    : params_(params),
      member_(context.member),
      members_(context.members),
      cached_(context.cached),
      operations_(context.accesses.value_or(~std::uint64_t{0})) {
  if (!context.map) return;
  check(context);
  coherent_ = context.map->find(params.base)->coherent();
}

void Share::check(const PatternContext& context) const {
  if (params_.protocol != SharingProtocol::kLock && members_ < 2) {
    throw InputError({"a protocol of several hosts",
                      counted(members_, "host") + " with this pattern and base",
                      "two or more with the same base, or protocol: lock",
                      {},
                      InputError::Kind::kBetween},
                     "protocol");
  }
  const std::uint64_t bytes = params_.bytes(members_);
  const auto place = context.map->find(params_.base);
  if (!place) return;  // the check that knows all regions says so
  const auto fits = [&](std::uint64_t offset) {
    const auto there = context.map->find(Address{params_.base.value() + offset});
    return !there || (!there->persistent && there->coherence == place->coherence);
  };
  bool all = place->coherence == Coherence::kNone || place->coherence == Coherence::kHdmDb;
  for (std::uint64_t offset = 0; offset < bytes && all; offset += kLineBytes) all = fits(offset);
  if (!all) {
    throw InputError(
        {"what hosts share by a protocol is in volatile memory that nobody keeps coherent, or all of "
         "it by hdm-db",
         to_text(params_.base) + " + " + to_text(Bytes{bytes}),
         "a region with coherence: none or hdm-db, and persistence: volatile",
         {},
         InputError::Kind::kBetween},
        "base");
  }
  if (place->coherent() && !context.stores_in_cache) {
    throw InputError({"the values of locks and flags in coherent memory are followed in caches",
                      cached_ ? "a cache that some stores or atomic operations go past" : "no cache",
                      "a cache of its own, with write_allocate: true, and atomics: cache",
                      {},
                      InputError::Kind::kBetween},
                     "base");
  }
}

std::optional<AddressRange> Share::range() const {
  return AddressRange{params_.base, params_.bytes(members_)};
}

Address Share::block_at(std::uint64_t block) const {
  return Address{line_at(flag_lines(params_.protocol, members_)).value() + block * params_.size.count()};
}

void Share::add(AccessKind kind, Address at, std::uint32_t dependence, Step::Kind step) {
  Step& next = steps_.emplace_back();
  next.kind = step;
  next.access.address = at;
  next.access.kind = kind;
  next.access.dependence = dependence;
}

// Behind a fence: what it depends on is read.
void Share::write_block(Address at) {
  const bool past = params_.stores == Stores::kNonTemporal;
  const std::uint64_t lines = params_.size.count() / kLineBytes;
  for (std::uint64_t i = 0; i < lines; ++i) {
    add(AccessKind::kWrite, Address{at.value() + i * kLineBytes}, i == 0 ? kAllBefore : 0);
    steps_.back().access.past = past;
  }
  if (past || coherent_ || !cached_ || params_.flush == ShowBy::kNothing) return;
  for (std::uint64_t i = 0; i < lines; ++i) {
    const bool waits = params_.flush == ShowBy::kClflush && i > 0;
    add(AccessKind::kFlush, Address{at.value() + i * kLineBytes}, waits ? 1 : 0);
    steps_.back().access.keeps = params_.flush == ShowBy::kClwb;
  }
}

void Share::read_block(Address at) {
  const std::uint64_t lines = params_.size.count() / kLineBytes;
  const bool drops = params_.drop && cached_ && !coherent_;
  for (std::uint64_t i = 0; drops && i < lines; ++i)
    add(AccessKind::kFlush, Address{at.value() + i * kLineBytes}, i == 0 ? kAllBefore : 0);
  for (std::uint64_t i = 0; i < lines; ++i)
    add(AccessKind::kRead, Address{at.value() + i * kLineBytes}, i == 0 ? kAllBefore : 0);
}

// What is before it is done first.
void Share::set_flag(std::uint32_t line) {
  add(AccessKind::kWrite, line_at(line), kAllBefore);
  steps_.back().access.size = kFlagBytes;
  steps_.back().access.past = cached_ && !coherent_;
}

void Share::poll_flag(std::uint32_t line, std::uint64_t value) {
  if (cached_ && !coherent_) {
    add(AccessKind::kFlush, line_at(line), kAllBefore);
    steps_.back().access.size = kFlagBytes;
  }
  add(AccessKind::kRead, line_at(line), kAllBefore, Step::Kind::kPoll);
  steps_.back().access.size = kFlagBytes;
  steps_.back().value = value;
}

void Share::lock() {
  add(AccessKind::kAtomic, line_at(0), kAllBefore, Step::Kind::kTake);
  steps_.back().access.size = kFlagBytes;
  steps_.back().access.past = cached_ && !coherent_;
  poll_flag(1, kTicket);
  read_block(block_at(0));
  write_block(block_at(0));
  set_flag(1);
}

// The block that a host reads is the one that it writes next: nobody else goes to it before.
void Share::epoch() {
  const std::uint64_t number = begun_;
  write_block(block_at((member_ + number) % members_));
  if (member_ == 0) {  // nobody polls whether it has arrived: it says so with the last flag
    for (std::uint32_t other = 1; other < members_; ++other) poll_flag(other, number);
    set_flag(members_);
  } else {
    set_flag(member_);
    poll_flag(members_, number);
  }
  read_block(block_at((member_ + number + 1) % members_));
}

void Share::publish() {
  for (std::uint32_t reader = 1; begun_ > 1 && reader < members_; ++reader) poll_flag(reader, begun_ - 1);
  write_block(block_at(0));
  set_flag(0);
}

void Share::receive() {
  poll_flag(0, begun_);
  read_block(block_at(0));
  set_flag(member_);
}

void Share::begin_operation() {
  ++begun_;
  since_.push_back(now_);
  switch (params_.protocol) {
    case SharingProtocol::kLock: lock(); break;
    case SharingProtocol::kEpochs: epoch(); break;
    default: member_ == 0 ? publish() : receive();
  }
  steps_.back().last = true;
}

bool Share::next(Access& access) {
  if (awaited_) return false;
  if (steps_.empty()) {
    if (begun_ == operations_) return false;
    begin_operation();
  }
  Step step = steps_.front();
  steps_.pop_front();
  access = step.access;
  if (step.kind != Step::Kind::kPlain) {
    awaited_ = step;
    awaited_number_ = given_;
  }
  if (step.last) last_.push_back(given_);
  ++given_;
  return true;
}

void Share::answered(std::uint64_t number, const Request& request, Time /*now*/) {
  completed_.reset();
  if (!last_.empty() && number == last_.front()) {
    completed_ = since_.front();
    last_.pop_front();
    since_.pop_front();
  }
  if (!awaited_ || number != awaited_number_) return;
  Step step = *std::exchange(awaited_, std::nullopt);
  const std::uint64_t version = request.message.version;
  if (step.kind == Step::Kind::kTake) {
    if (request.failed) {
      steps_.push_front(step);
    } else {
      ticket_ = version - 1;  // so many were taken before
    }
    return;
  }
  const std::uint64_t value = step.value == kTicket ? ticket_ : step.value;
  const bool over = !request.failed && version >= value;
  in_vain_ = over ? 0 : in_vain_ + 1;
  if (over) return;
  steps_.push_front(step);
  if (!cached_ || coherent_) return;
  Step drop = step;
  drop.kind = Step::Kind::kPlain;
  drop.last = false;
  drop.access.kind = AccessKind::kFlush;
  steps_.push_front(drop);
}

}  // namespace cxloom
