#include "workload/pattern/copy.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/schema.hpp"
#include "component/resource.hpp"
#include "protocol/request.hpp"

namespace cxloom {

namespace {

constexpr std::uint32_t kReadBuffers = 96;
constexpr std::uint64_t kReach = 16;  // numbers of accesses that are told apart / lines in flight

std::uint64_t whole_lines(std::uint64_t bytes) { return (bytes + kLineBytes - 1) / kLineBytes; }

bool overlap(const CopyParams& params) {
  const std::uint64_t one = params.source.value();
  const std::uint64_t other = params.to().value();
  const std::uint64_t bytes = params.whole_range().count();
  return one < other ? other - one < bytes : one - other < bytes;
}

/// What both kinds declare.
template <class Params>
void describe_engine(Schema<Params>& schema, const char* range, const char* default_destination) {
  schema.field("footprint", &Params::footprint).min(Bytes{kLineBytes}).doc(range);
  schema.field("destination", &Params::destination)
      .where([](const Address& address) { return address.value() % kLineBytes == 0; }, "a multiple of 64")
      .default_text(default_destination)
      .doc("First address of the range that is written.");
  schema.field("size", &Params::size)
      .min(Bytes{1})
      .max(Bytes{1ULL << 31U})
      .doc(
          "Bytes of a descriptor, of which the `footprint` has room for one at least. Each begins at a line; "
          "the last line of it may be in part.")
      .source(
          "at most 2 GiB: max_transfer_size of Intel DSA, as accel-config lists it; 64 KiB: own choice, a "
          "size at which its throughput no longer grows");
  schema
      .choice("order", &Params::order,
              {{"sequential", DescriptorOrder::kSequential}, {"random", DescriptorOrder::kRandom}})
      .doc(
          "sequential: one block after the other, from the start again at the end. random: any block, of the "
          "source and of the destination by itself.");
  schema.field("lines_in_flight", &Params::lines_in_flight)
      .min(1)
      .max(1U << 20U)
      .default_text(std::to_string(kReadBuffers) + ", or the queue of the requester if that is less")
      .doc(
          "Lines that have been begun and not ended at the same time: each has a buffer from the issue of "
          "its read until its write is acknowledged. At most the `queue` of the requester.")
      .source(
          "Intel DSA of Sapphire Rapids has 96 read buffers (max_read_buffers in the lists of accel-config); "
          "that one has a line, and is kept until the write is acknowledged, is assumed");
  schema.field("descriptors", &Params::descriptors)
      .min(1)
      .max(4096)
      .doc(
          "Descriptors that are worked on at the same time. 1: the next is submitted when the one before is "
          "complete. Lines of the oldest come first.")
      .source("own choice: as a program that waits for each copy; a work queue of Intel DSA has up to 128");
  schema.field("setup", &Params::setup)
      .doc(
          "Time that the submission of a descriptor takes: its first line is not issued before. Descriptors "
          "are submitted one after the other.")
      .source("own choice: none; a launch of cudaMemcpy takes microseconds");
  schema.rule("the footprint is smaller than one descriptor of `size` bytes, in whole lines",
              [](const Params& params) {
                return whole_lines(params.size.count()) <= params.footprint.count() / kLineBytes;
              });
}

std::uint32_t lines_in_flight(const FillParams& params, std::uint32_t queue) {
  if (!params.lines_in_flight) return std::min(kReadBuffers, queue);
  if (*params.lines_in_flight <= queue) return *params.lines_in_flight;
  throw InputError({"more lines in flight than the requester has places in its queue",
                    std::to_string(*params.lines_in_flight),
                    "at most " + std::to_string(queue) + ", or a queue of " +
                        std::to_string(*params.lines_in_flight) + " of the requester",
                    {}},
                   "lines_in_flight");
}

}  // namespace

void FillParams::describe(Schema<FillParams>& schema) {
  schema.doc(
      "A copy engine that fills: descriptors write a block of memory, line by line, with many lines in "
      "flight.");
  describe_engine(schema, "Bytes of the range that is written: one descriptor (`size`) at least.", "0x0");
}

void CopyParams::describe(Schema<CopyParams>& schema) {
  schema.doc(
      "A copy engine: descriptors copy a block of memory, each line of which is written once it has been "
      "read, with many lines in flight.");
  schema.field("source", &CopyParams::source)
      .where([](const Address& address) { return address.value() % kLineBytes == 0; }, "a multiple of 64")
      .doc("First address of the range that is read.");
  describe_engine(
      schema,
      "Bytes of the range that is read, and of the one that is written: one descriptor (`size`) at least.",
      "behind the source");
  schema.rule(
      "the destination overlaps the source", [](const CopyParams& params) { return !overlap(params); },
      "destination");
}

CopyEngine::CopyEngine(const FillParams& params, std::optional<Address> source, Address destination,
                       const PatternContext& context)
    : source_(source),
      destination_(destination),
      size_(params.size.count()),
      lines_(whole_lines(size_)),
      blocks_(params.footprint.count() / (lines_ * kLineBytes)),
      footprint_(blocks_ * lines_ * kLineBytes),
      random_order_(params.order == DescriptorOrder::kRandom),
      most_lines_(lines_in_flight(params, context.queue)),
      setup_(params.setup),
      most_(context.accesses.value_or(~std::uint64_t{0})),
      random_(context.seed, context.name, "addresses"),
      places_(params.descriptors),
      given_(std::bit_ceil(most_lines_ * kReach)) {
  for (std::uint32_t place = params.descriptors; place > 0; --place) free_.push_back(place - 1);
}

std::vector<AddressRange> CopyEngine::ranges() const {
  std::vector<AddressRange> all;
  if (source_) all.push_back({*source_, footprint_, "source"});
  all.push_back({destination_, footprint_, "destination"});
  return all;
}

std::uint64_t CopyEngine::draw_block(std::uint64_t number) {
  const std::uint64_t block = random_order_ ? random_.below(blocks_) : number % blocks_;
  return block * lines_ * kLineBytes;
}

void CopyEngine::take_up(std::uint32_t place) {
  Descriptor& descriptor = places_[place];
  const std::uint64_t number = begun_++;
  descriptor = {.from = source_ ? draw_block(number) : 0, .to = draw_block(number), .undone = lines_};
  descriptor.since = std::max(now_, submitted_);
  descriptor.ready = submitted_ = descriptor.since + setup_;
  unread_.push_back(place);
  ungiven_ += per_access();
}

void CopyEngine::at(Time now) {
  now_ = now;
  while (!free_.empty() && may_begin()) {
    take_up(free_.back());
    free_.pop_back();
  }
}

// Copies that were taken up ahead, and have not begun, are left out: they would be worked on beyond the
// count.
void CopyEngine::finish() {
  if (std::exchange(finishing_, true)) return;
  const auto idle = [this](std::uint32_t place) { return places_[place].begun == 0; };
  for (const std::uint32_t place : unread_) {
    if (!idle(place)) continue;
    free_.push_back(place);
    ungiven_ -= per_access();
  }
  std::erase_if(unread_, idle);
}

// The oldest that has lines left; it is ready before the others.
const CopyEngine::Descriptor* CopyEngine::next_descriptor() const {
  return in_flight_ < most_lines_ && !unread_.empty() ? &places_[unread_.front()] : nullptr;
}

std::optional<Time> CopyEngine::gives_at() const {
  const Descriptor* const descriptor = next_descriptor();
  return descriptor && descriptor->ready > now_ ? std::optional(descriptor->ready) : std::nullopt;
}

bool CopyEngine::next(Access& access) {
  // A number comes again only when the access that had it is answered.
  if (given_[given_count_ & (given_.size() - 1)].on_its_way) return false;
  if (!read_.empty()) {
    give(access, read_.front(), false);
    read_.pop_front();
    return true;
  }
  const Descriptor* const descriptor = next_descriptor();
  if (!descriptor || descriptor->ready > now_) return false;
  const std::uint32_t place = unread_.front();
  const Line line{place, places_[place].begun++};
  if (places_[place].begun == lines_) unread_.pop_front();
  ++in_flight_;
  give(access, line, source_.has_value());
  return true;
}

void CopyEngine::give(Access& access, const Line& line, bool reads) {
  const Descriptor& descriptor = places_[line.place];
  const std::uint64_t offset = line.number * kLineBytes;
  access = {};
  access.address = Address{reads ? source_->value() + descriptor.from + offset
                                 : destination_.value() + descriptor.to + offset};
  access.size = static_cast<std::uint16_t>(std::min(kLineBytes, size_ - offset));
  access.kind = reads ? AccessKind::kRead : AccessKind::kWrite;
  given_[given_count_++ & (given_.size() - 1)] = {line, reads, true};
  --ungiven_;
}

// A line whose data did not come is not written.
void CopyEngine::answered(std::uint64_t number, const Request& request, Time /*now*/) {
  completed_.reset();
  Given& given = given_[number & (given_.size() - 1)];
  given.on_its_way = false;
  if (given.reads && !request.failed) {
    read_.push_back(given.line);
    return;
  }
  if (given.reads) --ungiven_;
  line_done(given.line);
}

void CopyEngine::line_done(const Line& line) {
  --in_flight_;
  Descriptor& descriptor = places_[line.place];
  if (--descriptor.undone > 0) return;
  completed_ = descriptor.since;
  free_.push_back(line.place);
}

void CopyEngine::resources(ResourceSink& sink) const {
  sink.add({.name = "the lines in flight of the copy engine of",
            .stage = Stage::kRequester,
            .capacity = most_lines_,
            .occupancy = Occupancy::kLevel,
            .measures = {"per_requester.*.in_flight_mean"},
            .wait = Segment::kRequesterQueue,
            .counts = Traffic::kRequests,
            .twice = {doubled("lines_in_flight", most_lines_)},
            .twice_text = std::to_string(2 * std::uint64_t{most_lines_}) + " lines in flight"});
}

std::vector<ObjectRange> ranges_of_engine(const std::string& kind, const Value& params) {
  if (kind == "fill") {
    const auto fill = read_params<FillParams>(params);
    return {{"destination", fill.destination.value_or(Address{}), fill.whole_range()}};
  }
  if (kind != "copy") return {};
  const auto copy = read_params<CopyParams>(params);
  return {{"source", copy.source, copy.whole_range()}, {"destination", copy.to(), copy.whole_range()}};
}

}  // namespace cxloom
