#include "workload/placed_stream.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"

namespace cxloom {

ProgramMemory::ProgramMemory(std::vector<Frames> frames, Bytes page)
    : frames_(std::move(frames)), next_(frames_.size()), page_(page.count()) {
  for (const Frames& node : frames_) free_.push_back(count_of(node));
}

ProgramMemory::Frame ProgramMemory::take(std::size_t node) {
  Place& place = next_[node];
  while (place.frame == frames_[node][place.run].count) place = {place.run + 1, 0};
  const FrameRun& run = frames_[node][place.run];
  const std::uint64_t frame = place.frame++;
  --free_[node];
  return {Address{run.base.value() + frame * page_}, (run.count - frame) * page_};
}

PlacedStream::PlacedStream(std::unique_ptr<AccessStream> stream, std::unique_ptr<PagePlacement> placement,
                           ProgramMemory memory, std::vector<std::string> nodes, Bytes page,
                           Division division, std::string path)
    : stream_(std::move(stream)),
      placement_(std::move(placement)),
      memory_(std::move(memory)),
      nodes_(std::move(nodes)),
      page_bits_(static_cast<unsigned>(std::countr_zero(page.count()))),
      division_(division),
      path_(std::move(path)),
      taken_(nodes_.size()) {}

const ProgramMemory::Frame& PlacedStream::frame_of(Address address) {
  const std::uint64_t page = address.value() >> page_bits_;
  const std::uint64_t number = pages_.frame_of(page);
  if (number == frames_.size()) take_frame(page);
  return frames_[number];
}

// An access across the end of its page goes on in the frame behind, so that it stays one access. Where the frame behind is
// not the program's, it ends with the last byte that is.
Address PlacedStream::placed(const Access& access) {
  const ProgramMemory::Frame& frame = frame_of(access.address);
  if (access.size > frame.room) refuse_length(access, frame.room);
  const std::uint64_t within = access.address.value() & ((std::uint64_t{1} << page_bits_) - 1);
  return Address{frame.base.value() + std::min(within, frame.room - access.size)};
}

void PlacedStream::take_frame(std::uint64_t page) {
  const auto choice = placement_->place(page, 1, memory_.free());
  if (!choice) refuse_page();
  ensure(choice->pages == 1 && memory_.free()[choice->node] > 0, "a page placed where no frame is left");
  ++taken_[choice->node];
  frames_.push_back(memory_.take(choice->node));
}

void PlacedStream::refuse_page() const {
  const Bytes page{std::uint64_t{1} << page_bits_};
  const std::uint64_t had = frames_.size();
  throw InputError(
      {"out of memory: the program touches more pages than the memories have frames that its pages may use, "
       "and Linux would kill it",
       "page " + std::to_string(had + 1) + " of " + to_text(page),
       "at most " + counted(had, "page") + " (" + to_text(Bytes{had * page.count()}) + ")" + share(),
       {}},
      path_);
}

void PlacedStream::refuse_length(const Access& access, std::uint64_t room) const {
  const Bytes page{std::uint64_t{1} << page_bits_};
  throw InputError(
      {"the access is longer than the memory that follows on its first byte",
       to_text(Bytes{access.size}) + " from " + to_text(access.address) + " on, in pages of " + to_text(page),
       "at most " + to_text(Bytes{room}) + " in frames that lie side by side" + share(),
       {}},
      path_);
}

std::string PlacedStream::share() const {
  if (division_.programs < 2) return {};
  return ", its share of " + counted(division_.frames, "frame") + " among " +
         counted(division_.programs, "program");
}

std::optional<Value> PlacedStream::pages_by_node() const {
  Value::Map pages;
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    pages.emplace_back(nodes_[node], static_cast<std::int64_t>(taken_[node]));
  return pages;
}

}  // namespace cxloom
