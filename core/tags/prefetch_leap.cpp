#include "tags/prefetch_leap.hpp"

#include <algorithm>
#include <bit>

#include "tags/prefetcher_schema.hpp"

namespace cxloom {

void LeapPrefetcher::Params::describe(Schema<Params>& schema) {
  schema.doc(
      "The stride that the majority of the latest accesses of a thread have, in a window that grows with "
      "what it was worth (Leap). Made for caches of pages.");
  describe_prefetcher(schema);
  schema.field("history", &Params::history)
      .min(2)
      .max(4096)
      .doc("Strides of a thread that are remembered.")
      .source("Al Maruf and Chowdhury, ATC 2020: H_size; 32 in their example, SymbioticLab/Leap");
  schema.field("split", &Params::split)
      .min(1)
      .max(4096)
      .doc(
          "The majority is looked for among history / split strides first; while there is none, among twice "
          "as many.")
      .source(
          "Al Maruf and Chowdhury, ATC 2020, in their example; their kernel (SymbioticLab/Leap, "
          "mm/swap_state.c) begins with a quarter: 4");
  schema.field("window", &Params::window)
      .min(1)
      .max(1024)
      .doc("Most strides that are asked for at a miss.")
      .source("Al Maruf and Chowdhury, ATC 2020: PW_size; in their kernel 2^page_cluster, which is 8");
  schema.rule("split must be at most history",
              [](const Params& params) { return params.split <= params.history; });
}

LeapPrefetcher::LeapPrefetcher(const Params& params, PrefetcherContext& /*context*/)
    : Prefetcher(params),
      history_(params.history),
      first_(params.history / params.split),
      most_(params.window) {}

LeapPrefetcher::Stream& LeapPrefetcher::stream_of(std::uint32_t thread) {
  const auto found = std::ranges::find(streams_, thread, &Stream::thread);
  if (found != streams_.end()) return *found;
  Stream& made = streams_.emplace_back();
  made.thread = thread;
  made.strides.resize(history_);
  return made;
}

void LeapPrefetcher::record(Stream& stream, std::uint64_t line) const {
  if (stream.seen++ > 0) {
    stream.newest = stream.newest + 1 == history_ ? 0 : stream.newest + 1;
    stream.strides[stream.newest] = static_cast<std::int64_t>(line - stream.last);
  }
  stream.last = line;
}

/// The stride of more than half of the last `count` (Boyer and Moore's vote, and a count of it).
std::optional<std::int64_t> LeapPrefetcher::majority(const Stream& stream, std::size_t count) const {
  const auto at = [&](std::size_t i) { return stream.strides[(stream.newest + history_ - i) % history_]; };
  std::int64_t candidate = 0;
  std::size_t votes = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (votes == 0) candidate = at(i);
    at(i) == candidate ? ++votes : --votes;
  }
  std::size_t times = 0;
  for (std::size_t i = 0; i < count; ++i) times += at(i) == candidate;
  if (2 * times <= count || candidate == 0) return std::nullopt;
  return candidate;
}

std::optional<std::int64_t> LeapPrefetcher::find_trend(const Stream& stream) const {
  for (std::size_t count = std::max<std::size_t>(first_, 1);; count = std::min(2 * count, history_)) {
    if (const auto found = majority(stream, count)) return found;
    if (count == history_) return std::nullopt;
  }
}

std::uint32_t LeapPrefetcher::next_window(Stream& stream, bool follows) const {
  std::uint32_t window = follows ? 1 : 0;
  if (stream.useful > 0) window = std::bit_ceil(stream.useful + 1);
  window = std::max(std::min(window, most_), stream.window / 2);
  stream.useful = 0;
  return stream.window = window;
}

void LeapPrefetcher::accessed(const Trigger& trigger, std::vector<LineAddress>& wanted) {
  if (!trigger.is_new()) return;
  Stream& stream = stream_of(trigger.thread);
  const std::uint64_t line = trigger.line.number();
  const auto stride = static_cast<std::int64_t>(line - stream.last);
  record(stream, line);
  if (trigger.found == Found::kFirstUse) {
    ++stream.useful;
    return;
  }
  const auto trend = find_trend(stream);
  if (trend) stream.trend = *trend;
  const std::uint32_t window = next_window(stream, stream.trend != 0 && stride == stream.trend);
  if (stream.trend == 0) return;
  // Without a trend, lines on both sides by the last trend.
  for (std::uint32_t i = 1; i <= window; ++i) {
    const std::int64_t steps =
        trend || i % 2 == 1 ? (trend ? i : (i + 1) / 2) : -static_cast<std::int64_t>(i / 2);
    wanted.emplace_back(line + static_cast<std::uint64_t>(steps * stream.trend));
  }
}

}  // namespace cxloom
