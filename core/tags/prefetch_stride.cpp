#include "tags/prefetch_stride.hpp"

#include <algorithm>

#include "tags/prefetcher_schema.hpp"

namespace cxloom {

void StridePrefetcher::Params::describe(Schema<Params>& schema) {
  schema.doc("What follows in a stream of accesses at equal distances: those of one thread in one page.");
  describe_prefetcher(schema);
  schema.field("degree", &Params::degree)
      .min(1)
      .max(1024)
      .doc("How many strides ahead of an access lines are asked for, no further than the page.");
  schema.field("confidence", &Params::confidence)
      .min(1)
      .max(1024)
      .doc(
          "How often in a row a stride must have come before lines are asked for. One that does not repeat "
          "begins anew.")
      .source("own choice: two strides, three accesses");
  schema.field("streams", &Params::streams)
      .min(1)
      .max(1024)
      .doc(
          "Streams that are kept apart; a new one takes the place of the one that was longest without an "
          "access.")
      .source("own choice: a stream prefetcher of today follows 32");
}

StridePrefetcher::StridePrefetcher(const Params& params, PrefetcherContext& /*context*/)
    : Prefetcher(params), degree_(params.degree), confidence_(params.confidence), streams_(params.streams) {}

StridePrefetcher::Stream* StridePrefetcher::find(std::uint64_t page, std::uint32_t thread) {
  const auto found = std::ranges::find_if(streams_, [&](const Stream& each) {
    return each.page == page && each.thread == thread && each.used_last > 0;
  });
  return found == streams_.end() ? nullptr : &*found;
}

StridePrefetcher::Stream& StridePrefetcher::replaceable() {
  return *std::ranges::min_element(streams_, {}, &Stream::used_last);
}

// Accesses to the line that the last one was to say nothing of a stride.
void StridePrefetcher::accessed(const Trigger& trigger, std::vector<LineAddress>& wanted) {
  ++accesses_;
  const std::uint64_t page = trigger.line.number() / lines_of_page();
  Stream* const found = find(page, trigger.thread);
  if (!found) {
    replaceable() = {.page = page, .thread = trigger.thread, .last = trigger.line, .used_last = accesses_};
    return;
  }
  Stream& stream = *found;
  stream.used_last = accesses_;
  const auto stride = static_cast<std::int64_t>(trigger.line.number() - stream.last.number());
  if (stride == 0) return;
  stream.repeats = stride == stream.stride ? std::min(stream.repeats + 1, confidence_) : 1;
  stream.stride = stride;
  stream.last = trigger.line;
  if (stream.repeats < confidence_) return;
  LineAddress line = trigger.line;
  for (std::uint32_t i = 0; i < degree_; ++i) {
    line = LineAddress{line.number() + static_cast<std::uint64_t>(stride)};
    wanted.push_back(line);
  }
}

}  // namespace cxloom
