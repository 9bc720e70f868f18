#include "workload/placement/placed_stream.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

ProgramMemory::ProgramMemory(const Parts& frames, const Parts& spare, bool changes)
    : nodes_(frames.size()), changes_(changes), free_(frames.size()) {
  const auto add = [&](const Parts& parts, bool is_spare) {
    for (std::size_t node = 0; node < parts.size(); ++node) {
      for (std::size_t part = 0; part < parts[node].size(); ++part)
        nodes_[node].push_back({.slice = parts[node][part], .part = part, .spare = is_spare});
    }
  };
  add(frames, false);
  add(spare, true);
  for (std::size_t node = 0; node < nodes_.size(); ++node) count(node);
}

void ProgramMemory::count(std::size_t node) {
  free_[node] = 0;
  for (const Store& store : nodes_[node]) free_[node] += store.spare && !changes_ ? 0 : store.left();
}

void ProgramMemory::offer(std::size_t node, const std::vector<bool>& parts) {
  for (Store& store : nodes_[node]) store.offered = parts[store.part];
  count(node);
}

bool ProgramMemory::offers(std::size_t node) const {
  return std::ranges::any_of(nodes_[node],
                             [](const Store& store) { return store.offered && store.slice.count > 0; });
}

ProgramMemory::Frame ProgramMemory::Store::take() {
  if (given_back.empty()) return frame(given++);
  const Frame frame = given_back.back();
  given_back.pop_back();
  return frame;
}

ProgramMemory::Frame ProgramMemory::take(std::size_t node) {
  --free_[node];
  return std::ranges::find_if(nodes_[node], [](const Store& store) { return store.left() > 0; })->take();
}

ProgramMemory::Taken ProgramMemory::take_all(std::size_t node, std::uint64_t most) {
  const auto store = std::ranges::find_if(nodes_[node], [](const Store& each) { return each.left() > 0; });
  const Taken taken{static_cast<std::size_t>(store - nodes_[node].begin()), store->given,
                    std::min(most, store->slice.count - store->given)};
  store->given += taken.count;
  free_[node] -= taken.count;
  return taken;
}

std::uint64_t ProgramMemory::behind(std::size_t node, const Taken& last) const {
  const Store& store = nodes_[node][last.store];
  return std::min(free_[node], store.slice.count - store.given);
}

std::optional<ProgramMemory::Frame> ProgramMemory::take_spare(std::size_t node) {
  const auto spare =
      std::ranges::find_if(nodes_[node], [](const Store& store) { return store.spare && store.left() > 0; });
  if (spare == nodes_[node].end()) return free_[node] > 0 ? std::optional(take(node)) : std::nullopt;
  free_[node] -= changes_ ? 1 : 0;
  return spare->take();
}

std::optional<Address> ProgramMemory::frame_at(Address address) const {
  for (const std::vector<Store>& stores : nodes_) {
    for (const Store& store : stores) {
      if (const auto base = store.slice.order->frame_at(address)) return base;
    }
  }
  return std::nullopt;
}

std::uint64_t ProgramMemory::left_for_moves(std::size_t node) const {
  std::uint64_t left = 0;
  for (const Store& store : nodes_[node]) left += store.left();
  return left;
}

// To the first store that has been given it, which is where it is taken from next.
void ProgramMemory::give_back(std::size_t node, const Frame& frame) {
  const auto of = std::ranges::find_if(
      nodes_[node], [&](const Store& store) { return store.slice.order->holds(frame.base); });
  of->given_back.push_back(frame);
  count(node);
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

void PlacedStream::offer(const std::vector<std::vector<bool>>& parts) {
  std::vector<bool> has_memory;
  for (std::size_t node = 0; node < parts.size(); ++node) {
    memory_.offer(node, parts[node]);
    has_memory.push_back(memory_.offers(node));
  }
  placement_->nodes_changed(has_memory);
  if (tables_) tables_->nodes_changed(has_memory);
}

// What a placement says the same of is kept as one, and rounds that are alike are, so that memory does not
// grow with the pages.
void PlacedStream::touch(const PageRuns& pages) {
  pages_.expect(pages, division_.programs);
  std::uint64_t had = 0;
  for (PageRun run : pages) {
    while (run.count > 0) {
      const PagePlacement::Round round = placement_->round(run.first, run.count);
      const std::size_t turn = turns_.size();
      if (round.pages > 0 && round.until / 2 >= round.pages) {
        touch_rounds(run.first, round, had);
      } else {
        const std::uint64_t count = touch_turn(run.first, run.count, had);
        touched_.push_back({run.first, count, count, turn, turns_.size() - turn});
      }
      const std::uint64_t count = touched_.back().count;
      run.first += count;
      had += count;
      run.count -= count;
    }
  }
}

// Frames of a node that come from two of its parts do not follow each other: such a round is one by itself.
void PlacedStream::touch_rounds(std::uint64_t page, const PagePlacement::Round& round, std::uint64_t had) {
  TouchedRun run{page, round.pages, round.pages, turns_.size(), 0};
  for (std::uint64_t placed = 0; placed < round.pages;) {
    const std::size_t before = turns_.size();
    const std::uint64_t count = touch_turn(page + placed, round.pages - placed, had + placed);
    for (std::size_t turn = before; turn < turns_.size(); ++turn) turns_[turn].offset += placed;
    placed += count;
  }
  run.turns = turns_.size() - run.first_turn;
  const std::span<TouchedTurn> turns = std::span(turns_).subspan(run.first_turn);
  std::uint64_t more = round.until / round.pages - 1;
  for (TouchedTurn& turn : turns) {
    std::uint64_t behind = turn.frames.first;
    for (const TouchedTurn& other : turns) {
      if (other.node != turn.node) continue;
      turn.a_round += other.frames.count;
      if (&other < &turn) continue;
      if (other.frames.store != turn.frames.store || other.frames.first != behind) more = 0;
      behind += other.frames.count;
    }
    more = std::min(more, memory_.behind(turn.node, turn.frames) / turn.a_round);
  }
  for (std::size_t node = 0; more > 0 && node < nodes_.size(); ++node) {
    const auto turn = std::ranges::find(turns, node, &TouchedTurn::node);
    if (turn == turns.end()) continue;
    const ProgramMemory::Taken taken = memory_.take_all(node, more * turn->a_round);
    ensure(taken.store == turn->frames.store && taken.count == more * turn->a_round,
           "rounds of pages whose frames do not follow each other");
    taken_[node] += taken.count;
  }
  run.count += more * round.pages;
  touched_.push_back(run);
}

std::uint64_t PlacedStream::touch_turn(std::uint64_t page, std::uint64_t count, std::uint64_t had) {
  const auto choice = placement_->place(page, count, memory_.free());
  if (!choice) refuse_page(had, "addresses");
  ensure(choice->pages > 0 && choice->pages <= memory_.free()[choice->node],
         "pages placed where no frames are left");
  for (std::uint64_t placed = 0; placed < choice->pages; placed += turns_.back().frames.count)
    turns_.push_back({placed, choice->node, memory_.take_all(choice->node, choice->pages - placed), 0});
  taken_[choice->node] += choice->pages;
  return choice->pages;
}

PlacedStream::Placed PlacedStream::placed_of(const TouchedRun& run, std::uint64_t place) const {
  const std::span<const TouchedTurn> turns = std::span(turns_).subspan(run.first_turn, run.turns);
  const std::uint64_t in_round = place % run.round;
  const TouchedTurn& turn = *(std::ranges::upper_bound(turns, in_round, {}, &TouchedTurn::offset) - 1);
  const std::uint64_t number = place / run.round * turn.a_round + in_round - turn.offset;
  return placed_at(memory_.taken(turn.node, turn.frames, number), run.first + place, turn.node);
}

void PlacedStream::touched_last(std::uint64_t bytes,
                                const std::function<void(Address base, std::uint64_t bytes)>& visit) const {
  const std::uint64_t size = std::uint64_t{1} << page_bits_;
  std::uint64_t before = 0;  // pages that come too early
  for (const TouchedRun& run : touched_) before += run.count;
  before -= std::min(before, (bytes + size - 1) >> page_bits_);
  for (const TouchedRun& run : touched_) {
    for (std::uint64_t i = std::min(before, run.count); i < run.count; ++i)
      visit(placed_of(run, i).frame.base, size);
    before -= std::min(before, run.count);
  }
}

bool PlacedStream::find_touched(std::uint64_t page) {
  if (touched_.empty() || page < touched_.front().first) return false;
  const TouchedRun& run = touched_[run_before(page)];
  const std::uint64_t place = page - run.first;
  if (place >= run.count) return false;
  placed_.push_back(placed_of(run, place));
  return true;
}

// Many runs are those of a placement that goes round as it likes, all of a length or two: the one that would
// be it if all were as long is the one, or near it.
std::size_t PlacedStream::run_before(std::uint64_t page) const {
  const std::uint64_t first = touched_.front().first;
  const std::uint64_t last = touched_.back().first;
  if (page >= last) return touched_.size() - 1;
  const auto before = [&](std::size_t run) { return touched_[run].first <= page; };
  const auto guess = static_cast<std::size_t>(Wide{page - first} * (touched_.size() - 1) / (last - first));
  std::size_t low = guess;
  std::size_t high = guess + 1;
  for (std::size_t step = 1; !before(low); step *= 2) {
    high = low;
    low -= std::min(low, step);
  }
  for (std::size_t step = 1; before(high); step *= 2) {
    low = high;
    high = std::min(touched_.size() - 1, high + step);
  }
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (before(middle) ? low : high) = middle;
  }
  return low;
}

std::uint64_t PlacedStream::number_of(const Access& access) {
  const std::uint64_t page = access.address.value() >> page_bits_;
  const std::uint64_t number = pages_.number_of(page);
  if (number == placed_.size() && !find_touched(page))
    take_frame(page, tables_ && access.is_page_walk() ? *tables_ : *placement_, access.is_page_walk());
  return number;
}

// An access across the end of its page goes on in the frame behind, so that it stays one access. Where the
// frame behind is not the program's, it ends with the last byte that is.
std::uint64_t PlacedStream::place(Access& access) {
  const std::uint64_t number = number_of(access);
  const ProgramMemory::Frame& frame = placed_[number].frame;
  if (access.size > frame.room) refuse_length(access, frame.room);
  const std::uint64_t within = access.address.value() & ((std::uint64_t{1} << page_bits_) - 1);
  access.address = Address{frame.base.value() + std::min(within, frame.room - access.size)};
  return number;
}

void PlacedStream::take_frame(std::uint64_t page, PagePlacement& placement, bool table) {
  const auto choice =
      with_path(path_.substr(0, path_.rfind('.')), [&] { return placement.place(page, 1, memory_.free()); });
  if (!choice) refuse_page(placed_.size(), path_);
  ensure(choice->pages == 1 && memory_.free()[choice->node] > 0, "a page placed where no frame is left");
  ++taken_[choice->node];
  placed_.push_back(placed_at(memory_.take(choice->node), page, choice->node, table));
  if (by_frame_) (*by_frame_)[placed_.back().frame.base.value()] = placed_.size() - 1;
}

void PlacedStream::refuse_page(std::uint64_t had, const std::string& path) const {
  const Bytes page{std::uint64_t{1} << page_bits_};
  if (had == 0 && share().empty()) {
    throw InputError({"out of memory: of those that the pages of the program may use none is there for it",
                      "a page of " + to_text(page),
                      "a memory with room for one that its device has a way to, or an extent of, by then",
                      {}},
                     path);
  }
  throw InputError(
      {"out of memory: the program touches more pages than the memories have frames that its pages may use, "
       "and Linux would kill it",
       "page " + std::to_string(had + 1) + " of " + to_text(page),
       "at most " + counted(had, "page") + " (" + to_text(Bytes{had * page.count()}) + ")" + share(),
       {}},
      path);
}

void PlacedStream::refuse_length(const Access& access, std::uint64_t room) const {
  const Bytes page{std::uint64_t{1} << page_bits_};
  throw InputError(
      {"the access is longer than the memory that follows on its first byte",
       to_text(Bytes{access.size}) + " from " + to_text(access.address) + " on, in pages of " + to_text(page),
       "at most " + to_text(Bytes{room}) + " in frames that lie side by side" + share() +
           "; larger with a larger page, or frames: contiguous",
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
  // A memory that has one logical device for the program can only mean that.
  std::optional<std::size_t> only;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    if (!nodes_[node].starts_with(memory + " ld ")) continue;
    if (only) return std::nullopt;
    only = node;
  }
  return only;
}

void PlacedStream::find_all_touched() {
  for (const TouchedRun& run : touched_) {
    for (std::uint64_t page = run.first; page < run.first + run.count; ++page) {
      if (pages_.number_of(page) == placed_.size()) find_touched(page);
    }
  }
}

void PlacedStream::number_touched() {
  find_all_touched();
  by_frame_.emplace();
  for (std::uint64_t number = 0; number < placed_.size(); ++number)
    (*by_frame_)[placed_[number].frame.base.value()] = number;
}

std::optional<std::uint64_t> PlacedStream::page_at(Address address) const {
  const auto base = memory_.frame_at(address);
  const auto found = base ? by_frame_->find(base->value()) : by_frame_->end();
  return found == by_frame_->end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::uint64_t> PlacedStream::pages_in(std::size_t node,
                                                  const std::optional<AddressRange>& range) {
  find_all_touched();  // pages that nobody has used yet are there, too
  std::vector<std::uint64_t> found;
  for (std::uint64_t number = 0; number < placed_.size(); ++number) {
    const Placed& placed = placed_[number];
    const std::uint64_t base = placed.page << page_bits_;
    const bool within = !range || (base >= range->base.value() && base - range->base.value() < range->bytes);
    if (placed.node == node && within) found.push_back(number);
  }
  // A program that touched them all beforehand went through their addresses.
  if (!touched_.empty())
    std::ranges::sort(found, {}, [&](std::uint64_t number) { return placed_[number].page; });
  return found;
}

std::optional<PageMove> PlacedStream::begin_move(std::uint64_t page, std::size_t node) {
  if (placed_[page].node == node) return std::nullopt;
  const auto frame = memory_.take_spare(node);
  if (!frame) return std::nullopt;
  const std::uint64_t bytes = std::uint64_t{1} << page_bits_;
  return PageMove{page, placed_[page].frame.base, frame->base, bytes, node, placed_[page].node, frame->room};
}

void PlacedStream::end_move(const PageMove& move) {
  Placed& placed = placed_[move.page];
  ensure(placed.frame.base == move.from, "a page that was not where it was moved from");
  memory_.give_back(placed.node, placed.frame);
  --taken_[placed.node];
  ++taken_[move.node];
  placed.frame = {move.to, move.room};
  placed.node = static_cast<std::uint32_t>(move.node);
  if (!by_frame_) return;
  by_frame_->erase(move.from.value());
  (*by_frame_)[move.to.value()] = move.page;
}

void PlacedStream::give_up_move(const PageMove& move) { memory_.give_back(move.node, {move.to, move.room}); }

std::optional<Value> PlacedStream::pages_by_node() const {
  Value::Map pages;
  for (std::size_t node = 0; node < nodes_.size(); ++node)
    pages.emplace_back(nodes_[node], static_cast<std::int64_t>(taken_[node]));
  return pages;
}

}  // namespace cxloom
