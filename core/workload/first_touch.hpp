// First touch: each page that a program touches gets a frame of memory, out of frames that are the program's own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "protocol/address_map.hpp"
#include "workload/access_stream.hpp"
#include "workload/page_map.hpp"

namespace cxloom {

/// Frames of memory that follow each other.
struct FrameRun {
  Address base;
  std::uint64_t count = 0;
};
using Frames = std::vector<FrameRun>;

/// The whole frames that an address map holds, in the order of its regions.
Frames frames_of(const AddressMap& map);
std::uint64_t count_of(const Frames& frames);

/// Divides memory among programs that touch so many pages at most, so that what one of them gets does not depend on when the
/// others touch theirs: each gets as many frames as pages, one program's behind the other's. If the pages are more than
/// there are frames, shares are max-min fair: who needs less than an equal share gets all that it needs, and the others
/// share the rest evenly. Programs whose number of pages is not known share what the others leave, at least a frame each.
std::vector<Frames> divide(const Frames& memory, std::span<const std::optional<std::uint64_t>> pages);

/// How many different pages the next `accesses` of a stream touch, or those to its end if they are fewer; takes them.
std::uint64_t pages_touched(AccessStream& stream, std::uint64_t accesses);
/// How many different pages these addresses are in.
std::uint64_t pages_in(std::vector<AddressRange> ranges);

/// What was divided, for who gets too little of it.
struct Division {
  std::uint64_t frames = 0;
  std::size_t programs = 1;
};

/// Gives each page the next free frame of its program when it is first touched, as an operating system does.
class FirstTouchStream final : public AccessStream {
 public:
  /// `frames` are its share of what was divided; `path` is where the user asked for it.
  FirstTouchStream(std::unique_ptr<AccessStream> stream, Frames frames, Division division, std::string path)
      : stream_(std::move(stream)), frames_(std::move(frames)), division_(division), path_(std::move(path)) {}

  /// Throws InputError if the program needs more memory than it has.
  bool next(Access& access) override {
    if (!stream_->next(access)) return false;
    access.address = place(access);
    return true;
  }
  std::optional<std::uint64_t> length() const override { return stream_->length(); }

 private:
  Address place(const Access& access);
  [[noreturn]] void refuse_page(std::uint64_t page) const;
  [[noreturn]] void refuse_length(const Access& access, std::uint64_t page, std::uint64_t room) const;
  std::string share() const;

  std::unique_ptr<AccessStream> stream_;
  Frames frames_;
  Division division_;
  std::string path_;
  PageMap pages_;
};

}  // namespace cxloom
