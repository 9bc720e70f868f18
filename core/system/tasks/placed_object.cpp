#include "system/tasks/placed_object.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.hpp"

namespace cxloom {

namespace {

// Pages that are placed one by one before their period is looked for.
constexpr std::size_t kLookedAt = 1024;
// A choice of so many pages is a chunk by itself.
constexpr std::uint64_t kManyPages = 256;

/// After how many the values repeat, twice at least; 0: they do not.
std::size_t period_of(std::span<const std::uint8_t> nodes) {
  for (std::size_t period = 1; period <= nodes.size() / 2; ++period) {
    if (std::equal(nodes.begin() + static_cast<std::ptrdiff_t>(period), nodes.end(), nodes.begin()))
      return period;
  }
  return 0;
}

}  // namespace

PlacedObject::PlacedObject(std::string name, Bytes size, Bytes page, PagePlacement& placement,
                           std::vector<ObjectNode*> nodes, std::uint64_t first_page)
    : name_(std::move(name)),
      size_(size.count()),
      page_bits_(static_cast<unsigned>(std::countr_zero(page.count()))),
      pages_((size.count() + page.count() - 1) >> page_bits_),
      nodes_(std::move(nodes)) {
  std::vector<std::uint64_t> free;
  for (const ObjectNode* node : nodes_) free.push_back(node->frames->count() - node->used);
  std::vector<std::uint8_t> seen;
  std::uint64_t placed = 0;
  const auto end_chunk = [&] {
    if (!seen.empty()) add_chunk(seen, seen.size());
    seen.clear();
  };
  while (placed < pages_) {
    const auto choice = placement.place(first_page + placed, pages_ - placed, free);
    if (!choice) refuse(placed, page.count());
    if (choice->pages >= kManyPages) {
      end_chunk();
      const auto node = static_cast<std::uint8_t>(choice->node);
      add_chunk({&node, 1}, choice->pages);
    } else {
      seen.insert(seen.end(), choice->pages, static_cast<std::uint8_t>(choice->node));
    }
    placed += choice->pages;
    free[choice->node] -= choice->pages;
    if (free[choice->node] == 0) end_chunk();
    if (seen.size() < kLookedAt) continue;
    // Whole periods more leave the placement's turn where it is.
    const std::size_t period = period_of(seen);
    std::uint64_t more = period == 0 ? 0 : (pages_ - placed) / period;
    std::vector<std::uint64_t> each(nodes_.size(), 0);
    for (std::size_t i = 0; i < period; ++i) ++each[seen[i]];
    for (std::size_t i = 0; i < each.size(); ++i) {
      if (each[i] > 0) more = std::min(more, (free[i] - 1) / each[i]);
    }
    if (period == 0) {
      end_chunk();
      continue;
    }
    add_chunk({seen.data(), period}, seen.size() + more * period);
    placed += more * period;
    for (std::size_t i = 0; i < each.size(); ++i) free[i] -= more * each[i];
    seen.clear();
  }
  end_chunk();
  find_even_parts();
}

// Chunks with the same nodes in a period are one part, though a period may be cut where they meet.
void PlacedObject::find_even_parts() {
  std::uint64_t until = pages_;
  for (std::size_t i = chunks_.size(); i-- > 0;) {
    if (i + 1 < chunks_.size() && chunks_[i].period != chunks_[i + 1].period) until = chunks_[i + 1].first;
    chunks_[i].even_until = until;
  }
}

void PlacedObject::add_chunk(std::span<const std::uint8_t> period, std::uint64_t pages) {
  Chunk chunk{.first = chunks_.empty() ? 0 : chunks_.back().first + chunks_.back().pages, .pages = pages};
  chunk.period.assign(period.begin(), period.end());
  chunk.count.assign(nodes_.size(), 0);
  for (const std::uint8_t node : period)
    chunk.rank.push_back(static_cast<std::uint32_t>(chunk.count[node]++));
  for (const ObjectNode* node : nodes_) chunk.first_frame.push_back(node->used);
  const std::uint64_t whole = pages / period.size();
  for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i]->used += whole * chunk.count[i];
  for (std::size_t i = 0; i < pages % period.size(); ++i) ++nodes_[period[i]]->used;
  chunks_.push_back(std::move(chunk));
}

void PlacedObject::refuse(std::uint64_t placed, std::uint64_t page) const {
  throw InputError({"object '" + name_ + "' is larger than the memory that its pages may be in",
                    to_text(Bytes{size_}),
                    "at most " + to_text(Bytes{placed * page}) + " in whole pages of " +
                        to_text(Bytes{page}) + ", behind the objects before it",
                    {},
                    InputError::Kind::kBetween},
                   "size");
}

const PlacedObject::Chunk& PlacedObject::chunk_of(std::uint64_t page) const {
  return *(std::ranges::upper_bound(chunks_, page, {}, &Chunk::first) - 1);
}

PlacedObject::Place PlacedObject::place(std::uint64_t offset) const {
  const std::uint64_t page = offset >> page_bits_;
  const std::uint64_t within = offset & ((std::uint64_t{1} << page_bits_) - 1);
  const Chunk& chunk = chunk_of(page);
  const std::uint64_t number = page - chunk.first;
  const std::uint64_t place = number % chunk.period.size();
  const std::uint8_t node = chunk.period[place];
  const std::uint64_t frame =
      chunk.first_frame[node] + number / chunk.period.size() * chunk.count[node] + chunk.rank[place];
  const std::uint64_t pages = chunk.period.size() == 1 ? chunk.pages - number : 1;
  const FrameOrder::Frame found = nodes_[node]->frames->at(frame, frame + pages);
  const std::uint64_t room = std::min(found.room, pages << page_bits_);
  return {Address{found.base.value() + within}, std::min(room - within, size_ - offset)};
}

std::uint64_t PlacedObject::even_until(std::uint64_t offset) const {
  return std::min(chunk_of(offset >> page_bits_).even_until << page_bits_, size_);
}

std::uint64_t PlacedObject::turn(std::uint64_t offset) const {
  const Chunk& chunk = chunk_of(offset >> page_bits_);
  const bool alone = std::ranges::all_of(chunk.period, [&](auto node) { return node == chunk.period[0]; });
  return alone ? 1 : chunk.period.size() << page_bits_;
}

std::uint64_t PlacedObject::phase(std::uint64_t offset) const {
  return (offset - (chunk_of(offset >> page_bits_).first << page_bits_)) % turn(offset);
}

std::string PlacedObject::mix_of(std::uint64_t offset, std::uint64_t bytes) const {
  std::vector<std::uint64_t> by_node(nodes_.size(), 0);
  add_bytes(offset, bytes, by_node);
  std::string text;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (by_node[i] == 0) continue;
    text += to_text(nodes_[i]->frames->at(0, 1).base) + ":" + to_text(Bytes{by_node[i]}) + " ";
  }
  return text;
}

std::string PlacedObject::mix(std::uint64_t offset) const {
  const Chunk& chunk = chunk_of(offset >> page_bits_);
  std::string text;
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (chunk.count[i] == 0) continue;
    text += to_text(nodes_[i]->frames->at(0, 1).base) + ":" + std::to_string(chunk.count[i]) + " ";
  }
  return text;
}

// Whole pages up to `last`, by periods.
void PlacedObject::add_page_bytes(std::uint64_t first, std::uint64_t last,
                                  std::vector<std::uint64_t>& by_node) const {
  while (first < last) {
    const Chunk& chunk = chunk_of(first);
    const std::uint64_t end = std::min(last, chunk.first + chunk.pages);
    const std::uint64_t period = chunk.period.size();
    const std::uint64_t whole = (end - first) / period;
    for (std::size_t i = 0; i < nodes_.size(); ++i) by_node[i] += (whole * chunk.count[i]) << page_bits_;
    for (first += whole * period; first < end; ++first)
      by_node[chunk.period[(first - chunk.first) % period]] += std::uint64_t{1} << page_bits_;
  }
}

void PlacedObject::add_bytes(std::uint64_t from, std::uint64_t bytes,
                             std::vector<std::uint64_t>& by_node) const {
  for (std::uint64_t at = from; bytes > 0; at = from) {
    const std::uint64_t end = std::min(size_, at + bytes);
    bytes -= end - at;
    const std::uint64_t mask = (std::uint64_t{1} << page_bits_) - 1;
    const auto node_at = [&](std::uint64_t offset) {
      const Chunk& chunk = chunk_of(offset >> page_bits_);
      return chunk.period[((offset >> page_bits_) - chunk.first) % chunk.period.size()];
    };
    const std::uint64_t first = std::min(end, (at + mask) & ~mask);
    if (first > at) by_node[node_at(at)] += first - at;
    const std::uint64_t last = std::max(first, end & ~mask);
    add_page_bytes(first >> page_bits_, last >> page_bits_, by_node);
    if (end > last) by_node[node_at(last)] += end - last;
  }
}

}  // namespace cxloom
