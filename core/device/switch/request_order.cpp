#include "device/switch/request_order.hpp"

#include <algorithm>
#include <utility>

#include "base/measure_table.hpp"
#include "component/component_time.hpp"
#include "device/switch/core.hpp"
#include "protocol/class_vc.hpp"

namespace cxloom {

namespace {

struct RequestOrderMeasured : RequestOrderCounts {
  double queue_mean = 0;
  double queue_max = 0;
  double outside_mean = 0;
};

constexpr std::array kRequestOrderMeasures{
    measure<RequestOrderMeasured, &RequestOrderMeasured::requests>(
        "requests", "", "requests to memory that left its queue in the window"),
    measure<RequestOrderMeasured, &RequestOrderMeasured::overtaking_writes>(
        "overtaking_writes", "", "writes that left its queue past a read which had no credit"),
    measure<&RequestOrderMeasured::queue_mean>("request_queue_mean", "",
                                               "requests in its queue, mean over time"),
    measure<&RequestOrderMeasured::queue_max>("request_queue_max", "",
                                              "requests in its queue, largest number"),
    measure<&RequestOrderMeasured::outside_mean>(
        "request_queue_outside_mean", "", "requests that wait for a place in its queue, mean over time"),
};

}  // namespace

RequestOrder::RequestOrder(std::optional<std::uint32_t> depth, const Rate& rate, SwitchCore& core,
                           Component& owner)
    : depth_(depth), meter_(rate), core_(core), owner_(owner), counts_(owner.kernel()) {
  owner.kernel().measure(level_, outside_);
}

// A message that is to leave by a port counts as waiting there, wherever it waits.
void RequestOrder::arrive(Message& message) {
  const std::uint16_t output = core_.output_of(message);
  if (output == Routes::kNowhere) return core_.nowhere(message);
  Entry entry{.message = &message, .input = message.port};
  message.since = owner_.now();
  message.port = output;
  core_.output(output).count_waiting();
  if (full()) {
    Waiting& mine = waiting_[message.requester.index()];
    if (mine.empty()) turns_.push_back(message.requester.index());
    const bool reads = message.channel == Channel::kM2SReq;
    entry.number = next_outside_++;
    (reads ? mine.reads : mine.writes).push_back(entry);
    if (!reads) ++writes_outside_;
    outside_.change(owner_.now(), +1);
  } else {
    admit(entry);
  }
  serve();
}

// The buffer by which it came is free when its last byte is in, which has kept coming while it waited.
void RequestOrder::admit(Entry entry) {
  const Message& message = *entry.message;
  const Time now = owner_.now();
  core_.release(vc_of(message), entry.input, std::max(now, message.since + message.tail));
  entry.number = next_number_++;
  (message.channel == Channel::kM2SReq ? reads_ : writes_).entries.push_back(entry);
  level_.change(now, +1);
}

RequestOrder::Entry RequestOrder::take_in(std::deque<Entry>& waiting) {
  const Entry entry = waiting.front();
  waiting.pop_front();
  if (entry.message->channel == Channel::kM2SRwD) --writes_outside_;
  outside_.change(owner_.now(), -1);
  return entry;
}

void RequestOrder::admit_next() {
  while (!turns_.empty() && !full()) {
    const std::uint32_t requester = turns_.front();
    turns_.pop_front();
    Waiting& mine = waiting_[requester];
    const Entry entry = take_in(mine.first());
    if (!mine.empty()) turns_.push_back(requester);
    admit(entry);
  }
}

// The queue is full of reads of which the first has no credit: what it waits for may be a write that is
// outside. The first of those comes in, and is the one that the queue holds beyond its depth.
bool RequestOrder::admit_write() {
  if (writes_outside_ == 0 || !full() || !writes_.entries.empty() || !blocked(reads_)) return false;
  const auto turn =
      std::ranges::find_if(turns_, [&](std::uint32_t each) { return !waiting_[each].writes.empty(); });
  Waiting& theirs = waiting_[*turn];
  const Entry entry = take_in(theirs.writes);
  if (theirs.empty()) turns_.erase(turn);
  admit(entry);
  return true;
}

// Nothing passes a head that can go.
bool RequestOrder::may_serve(const ClassQueue& queue) const {
  if (queue.entries.empty() || queue.asks) return false;
  const ClassQueue& other = &queue == &reads_ ? writes_ : reads_;
  if (other.entries.empty() || queue.entries.front().number < other.entries.front().number) return true;
  return &queue == &writes_ && blocked(reads_);
}

bool RequestOrder::blocked(const ClassQueue& queue) const {
  if (!queue.asks) return false;
  const Message& head = queue.head();
  VirtualChannel& channel = core_.output(head.port).channel(vc_of(head));
  channel.update(owner_.now());
  return !channel.has_credit();
}

void RequestOrder::serve() {
  while (true) {
    ClassQueue* const next = may_serve(reads_) ? &reads_ : may_serve(writes_) ? &writes_ : nullptr;
    if (next == nullptr) {
      if (admit_write()) continue;
      return;
    }
    const Time now = owner_.now();
    if (next_service_ > now) {
      if (wakes_at_ == next_service_) return;
      wakes_at_ = next_service_;
      owner_.kernel().schedule(next_service_, owner_.source(), *this, 0, 0);
      return;
    }
    if (next_service_ < now) meter_.restart();
    next_service_ = now + meter_.advance(1);
    ask(*next);
  }
}

void RequestOrder::ask(ClassQueue& queue) {
  const Entry& entry = queue.entries.front();
  Message& message = *entry.message;
  const Time now = owner_.now();
  message.charge(Segment::kSwitchQueue, now);
  VirtualChannels& output = core_.output(message.port);
  if (output.closed()) return give_up(queue);
  const Time waited = now - message.since;
  message.tail = message.tail > waited ? message.tail - waited : Time{};
  if (&queue == &writes_ && !reads_.entries.empty() && reads_.entries.front().number < entry.number)
    ++counts_->overtaking_writes;
  message.virtual_channel = core_.next_virtual_channel(entry.input, message.port, message);
  queue.asks = true;
  output.stamp(message, true);
  output.ask(queue, vc_of(message));
}

Message& RequestOrder::take_out(ClassQueue& queue) {
  Message& message = *queue.entries.front().message;
  queue.entries.pop_front();
  queue.asks = false;
  ++counts_->requests;
  level_.change(owner_.now(), -1);
  return message;
}

void RequestOrder::taken(ClassQueue& queue, Time /*end*/) {
  take_out(queue);
  admit_next();
  serve();
}

// The port is closed: it goes on as what finds a closed port in any switch.
void RequestOrder::give_up(ClassQueue& queue) {
  const std::uint16_t input = queue.entries.front().input;
  Message& message = take_out(queue);
  core_.output(message.port).withdraw(message);
  message.virtual_channel = 0;
  message.port = input;
  core_.take_back(message);
  admit_next();
}

void RequestOrder::turn_back(ClassQueue& queue) {
  give_up(queue);
  serve();
}

void RequestOrder::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  if (wakes_at_ <= owner_.now()) wakes_at_ = Time{-1};  // another may have been asked for meanwhile
  serve();
}

std::vector<MeasureInfo> RequestOrder::measures() { return infos_of(kRequestOrderMeasures); }

void RequestOrder::report(MeasureSink& sink) const {
  RequestOrderMeasured measured{counts_.window()};
  measured.queue_mean = level_.mean();
  measured.queue_max = level_.maximum();
  measured.outside_mean = outside_.mean();
  report_all(kRequestOrderMeasures, measured, sink);
}

}  // namespace cxloom
