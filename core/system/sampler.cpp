#include "system/sampler.hpp"

#include <utility>

namespace cxloom {

Sampler::Sampler(Kernel& kernel, std::vector<LinkEnd*> ends, Time interval)
    : kernel_(kernel), source_(kernel.new_source()), ends_(std::move(ends)), interval_(interval) {}

void Sampler::open_window(Time now) {
  open_ = true;
  opened_ = now;
  before_.assign(ends_.size(), {});
  kernel_.schedule_background(now + interval_, source_, *this, 0);
}

void Sampler::wake(std::uint8_t /*kind*/, std::uint64_t /*payload*/) {
  if (!open_) return;
  const Time now = kernel_.now();
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    ends_[i]->catch_up(now);
    WireMonitor& monitor = ends_[i]->monitor();
    const Time busy = monitor.totals(now).busy;
    monitor.queue().advance(now);
    const double integral = monitor.queue().integral();
    const auto interval = static_cast<double>(interval_.ps());
    rows_.push_back({now - opened_, static_cast<std::uint32_t>(i),
                     static_cast<float>(static_cast<double>((busy - before_[i].busy).ps()) / interval),
                     static_cast<float>((integral - before_[i].queue_integral) / interval)});
    before_[i] = {busy, integral};
  }
  kernel_.schedule_background(now + interval_, source_, *this, 0);
}

std::vector<Sampler::Row> Sampler::take_rows() { return std::exchange(rows_, {}); }

}  // namespace cxloom
