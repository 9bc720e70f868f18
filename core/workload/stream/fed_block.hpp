// A block on its way, as the accesses of the device that moves it: all as one, for a DMA engine, or line by
// line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>

#include "workload/stream/access_stream.hpp"
#include "workload/stream/block_order.hpp"

namespace cxloom {

class FedBlock {
 public:
  /// Told of the end, and whether some of it was answered without data.
  using Moved = std::function<void(bool failed, Time now)>;
  /// How the device makes it.
  struct Form {
    bool whole = false;     ///< as one access of many pieces, each of which goes on with the one before
    std::uint64_t lag = 0;  ///< lines that a copy within memory reads ahead of its writes
  };

  FedBlock(const BlockOrder& order, const Form& form, Moved moved)
      : order_(order), form_(form), moved_(std::move(moved)) {}

  /// The next access, which is number `number` of the stream. To be called until all are given.
  void next(std::uint64_t number, Access& access) {
    access = {};
    const bool writes = order_.to && (!order_.from || read_ == order_.bytes || ahead_.size() > form_.lag);
    if (writes && order_.from) {
      write_behind(number, access);
    } else {
      make(access, writes ? *order_.to : *order_.from, read_, writes);
      if (order_.to && order_.from) ahead_.emplace_back(number, read_);
      read_ += access.size;
      access.continues = form_.whole && read_ < order_.bytes;
    }
    ++unanswered_;
  }
  bool all_given() const { return read_ == order_.bytes && ahead_.empty(); }

  /// One of its accesses is answered; true: that was the last.
  bool answered(bool failed) {
    failed_ |= failed;
    --unanswered_;
    return unanswered_ == 0 && all_given();
  }
  void tell(Time now) {
    if (moved_) moved_(failed_, now);
  }

 private:
  static constexpr std::uint64_t kPiece = 4096;

  // A line is written once it is there.
  void write_behind(std::uint64_t number, Access& access) {
    const auto [read, offset] = ahead_.front();
    ahead_.pop_front();
    make(access, *order_.to, offset, true);
    access.dependence = static_cast<std::uint32_t>(number - read);
  }

  void make(Access& access, Address base, std::uint64_t offset, bool writes) const {
    const std::uint64_t at = base.value() + offset;
    const std::uint64_t unit = form_.whole ? kPiece : kLineBytes;
    access.address = Address{at};
    access.size = static_cast<std::uint16_t>(std::min(unit - at % unit, order_.bytes - offset));
    access.kind = writes ? AccessKind::kWrite : AccessKind::kRead;
  }

  BlockOrder order_;
  Form form_;
  Moved moved_;
  std::uint64_t read_ = 0;                                     // bytes; those written, where nothing is read
  std::deque<std::pair<std::uint64_t, std::uint64_t>> ahead_;  // read and not written: the access, the offset
  std::uint64_t unanswered_ = 0;
  bool failed_ = false;
};

}  // namespace cxloom
