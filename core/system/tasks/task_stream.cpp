#include "system/tasks/task_stream.hpp"

#include <algorithm>
#include <utility>

#include "device/requester/requester.hpp"
#include "kernel/kernel.hpp"
#include "protocol/request.hpp"

namespace cxloom {

TaskStream::TaskStream(Kernel& kernel, Requester& requester, LaneObserver& observer, bool cores)
    : kernel_(kernel),
      requester_(requester),
      observer_(observer),
      cores_(cores),
      source_(kernel.new_source()) {}

void TaskStream::add_lane(std::uint32_t lane, std::uint32_t threads) {
  lanes_.push_back({.number = lane, .first_thread = threads_});
  threads_ += threads;
}

void TaskStream::begin(std::uint32_t lane, LineTask& task) {
  const auto found = std::ranges::find(lanes_, lane, &Lane::number);
  found->task = &task;
  found->failed = found->told = false;
  for (std::uint32_t thread = 0; thread < task.threads(); ++thread) {
    if (!task.made(thread)) running_.push_back({static_cast<std::size_t>(found - lanes_.begin()), thread});
  }
  requester_.resume();
}

// Cores have more to do than accesses: nobody knows when they are through.
std::uint64_t TaskStream::accesses_left() const {
  std::uint64_t least = ~std::uint64_t{0};
  for (const Lane& lane : lanes_) {
    if (!lane.task || lane.told) continue;
    least = std::min(least, cores_ ? 0 : lane.task->accesses_left());
  }
  return least;
}

bool TaskStream::next(Access& access) {
  if (wanted_ && cores_) {
    const std::uint32_t wanted = *std::exchange(wanted_, std::nullopt);
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (lanes_[running_[i].lane].first_thread + running_[i].thread == wanted) return give(i, access);
    }
  }
  Time due = Time::max();
  for (std::size_t tried = 0; tried < running_.size(); ++tried) {
    const std::size_t place = (turn_ + tried) % running_.size();
    const Running& running = running_[place];
    const Time each = running.made ? Time{} : lanes_[running.lane].task->due(running.thread);
    if (each <= kernel_.now()) {
      turn_ = place + 1;
      return give(place, access);
    }
    due = std::min(due, each);
  }
  if (due != Time::max()) wake_when_due(due);
  return false;
}

// A core has nothing to do behind its last access: time does not stand still for it meanwhile.
bool TaskStream::give(std::size_t place, Access& access) {
  Running& running = running_[place];
  Lane& lane = lanes_[running.lane];
  const std::uint32_t thread = lane.first_thread + running.thread;
  const bool ends = running.made;
  if (ends) {
    access = {};
    access.role = AccessRole::kWait;
    given_.push_back({.answered = true});
  } else {
    lane.task->next(running.thread, count_, access);
    given_.push_back({.lane = running.lane, .counts = lane.task->counted()});
    running.made = lane.task->made(running.thread);
  }
  ++count_;
  if (cores_) access.thread = thread;
  if (ends || (running.made && !cores_))
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(place));
  return true;
}

void TaskStream::wake_when_due(Time due) {
  if (armed_ == due) return;
  armed_ = due;
  kernel_.schedule(due, source_, *this, 0);
}

void TaskStream::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  if (armed_ <= kernel_.now()) armed_ = Time::max();
  requester_.resume();
}

void TaskStream::answered(std::uint64_t number, const Request& request, Time now) {
  Given& given = given_[number - first_given_];
  Lane& lane = lanes_[given.lane];
  given.answered = true;
  lane.failed |= request.failed;
  lane.task->answered(given.counts, now);
  while (!given_.empty() && given_.front().answered) {
    given_.pop_front();
    ++first_given_;
  }
  if (lane.told || !lane.task->over()) return;
  lane.told = true;
  observer_.lane_done(lane.number, lane.failed);
}

}  // namespace cxloom
