#include "program/feed/directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.hpp"
#include "program/feed/blocks.hpp"
#include "program/feed/record.hpp"

namespace cxloom {

FeedDirectory::FeedDirectory(std::string folder, const Sizes& sizes)
    : folder_(std::move(folder)), sizes_(sizes) {
  ensure(std::has_single_bit(sizes.thread_words) && std::has_single_bit(sizes.process_words) &&
             sizes.process_words >=
                 block_form::kHeadWords + block_form::kInstructionWords * feed::kMostInstructions,
         "rings of another size than a power of two, or too small for a block");
  const std::string name = folder_ + "/control";
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg)
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  int error = file < 0 ? errno : posix_fallocate(file, 0, kFeedControlBytes);
  if (file >= 0) ::close(file);
  if (error == 0) {
    control_ = SharedPages::of_file(name);
    if (control_.bytes() < kFeedControlBytes) error = errno;
  }
  if (error != 0) {
    throw InputError({"no memory to share with the program",
                      std::string(std::strerror(error)),
                      "a temporary folder with some room",
                      {}},
                     name);
  }
  auto* const control = new (control_.at(0)) FeedControl;
  control->mark = FeedControl::kMark;
  control->version = kFeedVersion;
  control->reader = static_cast<std::uint32_t>(getpid());
  control->thread_words = sizes.thread_words;
  control->process_words = sizes.process_words;
}

std::string FeedDirectory::failure() const {
  if (control().failed.load(std::memory_order_acquire) == 0) return {};
  const char* const text = control().failure;
  return {text, strnlen(text, sizeof(FeedControl::failure))};
}

std::string FeedDirectory::lacking() const {
  if (control().lacked.load(std::memory_order_acquire) == 0) return {};
  const char* const text = control().lacking;
  return {text, strnlen(text, sizeof(FeedControl::lacking))};
}

std::string FeedDirectory::name_of(std::uint32_t ring) const { return folder_ + "/" + std::to_string(ring); }

std::vector<FeedDirectory::Ring> FeedDirectory::open_rings() {
  std::vector<Ring> opened;
  if (has_all()) return opened;
  const std::uint32_t rings = control().rings.load(std::memory_order_acquire);
  for (; announced_ < rings; ++announced_) unopened_.push_back(announced_);
  for (const std::uint32_t number : std::exchange(unopened_, {})) {
    if (!open_ring(number, opened)) unopened_.push_back(number);
  }
  return opened;
}

bool FeedDirectory::open_ring(std::uint32_t number, std::vector<Ring>& opened) {
  Ring ring{number, SharedPages::of_file(name_of(number))};
  if (ring.pages.bytes() < kFeedHeadBytes) return false;
  const FeedRingHead& head = ring.head();
  if (head.mark.load(std::memory_order_acquire) != FeedRingHead::kMark) return false;
  const bool process = head.kind == FeedRingHead::kProcess;
  if ((!process && head.kind != FeedRingHead::kThread) ||
      head.words != (process ? sizes_.process_words : sizes_.thread_words) ||
      ring.pages.bytes() < kFeedHeadBytes + std::size_t{head.words} * sizeof(std::uint64_t)) {
    refuse_feed("a ring of another size or kind");
  }
  // The thread's process, or that process's parent, was announced before it, perhaps after it was looked for.
  const std::uint32_t needed = process ? head.parent : head.process;
  if (needed != number && std::ranges::find(unopened_, needed) != unopened_.end()) return false;
  ::unlink(name_of(number).c_str());  // both have it mapped: nobody needs its name
  opened.push_back(std::move(ring));
  return true;
}

}  // namespace cxloom
