#include "component/delivery_order.hpp"

#include <thread>

#include "kernel/relax.hpp"

namespace cxloom {

namespace {

constexpr int kSpins = 200;

}  // namespace

// The thread that has the lock may have lost its processor.
void DeliveryOrder::SpinLock::wait() const {
  for (int i = 0; i < kSpins; ++i) {
    if (!taken_.test(std::memory_order_relaxed)) return;
    relax();
  }
  std::this_thread::yield();
}

DeliveryOrder::DeliveryOrder(bool threads)
    : count_(threads ? kTablesOfThreads : 1), tables_(std::make_unique<Table[]>(count_)) {}

std::size_t DeliveryOrder::held() const {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < count_; ++i) sum += tables_[i].streams.held();
  return sum;
}

std::size_t DeliveryOrder::streams() const {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < count_; ++i) sum += tables_[i].streams.streams();
  return sum;
}

}  // namespace cxloom
