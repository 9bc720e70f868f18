#include "device/requester/request_queue.hpp"

#include <algorithm>
#include <string>

#include "base/arena.hpp"
#include "component/component_time.hpp"
#include "component/resource.hpp"
#include "device/requester/requester.hpp"

namespace cxloom {

namespace {

// A request in flight, its places in the queues and the event that it waits for. The tables of all of these
// grow to twice their size when they are full.
constexpr std::uint64_t kBytesInFlight = 2 * (sizeof(Request) + 128);

}  // namespace

RequestQueue::RequestQueue(std::uint32_t size, Endpoint& requester)
    : size_(size),
      requester_(requester.id()),
      slots_(requester.kernel(), "a queue slot", requester),
      window_(size),
      requests_(requester.kernel().arena().memory()),
      dependences_(requester.kernel(), "the answer to an access that it depends on", requester),
      fence_(requester.kernel(), "the answers to all accesses before a fence", requester) {}

Request& RequestQueue::take_line(Request& access, std::uint64_t done) {
  const std::uint64_t at = access.address.value() + done;
  Request& line = take(access.created());
  line.parent = &access;
  line.lines = Request::kPart;
  line.id = access.id;
  line.kind = access.kind;
  line.keeps = access.keeps;
  line.brings = access.brings;
  line.past = access.past;
  line.set_thread(access.thread());
  line.account = access.account;
  line.address = Address{at};
  line.size = static_cast<std::uint16_t>(std::min(access.size - done, kLineBytes - at % kLineBytes));
  return line;
}

bool RequestQueue::ends_access(const Request& line) {
  Request& access = *line.parent;
  if (line.failed) [[unlikely]] {
    access.failed = true;
    access.message.poisoned |= line.message.poisoned;
  }
  if (--access.pending > 0) return false;
  access.account = line.account;
  access.target = line.target;
  access.message.hops = line.message.hops;
  return true;
}

std::optional<std::uint64_t> RequestQueue::access_of(const Message& message) {
  const Request* const request = requests_.find(message.tag);
  const bool carries =
      request && message.account == &request->account && !request->is_copy() && !request->is_combined();
  return carries ? std::optional(request->id) : std::nullopt;
}

// The request of an access stands for those of its lines. One that is over has a number that is no more
// outstanding, or was so a window ago.
bool RequestQueue::any_under_way(std::uint64_t issued, const std::function<bool(Address)>& which) {
  std::uint32_t index = 0;
  for (const Request* each = requests_.find(0); each; each = requests_.find(++index)) {
    if (each->is_part() || each->is_copy() || each->is_combined()) continue;
    const bool recent = issued - each->id <= window_.size();
    if (recent && window_.outstanding(each->id) && which(each->address)) return true;
  }
  return false;
}

Time RequestQueue::earliest_answer(RemainingTime& left) {
  Time earliest = Time::max();
  std::uint32_t index = 0;
  for (const Request* each = requests_.find(0); each; each = requests_.find(++index)) {
    const bool ends_it = each->lines == 1 || each->is_part();  // an access of several ends with a part
    if (each->requester() == requester_ && ends_it && window_.outstanding(each->id))
      earliest = std::min(earliest, each->account.mark() + left.of(*each));
  }
  return earliest;
}

void RequestQueue::resources(ResourceSink& sink) const {
  sink.add({.name = "the queue of",
            .stage = Stage::kRequester,
            .capacity = size_,
            .occupancy = Occupancy::kLevel,
            .measures = {"per_requester.*.in_flight_mean"},
            .wait = Segment::kRequesterQueue,
            .counts = Traffic::kRequests,
            .part = "requester",
            .twice = {doubled("queue", size_)},
            .twice_text = std::to_string(2 * std::uint64_t{size_}) + " in flight"});
}

std::uint64_t RequestQueue::bytes(std::uint32_t size, std::uint64_t under_way) {
  return under_way * kBytesInFlight + AccessWindow::accesses(size) / 8;
}

}  // namespace cxloom
