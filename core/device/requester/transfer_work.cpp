#include "device/requester/transfer_work.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/measure_table.hpp"
#include "component/component_time.hpp"
#include "component/memory_access.hpp"
#include "workload/stream/reactive.hpp"

namespace cxloom {

namespace {

constexpr std::array kFailedCopies{measure<&FailedCopies::copies>(
    "copies_failed", "",
    "copies of a device that copies by DMA that ended in the window with a line that memory answered without "
    "data; large_accesses and large_access_ns are of the others")};

}  // namespace

/// A copy that is on its way: its pieces, each as long as they follow each other.
class TransferWork::Copy final : public Transfer {
 public:
  explicit Copy(TransferWork& work) : work_(work) {}

  std::optional<Extent> next() override {
    return given_ < pieces.size() ? std::optional(pieces[given_++]) : std::nullopt;
  }
  void done(Time) override { work_.ended(*this, false); }
  void failed(Time) override { work_.ended(*this, true); }

  void renew() {
    pieces.clear();
    bytes = accesses = given_ = 0;
  }

  std::vector<Extent> pieces;
  std::uint64_t bytes = 0;
  std::uint64_t accesses = 0;  // of the stream,
  std::uint64_t first = 0;     // from this one on
  Way way = Way::kIn;
  std::uint32_t stream = 0;

 private:
  TransferWork& work_;
  std::uint64_t given_ = 0;
};

TransferWork::TransferWork(std::uint32_t queue, Endpoint& endpoint)
    : Agent(endpoint), queue_(queue), meter_(endpoint.kernel()), failed_(endpoint.kernel()) {
  endpoint.add(*this);
  endpoint.system_context().roles.declare<Requester>(endpoint, endpoint.id(), *this);
}

TransferWork::~TransferWork() = default;

Time TransferWork::now() const { return endpoint().now(); }

void TransferWork::assign(Work work, RequestObserver& observer) {
  const auto refuse = [&](const char* problem, const char* key) {
    throw InputError({problem, {}, "accesses of a pattern or trace, each as soon as it can be made", {}},
                     key);
  };
  if (!work.rate.unlimited()) refuse("a device that copies by DMA has no rate of its own", "rate");
  if (work.timestamps) refuse("a device that copies by DMA goes by no timestamps", "replay");
  if (work.tiering) refuse("pages of a device that copies by DMA stay where they are", "tiering");
  if (work.stream->reactive())
    refuse("a device that copies by DMA is the engine: what it copies does not depend on answers", "pattern");
  wants_answers_ = work.stream->wants_answers();
  observer_ = &observer;
  count_.begin(work);
  copies_ = std::make_unique<LargeAccesses>(endpoint().kernel(), nullptr);
  work_ = std::move(work);
  open_.assign(engine_->streams(), 0);
}

void TransferWork::move_pages(const PageMover::Order& /*order*/) {
  throw InternalError("pages of a device that has none");
}
void TransferWork::end_accesses(NodeId /*memory*/, PagesLeaving& /*leaving*/) {
  throw InternalError("accesses of a device that has no pages");
}
void TransferWork::flush_lines(std::vector<LineAddress> /*lines*/, PagesLeaving& /*leaving*/) {
  throw InternalError("lines of a device that has no cache");
}

Requester::Traits TransferWork::traits() const { return {.queue = queue_ * engine_->streams()}; }

Requester::Progress TransferWork::progress() const {
  const bool outside = has_work() && work_.stream->from_outside();
  return {.trace_ended = out_of_work_ && !count_.enough() && !outside,
          .waits_for_outside = outside && work_.stream->open() && outstanding() == 0,
          .warmup = work_.warmup,
          .issued = requests_,
          .issued_before_window = count_.issued_before_window(),
          .expected = std::nullopt,
          .live_requests = engine_->live_requests()};
}

// ---- Copies

// One copy at a time waits for all before it, and so for what it depends on.
void TransferWork::check_free(const Access& access) const {
  const auto refuse = [&](const char* problem, const char* found, const char* allowed) {
    throw InputError({problem, found, allowed, {}}, work_.name);
  };
  if (!access.reaches_memory())
    refuse("a device that copies by DMA runs no program", "a system call or a branch", "reads and writes");
  if (access.instruction_gap > 0 || access.cycles > 0) {
    refuse("a device that copies by DMA has no instructions between its copies", "an instruction gap",
           "a trace without instruction gaps");
  }
  if (access.dependence == 0 || queue_ * engine_->streams() == 1) return;
  refuse("several copies of a device that copies by DMA wait for no others",
         access.dependence == kAllBefore ? "a fence" : "a dependence on another access",
         "queue: 1 and streams: 1, so that each waits for the one before; or accesses without such");
}

// A piece goes on with the one before it where that ends.
bool TransferWork::add_piece(Copy& copy) {
  Access access;
  if (!work_.stream->next(access)) return false;
  if (access.kind != AccessKind::kRead && access.kind != AccessKind::kWrite) {
    throw InputError({"a device that copies by DMA reads and writes, and nothing else",
                      access.kind == AccessKind::kAtomic ? "an atomic operation" : "a flush",
                      "reads and writes",
                      {}},
                     work_.name);
  }
  check_free(access);
  if (copy.pieces.empty())
    copy.way = access.kind == AccessKind::kRead ? Transfer::Way::kIn : Transfer::Way::kOut;
  Transfer::Extent* const last = copy.pieces.empty() ? nullptr : &copy.pieces.back();
  if (last && last->at.value() + last->size.count() == access.address.value()) {
    last->size = last->size + Bytes{access.size};
  } else {
    copy.pieces.push_back({access.address, Bytes{access.size}});
  }
  copy.bytes += access.size;
  ++copy.accesses;
  return access.continues;
}

/// The next copy; false: there is none.
bool TransferWork::take(Copy& copy) {
  copy.renew();
  if (count_.enough()) return false;
  while (add_piece(copy)) {
  }
  if (copy.pieces.empty()) {
    if (!count_.counting() && !count_.warm() && !work_.stream->open()) {
      throw InputError({"the work ends during the warm-up",
                        counted(count_.issued(), "access"),
                        "more accesses than run.warmup, which is " + std::to_string(work_.warmup),
                        {}},
                       work_.name);
    }
    return false;
  }
  with_path(work_.name, [&] {
    if (copy.bytes > engine_->memory().count()) {
      throw InputError({"a copy is larger than the memory of '" + endpoint().name() + "'",
                        to_text(Bytes{copy.bytes}),
                        "at most " + to_text(engine_->memory()) + ", its hbm.capacity",
                        {}});
    }
    for (const Transfer::Extent& piece : copy.pieces) engine_->check(piece.at, piece.size.count());
  });
  return true;
}

// Each goes to the next stream that has room.
void TransferWork::submit() {
  const auto streams = static_cast<std::uint32_t>(open_.size());
  while (!out_of_work_) {
    std::uint32_t tried = 0;
    for (; tried < streams && open_[turn_] == queue_; ++tried) turn_ = (turn_ + 1) % streams;
    if (tried == streams) return;
    if (idle_.empty()) idle_.push_back(all_.emplace_back(std::make_unique<Copy>(*this)).get());
    Copy& copy = *idle_.back();
    if (!take(copy)) {
      out_of_work_ = count_.enough() || !work_.stream->open();
      break;
    }
    idle_.pop_back();
    if (!count_.counting() && count_.warm()) observer_->measuring_begins(now());
    copy.first = count_.issued();
    issued(copy);
    copy.stream = turn_;
    ++open_[turn_];
    turn_ = (turn_ + 1) % streams;
    engine_->begin(copy.stream, copy.way, copy);
  }
  end_if_out_of_work();
}

void TransferWork::issued(const Copy& copy) {
  for (std::uint64_t i = 0; i < copy.accesses; ++i) count_.issue();
}

// A source that wants answers gets the last of its requests, which has failed if any of them has.
void TransferWork::ended(Copy& copy, bool failed) {
  last_.failed = failed;
  for (std::uint64_t i = 0; i < copy.accesses; ++i) {
    count_.complete();
    if (wants_answers_) work_.stream->answered(copy.first + i, last_, now());
  }
  --open_[copy.stream];
  idle_.push_back(&copy);
  submit();
  if (out_of_work_ && outstanding() == 0) observer_->rests();
}

void TransferWork::end_if_out_of_work() {
  if (!out_of_work_ || ended_ || !count_.counting() || !count_.even()) return;
  ended_ = true;
  observer_->work_ends(now());
}

void TransferWork::start() {
  if (has_work()) endpoint().kernel().schedule(Time{}, endpoint().source(), *this, 0);
}

void TransferWork::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) { submit(); }

void TransferWork::check_mapped(const Access& access) const {
  with_path(work_.name, [&] { engine_->check(access.address, access.size); });
}

void TransferWork::read_through(std::uint64_t most) {
  const std::uint64_t least = work_.requests ? std::min(most, work_.warmup + *work_.requests) : most;
  Copy copy(*this);
  while (count_.issued() < least && !work_.stream->repeats() && take(copy)) issued(copy);
}

// ---- Requests

// A copy of its own has begun it, or one of tasks.
void TransferWork::transfer_ended(Time since, bool failed) {
  if (!copies_) return;
  if (failed) {
    ++failed_->copies;
  } else {
    copies_->completed(since, now());
  }
}

void TransferWork::request_made(const Request& /*request*/) {
  ++requests_;
  if (observer_) meter_.issued(now());
}

void TransferWork::request_ended(Request& request) {
  if (!observer_) return;  // nobody counts them
  const Time now = this->now();
  ensure(request.account.mark() == now, "a DMA request whose time is not accounted for");
  // What its memory has answered.
  request.message.opcode = request.kind == AccessKind::kRead ? Opcode::kMemData : Opcode::kCmp;
  if (request.lines > 1) count_lines(request, now);
  meter_.completed(request, now);
  observer_->completed(request, now);
  if (wants_answers_) last_ = request;
}

// Each line is of the memory that its address leads to. None has a time of its own.
void TransferWork::count_lines(const Request& request, Time now) {
  Request line;
  line.lines = Request::kPart;
  line.parent = const_cast<Request*>(&request);
  line.id = request.id;
  line.kind = request.kind;
  line.failed = request.failed;
  line.set_thread(request.thread());
  line.begin(request.requester(), request.created());
  line.account = request.account;
  line.message.hops = request.message.hops;
  line.message.opcode = request.message.opcode;
  const std::uint64_t end = request.address.value() + request.size;
  for (std::uint64_t at = request.address.value(); at < end;) {
    const std::uint64_t next = std::min(end, (at / kLineBytes + 1) * kLineBytes);
    line.address = Address{at};
    line.size = static_cast<std::uint16_t>(next - at);
    line.message.size = request.failed ? std::uint16_t{0} : line.size;
    line.target = place_of(*this, request.id, line.address).target;
    meter_.moved(line.moved());
    observer_->line_completed(line, now);
    at = next;
  }
}

// ---- Windows

void TransferWork::open_window(Time /*at*/) {
  count_.open_window();
  ended_ = out_of_work_;
}

std::vector<MeasureInfo> TransferWork::measures() {
  return joined(joined(RequesterMeter::measures(), LargeAccesses::measures()),
                joined(infos_of(kFailedCopies), DmaEngine::measures()));
}

void TransferWork::report_requests(MeasureSink& sink) const {
  meter_.report(sink);
  if (!copies_) return;
  copies_->report(sink);
  report_all(kFailedCopies, failed_.window(), sink);
  engine_->report_use(sink);
}

}  // namespace cxloom
