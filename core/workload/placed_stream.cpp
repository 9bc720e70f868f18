#include "workload/placed_stream.hpp"

#include <algorithm>
#include <bit>

#include "base/error.hpp"

namespace cxloom {

ProgramMemory::ProgramMemory(std::vector<Frames> frames, Bytes page, std::vector<Frames> spare)
    : frames_(std::move(frames)),
      next_(frames_.size()),
      spare_(std::move(spare)),
      next_spare_(frames_.size()),
      given_back_(frames_.size()),
      page_(page.count()) {
  for (const Frames& node : frames_) free_.push_back(count_of(node));
  spare_.resize(frames_.size());
}

ProgramMemory::Frame ProgramMemory::take(std::size_t node) {
  --free_[node];
  if (given_back_[node].empty()) return take_next(frames_[node], next_[node]);
  const Frame frame = given_back_[node].back();
  given_back_[node].pop_back();
  return frame;
}

std::optional<ProgramMemory::Frame> ProgramMemory::take_spare(std::size_t node) {
  Place& next = next_spare_[node];
  while (next.run < spare_[node].size() && next.frame == spare_[node][next.run].count)
    next = {next.run + 1, 0};
  if (next.run < spare_[node].size()) return take_next(spare_[node], next);
  return free_[node] > 0 ? std::optional(take(node)) : std::nullopt;
}

ProgramMemory::Frame ProgramMemory::take_next(const Frames& frames, Place& next) const {
  while (next.frame == frames[next.run].count) next = {next.run + 1, 0};
  const FrameRun& run = frames[next.run];
  const std::uint64_t frame = next.frame++;
  return {Address{run.base.value() + frame * page_}, (run.count - frame) * page_};
}

void ProgramMemory::give_back(std::size_t node, const Frame& frame) {
  given_back_[node].push_back(frame);
  ++free_[node];
}

PlacedStream::PlacedStream(std::unique_ptr<AccessStream> stream, std::unique_ptr<PagePlacement> placement,
                           ProgramMemory memory, std::vector<std::string> nodes, Bytes page,
                           Division division, std::string path, std::unique_ptr<PagePlacement> tables)
    : stream_(std::move(stream)),
      placement_(std::move(placement)),
      tables_(std::move(tables)),
      memory_(std::move(memory)),
      nodes_(std::move(nodes)),
      page_bits_(static_cast<unsigned>(std::countr_zero(page.count()))),
      division_(division),
      path_(std::move(path)),
      taken_(nodes_.size()) {}

const ProgramMemory::Frame& PlacedStream::frame_of(const Access& access) {
  const std::uint64_t page = access.address.value() >> page_bits_;
  const std::uint64_t number = pages_.frame_of(page);
  if (number == placed_.size()) take_frame(page, tables_ && access.is_page_walk() ? *tables_ : *placement_);
  return placed_[number].frame;
}

// An access across the end of its page goes on in the frame behind, so that it stays one access. Where the frame behind is
// not the program's, it ends with the last byte that is.
Address PlacedStream::placed(const Access& access) {
  const ProgramMemory::Frame& frame = frame_of(access);
  if (access.size > frame.room) refuse_length(access, frame.room);
  const std::uint64_t within = access.address.value() & ((std::uint64_t{1} << page_bits_) - 1);
  return Address{frame.base.value() + std::min(within, frame.room - access.size)};
}

void PlacedStream::take_frame(std::uint64_t page, PagePlacement& placement) {
  const auto choice = placement.place(page, 1, memory_.free());
  if (!choice) refuse_page();
  ensure(choice->pages == 1 && memory_.free()[choice->node] > 0, "a page placed where no frame is left");
  ++taken_[choice->node];
  placed_.push_back({memory_.take(choice->node), page, choice->node});
}

void PlacedStream::refuse_page() const {
  const Bytes page{std::uint64_t{1} << page_bits_};
  const std::uint64_t had = placed_.size();
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

// --- moves ---

std::optional<std::size_t> PlacedStream::node_of_memory(const std::string& memory) const {
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const std::string names = "+" + nodes_[node] + "+";
    if (nodes_[node] == memory || names.find("+" + memory + "+") != std::string::npos) return node;
  }
  return std::nullopt;
}

std::vector<std::uint64_t> PlacedStream::pages_in(std::size_t node,
                                                  const std::optional<AddressRange>& range) const {
  std::vector<std::uint64_t> found;
  for (std::uint64_t number = 0; number < placed_.size(); ++number) {
    const Placed& placed = placed_[number];
    const std::uint64_t base = placed.page << page_bits_;
    const bool within = !range || (base >= range->base.value() && base - range->base.value() < range->bytes);
    if (placed.node == node && within) found.push_back(number);
  }
  return found;
}

std::optional<PageMove> PlacedStream::begin_move(std::uint64_t page, std::size_t node) {
  if (placed_[page].node == node) return std::nullopt;
  const auto frame = memory_.take_spare(node);
  if (!frame) return std::nullopt;
  const std::uint64_t bytes = std::uint64_t{1} << page_bits_;
  return PageMove{page, placed_[page].frame.base, frame->base, bytes, node, frame->room};
}

void PlacedStream::end_move(const PageMove& move) {
  Placed& placed = placed_[move.page];
  ensure(placed.frame.base == move.from, "a page that was not where it was moved from");
  memory_.give_back(placed.node, placed.frame);
  --taken_[placed.node];
  ++taken_[move.node];
  placed.frame = {move.to, move.room};
  placed.node = move.node;
}

void PlacedStream::give_up_move(const PageMove& move) { memory_.give_back(move.node, {move.to, move.room}); }

std::optional<Value> PlacedStream::pages_by_node() const {
  Value::Map pages;
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    pages.emplace_back(nodes_[node], static_cast<std::int64_t>(taken_[node]));
  return pages;
}

}  // namespace cxloom
