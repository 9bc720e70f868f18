// A stream that is read ahead of who makes its accesses: how often each page comes among the next ones, in
// the order of the stream. No kernel has this; an oracle among the policies that move pages does, for what
// knowing the future would gain.
#pragma once

#include <bit>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>

#include "workload/stream/access_stream.hpp"

namespace cxloom {

class ForeseenStream final : public AccessStream {
 public:
  /// So many accesses ahead, in pages of this size, of the first `most`: what comes behind them is not made,
  /// but for others' sake.
  ForeseenStream(std::unique_ptr<AccessStream> stream, std::uint64_t ahead, std::uint64_t most, Bytes page)
      : stream_(std::move(stream)),
        ahead_(ahead),
        most_(most),
        page_bits_(static_cast<unsigned>(std::countr_zero(page.count()))) {}

  /// Accesses to the page of that address among the next ones.
  std::uint64_t coming(Address address) const {
    const auto found = by_page_.find(address.value() >> page_bits_);
    return found == by_page_.end() ? 0 : found->second;
  }

  bool next(Access& access) override {
    read_ahead();
    if (next_.empty()) return stream_->next(access);
    access = next_.front();
    next_.pop_front();
    past_ -= access.past ? 1 : 0;
    if (access.reaches_memory()) forget(access);
    read_ahead();
    return true;
  }
  bool open() const override { return stream_->open(); }
  bool from_outside() const override { return stream_->from_outside(); }
  bool wants_answers() const override { return stream_->wants_answers(); }
  void answered(std::uint64_t number, const Request& request, Time now) override {
    stream_->answered(number, request, now);
  }
  std::optional<AddressRange> range() const override { return stream_->range(); }
  std::uint64_t per_access() const override { return stream_->per_access(); }
  bool repeats() const override { return next_.empty() && stream_->repeats(); }
  std::uint64_t left_at_least() const override { return stream_->left_at_least(); }
  /// What was read ahead comes before what the stream tells of.
  bool may_store_past() const override { return past_ > 0 || stream_->may_store_past(); }
  std::optional<std::uint64_t> length() const override { return stream_->length(); }

 private:
  void read_ahead() {
    for (Access access; read_ < most_ && next_.size() < ahead_ && stream_->next(access); access = {}) {
      next_.push_back(access);
      past_ += access.past ? 1 : 0;
      if (!access.reaches_memory()) continue;
      ++read_;
      ++by_page_[access.address.value() >> page_bits_];
    }
  }
  void forget(const Access& access) {
    const auto found = by_page_.find(access.address.value() >> page_bits_);
    if (--found->second == 0) by_page_.erase(found);
  }

  std::unique_ptr<AccessStream> stream_;
  std::uint64_t ahead_;
  std::uint64_t most_;
  std::uint64_t read_ = 0;  // of those
  std::uint64_t past_ = 0;  // stores in `next_` that go past the caches
  unsigned page_bits_;
  std::deque<Access> next_;
  std::unordered_map<std::uint64_t, std::uint64_t> by_page_;
};

}  // namespace cxloom
