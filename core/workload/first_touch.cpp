#include "workload/first_touch.hpp"

#include <algorithm>
#include <numeric>

#include "base/error.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kUnbounded = ~std::uint64_t{0};

std::uint64_t last_page(Address address, std::uint64_t bytes) {
  const std::uint64_t room = ~std::uint64_t{0} - address.value();
  return (address.value() + std::min(room, bytes == 0 ? 0 : bytes - 1)) / kPageBytes;
}

/// Takes frames from memory, from its first one on.
class FrameTaker {
 public:
  explicit FrameTaker(const Frames& memory) : left_(memory) {}

  Frames take(std::uint64_t count) {
    Frames taken;
    while (count > 0) {
      FrameRun& run = left_[at_];
      const std::uint64_t part = std::min(count, run.count);
      if (part > 0) taken.push_back({run.base, part});
      run.base = Address{run.base.value() + part * kPageBytes};
      run.count -= part;
      count -= part;
      if (run.count == 0) ++at_;
    }
    return taken;
  }

 private:
  Frames left_;
  std::size_t at_ = 0;
};

}  // namespace

Frames frames_of(const AddressMap& map) {
  Frames frames;
  for (const AddressMap::Extent& extent : map.extents()) {
    if (extent.bytes >= kPageBytes) frames.push_back({extent.base, extent.bytes / kPageBytes});
  }
  return frames;
}

std::uint64_t count_of(const Frames& frames) {
  return std::accumulate(frames.begin(), frames.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const FrameRun& run) { return sum + run.count; });
}

std::vector<Frames> divide(const Frames& memory, std::span<const std::optional<std::uint64_t>> pages) {
  // Who needs least comes first, and leaves the others more than an equal share each; who may need anything comes last.
  std::vector<std::pair<std::uint64_t, std::size_t>> order;  // what is needed, and by which program
  for (std::size_t i = 0; i < pages.size(); ++i) order.emplace_back(pages[i].value_or(kUnbounded), i);
  std::ranges::sort(order);
  auto known = static_cast<std::uint64_t>(
      std::ranges::count_if(pages, [](const auto& each) { return each.has_value(); }));
  std::uint64_t unknown = pages.size() - known;
  std::uint64_t left = count_of(memory);
  std::vector<std::uint64_t> counts(pages.size());
  for (const auto& [need, program] : order) {
    const bool is_known = pages[program].has_value();
    const std::uint64_t kept = is_known ? std::min(left, unknown) : 0;
    std::uint64_t& sharers = is_known ? known : unknown;
    counts[program] = std::min(need, (left - kept) / sharers--);
    left -= counts[program];
  }
  std::vector<Frames> shares;
  FrameTaker taker(memory);
  for (const std::uint64_t count : counts) shares.push_back(taker.take(count));
  return shares;
}

std::uint64_t pages_touched(AccessStream& stream, std::uint64_t accesses) {
  PageMap pages;
  for (Access access; accesses > 0 && stream.next(access); --accesses) {
    const std::uint64_t last = last_page(access.address, access.size);
    for (std::uint64_t page = access.address.value() / kPageBytes; page <= last; ++page) pages.frame_of(page);
  }
  return pages.frames();
}

std::uint64_t pages_in(std::vector<AddressRange> ranges) {
  std::ranges::sort(ranges, {}, [](const AddressRange& range) { return range.base.value(); });
  std::uint64_t pages = 0;
  std::uint64_t next = 0;  // the first page behind those counted
  for (const AddressRange& range : ranges) {
    const std::uint64_t first = std::max(next, range.base.value() / kPageBytes);
    const std::uint64_t end = last_page(range.base, range.bytes) + 1;
    if (end > first) pages += end - first;
    next = std::max(next, end);
  }
  return pages;
}

// An access across the end of its page goes on in the frame behind, so that it stays one access. Where the frame behind is
// not the program's, it ends with the last byte that is.
Address FirstTouchStream::place(const Access& access) {
  const std::uint64_t own = pages_.frame_of(access.address.value() / kPageBytes);
  std::uint64_t frame = own;
  for (const FrameRun& run : frames_) {
    if (frame >= run.count) {
      frame -= run.count;
      continue;
    }
    const std::uint64_t room = (run.count - frame) * kPageBytes;
    if (access.size > room) refuse_length(access, own, room);
    const std::uint64_t offset = std::min(access.address.value() % kPageBytes, room - access.size);
    return Address{run.base.value() + frame * kPageBytes + offset};
  }
  refuse_page(own);
}

void FirstTouchStream::refuse_page(std::uint64_t page) const {
  const std::uint64_t frames = count_of(frames_);
  throw InputError(
      {"the program touches more pages than there are frames of memory for it",
       "page " + std::to_string(page + 1) + " of " + to_text(Bytes{kPageBytes}),
       "at most " + counted(frames, "page") + " (" + to_text(Bytes{frames * kPageBytes}) + ")" + share(),
       {}},
      path_);
}

void FirstTouchStream::refuse_length(const Access& access, std::uint64_t page, std::uint64_t room) const {
  throw InputError({"the access is longer than the memory that follows on its first byte",
                    to_text(Bytes{access.size}) + " from page " + std::to_string(page + 1) + " of " +
                        to_text(Bytes{kPageBytes}) + " on",
                    "at most " + to_text(Bytes{room}) + " in frames that lie side by side" + share(),
                    {}},
                   path_);
}

std::string FirstTouchStream::share() const {
  if (division_.programs < 2) return {};
  return ", its share of " + counted(division_.frames, "frame") + " among " +
         counted(division_.programs, "program");
}

}  // namespace cxloom
