// Streams made of streams: phases that follow each other, and the mapping of a program's pages to memory.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "workload/access_stream.hpp"
#include "workload/page_map.hpp"

namespace cxloom {

/// A round of phases, over and over.
class PhasedStream final : public AccessStream {
 public:
  struct Phase {
    std::unique_ptr<AccessStream> stream;
    std::uint64_t requests = 1;
  };

  explicit PhasedStream(std::vector<Phase> phases) : phases_(std::move(phases)) {}

  bool next(Access& access) override {
    if (done_ == phases_[at_].requests) {
      done_ = 0;
      at_ = (at_ + 1) % phases_.size();
    }
    ++done_;
    return phases_[at_].stream->next(access);
  }

 private:
  std::vector<Phase> phases_;
  std::size_t at_ = 0;
  std::uint64_t done_ = 0;
};

/// Gives each page that a program touches the next free frame of memory, as an operating system does at first touch.
class FirstTouchStream final : public AccessStream {
 public:
  /// Which frames are a program's: of so many programs, each has every so many-th frame from `base` on.
  struct Share {
    std::uint32_t program = 0;
    std::uint32_t programs = 1;
    Address base;
  };
  FirstTouchStream(std::unique_ptr<AccessStream> stream, const Share& share)
      : stream_(std::move(stream)), share_(share) {}

  bool next(Access& access) override {
    if (!stream_->next(access)) return false;
    const std::uint64_t address = access.address.value();
    const std::uint64_t own = pages_.frame_of(address / kPageBytes);
    const std::uint64_t frame = own * share_.programs + share_.program;
    access.address = Address{share_.base.value() + frame * kPageBytes + address % kPageBytes};
    return true;
  }
  std::optional<std::uint64_t> length() const override { return stream_->length(); }

 private:
  std::unique_ptr<AccessStream> stream_;
  Share share_;
  PageMap pages_;
};

}  // namespace cxloom
