#include "tags/prefetch_streamer.hpp"

#include <algorithm>

#include "tags/prefetcher_schema.hpp"

namespace cxloom {

void StreamerPrefetcher::Params::describe(Schema<Params>& schema) {
  schema.doc("What lies before accesses that go up or down in a page, whatever the distances between them.");
  describe_prefetcher(schema);
  schema.field("distance", &Params::distance)
      .min(1)
      .max(1024)
      .doc("Lines ahead of an access up to which lines are asked for, no further than the page.")
      .source("Intel 64 and IA-32 Architectures Optimization Reference Manual: up to 20 lines ahead");
  schema.field("degree", &Params::degree)
      .min(1)
      .max(1024)
      .doc("Lines at most that an access asks for.")
      .source("Intel 64 and IA-32 Architectures Optimization Reference Manual: two at each look-up");
  schema.field("confidence", &Params::confidence)
      .min(1)
      .max(1024)
      .doc("Steps in one direction, in a row, that make a stream.")
      .source("own choice: two steps, three accesses");
  schema.field("streams", &Params::streams)
      .min(1)
      .max(1024)
      .doc(
          "Streams that are kept apart; a new one takes the place of the one that was longest without an "
          "access.")
      .source("Intel 64 and IA-32 Architectures Optimization Reference Manual: 32");
}

StreamerPrefetcher::StreamerPrefetcher(const Params& params, PrefetcherContext& /*context*/)
    : Prefetcher(params),
      distance_(params.distance),
      degree_(params.degree),
      confidence_(params.confidence),
      streams_(params.streams) {}

StreamerPrefetcher::Stream* StreamerPrefetcher::find(std::uint64_t page, std::uint32_t thread) {
  const auto found = std::ranges::find_if(streams_, [&](const Stream& each) {
    return each.page == page && each.thread == thread && each.used_last > 0;
  });
  return found == streams_.end() ? nullptr : &*found;
}

void StreamerPrefetcher::accessed(const Trigger& trigger, std::vector<LineAddress>& wanted) {
  ++accesses_;
  const std::uint64_t line = trigger.line.number();
  const std::uint64_t page = line / lines_of_page();
  Stream* const found = find(page, trigger.thread);
  if (!found) {
    *std::ranges::min_element(streams_, {}, &Stream::used_last) = {
        .page = page, .thread = trigger.thread, .last = line, .ahead = line, .used_last = accesses_};
    return;
  }
  Stream& stream = *found;
  stream.used_last = accesses_;
  if (line == stream.last) return;
  const bool up = line > stream.last;
  if (up != stream.up || stream.steps == 0)
    stream = {stream.page, stream.thread, 0, up, line, line, accesses_};
  stream.steps = std::min(stream.steps + 1, confidence_);
  stream.last = line;
  // What was asked for before is behind the access by now, or before it.
  const bool passed = up ? stream.ahead < line : stream.ahead > line;
  if (passed) stream.ahead = line;
  if (stream.steps < confidence_) return;
  for (std::size_t i = 0; i < std::min<std::size_t>(degree_, limit()); ++i) {
    const std::uint64_t next = up ? stream.ahead + 1 : stream.ahead - 1;
    const std::uint64_t distance = up ? next - line : line - next;
    if (distance > distance_ || next / lines_of_page() != page) return;
    wanted.emplace_back(stream.ahead = next);
  }
}

}  // namespace cxloom
