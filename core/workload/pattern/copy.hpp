// The pattern of a copy engine: descriptors that copy a block of memory, or fill it, with many lines in
// flight. A line is written once it has been read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/random.hpp"
#include "workload/pattern/pattern.hpp"
#include "workload/stream/access_stream.hpp"
#include "workload/stream/object_range.hpp"
#include "workload/stream/reactive.hpp"

namespace cxloom {

enum class DescriptorOrder : std::uint8_t { kSequential, kRandom };

/// What engines that copy and those that fill have in common.
struct FillParams {
  Bytes footprint{1ULL << 28U};
  std::optional<Address> destination;
  Bytes size{1ULL << 16U};
  DescriptorOrder order = DescriptorOrder::kSequential;
  std::optional<std::uint32_t> lines_in_flight;
  std::uint32_t descriptors = 1;
  Time setup;

  /// The range in whole lines.
  Bytes whole_range() const { return Bytes{(footprint.count() + kLineBytes - 1) / kLineBytes * kLineBytes}; }
  static void describe(Schema<FillParams>& schema);
};

struct CopyParams : FillParams {
  Address source;

  static void describe(Schema<CopyParams>& schema);
  /// Where it copies to: a line is in one of the ranges only.
  Address to() const { return destination.value_or(Address{source.value() + whole_range().count()}); }
};

class CopyEngine : public AccessStream, public ReactiveStream {
 public:
  using Params = CopyParams;
  static std::vector<std::string> traits() { return {"engine"}; }
  CopyEngine(const CopyParams& params, const PatternContext& context)
      : CopyEngine(params, params.source, params.to(), context) {}

  bool next(Access& access) override;
  bool open() const override { return may_begin() || ungiven_ > 0; }
  bool may_store_past() const override { return false; }
  bool wants_answers() const override { return true; }
  void answered(std::uint64_t number, const Request& request, Time now) override;
  std::vector<AddressRange> ranges() const override;
  std::uint64_t per_access() const override { return lines_ * (source_ ? 2 : 1); }
  ReactiveStream* reactive() override { return this; }

  void at(Time now) override;
  std::optional<Time> gives_at() const override;
  void finish() override;
  std::optional<Time> completed() const override { return completed_; }
  void resources(ResourceSink& sink) const override;

 protected:
  /// `source`: none: it fills. Throws InputError for more lines in flight than the requester has places.
  CopyEngine(const FillParams& params, std::optional<Address> source, Address destination,
             const PatternContext& context);

 private:
  /// One that the engine has taken up.
  struct Descriptor {
    std::uint64_t from = 0;    // offset of its block in the source
    std::uint64_t to = 0;      // and in the destination
    std::uint64_t begun = 0;   // lines
    std::uint64_t undone = 0;  // lines
    Time since;                // its submission began
    Time ready;                // its first line
  };
  /// A line on its way.
  struct Line {
    std::uint32_t place = 0;  // of its descriptor
    std::uint64_t number = 0;
  };
  /// An access without an answer.
  struct Given {
    Line line;
    bool reads = false;
    bool on_its_way = false;
  };

  bool may_begin() const { return !finishing_ && begun_ < most_; }
  void take_up(std::uint32_t place);
  const Descriptor* next_descriptor() const;
  void give(Access& access, const Line& line, bool reads);
  void line_done(const Line& line);
  std::uint64_t draw_block(std::uint64_t number);

  std::optional<Address> source_;
  Address destination_;
  std::uint64_t size_;    // bytes of a descriptor
  std::uint64_t lines_;   // of a descriptor, whose last one may be in part
  std::uint64_t blocks_;  // that a range has room for
  std::uint64_t footprint_;
  bool random_order_;
  std::uint32_t most_lines_;
  Time setup_;
  std::uint64_t most_;  // descriptors
  RandomStream random_;

  std::vector<Descriptor> places_;
  std::deque<std::uint32_t> unread_;  // places of descriptors with lines that are not begun, the oldest first
  std::vector<std::uint32_t> free_;   // places
  std::deque<Line> read_;             // lines that can be written
  std::vector<Given> given_;          // accesses, by number modulo its size
  std::uint64_t given_count_ = 0;
  std::uint64_t begun_ = 0;      // descriptors
  std::uint64_t ungiven_ = 0;    // accesses of these that are to come
  std::uint32_t in_flight_ = 0;  // lines
  Time now_;
  Time submitted_;  // the last descriptor
  bool finishing_ = false;
  std::optional<Time> completed_;
};

class FillEngine final : public CopyEngine {
 public:
  using Params = FillParams;
  FillEngine(const FillParams& params, const PatternContext& context)
      : CopyEngine(params, std::nullopt, params.destination.value_or(Address{}), context) {}
};

/// The source and the destination of such a pattern, for placements that name them; none if it is another.
std::vector<ObjectRange> ranges_of_engine(const std::string& kind, const Value& params);

}  // namespace cxloom
