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
  /// `pages` is shared by all programs of a simulation; `program` (below 4096) keeps their address spaces apart.
  /// Frames start at `base`.
  FirstTouchStream(std::unique_ptr<AccessStream> stream, PageMap& pages, std::uint32_t program, Address base)
      : stream_(std::move(stream)),
        pages_(pages),
        program_(std::uint64_t{program} << 52U),
        base_(base.value()) {}

  bool next(Access& access) override {
    if (!stream_->next(access)) return false;
    const std::uint64_t address = access.address.value();
    const std::uint64_t frame = pages_.frame_of(program_ | (address / kPageBytes));
    access.address = Address{base_ + frame * kPageBytes + address % kPageBytes};
    return true;
  }
  std::optional<std::uint64_t> length() const override { return stream_->length(); }

 private:
  std::unique_ptr<AccessStream> stream_;
  PageMap& pages_;
  std::uint64_t program_;
  std::uint64_t base_;
};

}  // namespace cxloom
