#include "kernel/thread_team.hpp"

#include <pthread.h>
#include <sched.h>
#include <algorithm>
#include <ctime>
#include <thread>

#include "kernel/relax.hpp"

namespace cxloom {

namespace {

// Some hundred microseconds: longer than a part mostly waits for another in a window, which is why it spins
// at all. With a sixteenth of that, threads slept and woke in each window, and a chain gained 1.2 instead
// of 1.6.
constexpr unsigned kSpins = 1U << 13U;
// Once by chance, and it spins again the next time; from then on each in vain doubles the waits without, up
// to 126.
constexpr unsigned kMostInVain = 7;

}  // namespace

ThreadTeam::ThreadTeam(std::size_t size) : size_(size), spins_(size <= available_processors() ? kSpins : 0) {}

/// Returns when the value is no longer `old`.
void ThreadTeam::wait_while(const std::atomic<std::uint32_t>& value, std::uint32_t old,
                            Patience& patience) const {
  if (patience.pauses > 0) {
    --patience.pauses;
  } else {
    for (unsigned i = 0; i < spins_; ++i) {
      if (value.load(std::memory_order_acquire) != old) {
        patience.in_vain = 0;
        return;
      }
      relax();
    }
    patience.in_vain = std::min(patience.in_vain + 1, kMostInVain);
    patience.pauses = (1U << patience.in_vain) - 2;
  }
  value.wait(old, std::memory_order_acquire);
}

ThreadTeam::~ThreadTeam() {
  if (threads_.empty()) return;
  over_ = true;
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::start() {
  threads_.reserve(size_ - 1);
  for (std::size_t i = 1; i < size_; ++i) threads_.emplace_back([this, i] { live(i); });
}

void ThreadTeam::run(const std::function<void(std::size_t)>& work) {
  work_ = &work;
  if (threads_.empty() && size_ > 1) start();
  at_work_.store(static_cast<std::uint32_t>(size_ - 1), std::memory_order_relaxed);
  round_.fetch_add(1, std::memory_order_release);
  round_.notify_all();
  work(0);
  for (std::uint32_t left = at_work_.load(std::memory_order_acquire); left != 0;
       left = at_work_.load(std::memory_order_acquire)) {
    wait_while(at_work_, left, patience_);
  }
}

void ThreadTeam::live(std::size_t index) {
  Patience patience;
  for (std::uint32_t seen = 0;;) {
    wait_while(round_, seen, patience);
    seen = round_.load(std::memory_order_acquire);
    if (over_) return;
    (*work_)(index);
    if (at_work_.fetch_sub(1, std::memory_order_acq_rel) == 1) at_work_.notify_one();
  }
}

double ThreadTeam::cpu_seconds() {
  double sum = 0;
  for (std::thread& thread : threads_) {
    clockid_t clock{};
    timespec used{};
    if (pthread_getcpuclockid(thread.native_handle(), &clock) != 0) continue;
    if (clock_gettime(clock, &used) == 0)
      sum += static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
  }
  return sum;
}

std::uint32_t available_processors() {
  cpu_set_t allowed{};
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    return static_cast<std::uint32_t>(std::max(CPU_COUNT(&allowed), 1));
  return std::max(std::thread::hardware_concurrency(), 1U);
}

}  // namespace cxloom
