#include "workload/pattern/pattern.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "workload/pattern/copy.hpp"
#include "workload/pattern/cycle.hpp"
#include "workload/pattern/log.hpp"
#include "workload/pattern/objects.hpp"
#include "workload/pattern/share.hpp"
#include "workload/pattern/transfer.hpp"

namespace cxloom {

void PatternParams::describe_in(Schema<PatternParams> schema) {
  schema.field("reads", &PatternParams::reads)
      .fraction()
      .doc("Share of reads; the others are writes. With `atomics` it is of the accesses that are none.");
  schema.field("atomics", &PatternParams::atomics)
      .fraction()
      .doc(
          "Share of atomic operations among the accesses. One takes the first 8 bytes of its block, or 4 "
          "where `size` is no multiple of 8.");
  schema
      .choice("stores", &PatternParams::stores,
              {{"cached", Stores::kCached}, {"non-temporal", Stores::kNonTemporal}})
      .doc(
          "How the writes are made. cached: as the memory's type and the requester's cache say. "
          "non-temporal: past the caches, gathered by line in the requester's combining buffers. Nothing "
          "writes where `reads` is 1.")
      .source("MOVNTI, MOVNTDQ and VMOVNTPS of x86");
  schema.effective(
      "stores", [](const PatternParams& params) { return params.reads < 1.0; }, "where reads is 1");
  schema.field("footprint", &PatternParams::footprint)
      .min(Bytes{64})
      .doc("Bytes of the address range that is accessed.");
  schema.field("base", &PatternParams::base)
      .where([](const Address& base) { return base.value() % kLineBytes == 0; }, "a multiple of 64")
      .doc("First address of the range.");
  schema.field("size", &PatternParams::size)
      .min(Bytes{1})
      .max(Bytes{kMostPatternBytes})
      .where([](const Bytes& size) { return size.count() <= kMostAtOnce || size.count() % kLineBytes == 0; },
             "a multiple of 64B above 4KiB")
      .doc(
          "Bytes of an access. One above 4 KiB is made as its lines: each takes a place in the queue, and is "
          "a request of the results; `requests` and `rate` still count whole accesses.");
  schema.rule(
      "an atomic operation is of 4 or 8 bytes, and an access above 4 KiB is made as its lines: leave out "
      "atomics, or set size to 4KiB or less",
      [](const PatternParams& params) { return params.atomics == 0.0 || params.size.count() <= kMostAtOnce; },
      "size");
  schema.rule("the footprint is smaller than one access",
              [](const PatternParams& params) { return !(params.footprint < params.size); });
  schema.rule(
      "atomic operations are aligned: the size of an access must be a multiple of 4",
      [](const PatternParams& params) { return params.atomics == 0.0 || params.size.count() % 4 == 0; },
      "size");
}

void PatternParams::describe_fences(Schema<PatternParams> schema) {
  schema.field("fence_every", &PatternParams::fence_every)
      .min(1)
      .default_text("none")
      .doc(
          "A fence after each so many accesses: the access behind it is not issued until all before it are "
          "answered. The write and the flush of a persist are one access here.");
  PersistParams::describe_in(schema);
  schema.rule(
      "a persist writes and flushes a block of at most 4 KiB: leave out persists, or set size to 4KiB or "
      "less",
      [](const PatternParams& params) {
        return params.persists == 0.0 || params.size.count() <= kMostAtOnce;
      },
      "size");
}

Pattern::Pattern(const PatternParams& params, const PatternContext& context)
    : reads_(params.reads),
      atomics_(params.atomics),
      past_(params.stores == Stores::kNonTemporal),
      base_(params.base.value()),
      size_(params.size.count()),
      blocks_(params.footprint.count() / params.size.count()),
      fence_every_(params.fence_every.value_or(0)),
      to_fence_(fence_every_),
      persists_(params, RandomStream(context.seed, context.name, "persists"), context.cached),
      plain_(!past_ && atomics_ == 0.0 && fence_every_ == 0 && !persists_.any() && size_ <= kMostAtOnce),
      random_(context.seed, context.name, "addresses"),
      kinds_(context.seed, context.name, "kinds"),
      atomic_(context.seed, context.name, "atomics") {
  if (!past_ || !context.has_cores) return;
  throw InputError({"a core has no buffers for stores past the caches",
                    "stores: non-temporal",
                    "stores: cached, or a requester without a core",
                    {},
                    InputError::Kind::kBetween},
                   "stores");
}

void Pattern::next_line(Access& access) {
  access.address = line_;
  access.size = kLineBytes;
  access.kind = line_kind_;
  access.past = past_ && line_kind_ == AccessKind::kWrite;
  access.dependence = 0;
  line_ = Address{line_.value() + kLineBytes};
  bytes_left_ -= kLineBytes;
  access.continues = bytes_left_ > 0;
}

inline void Pattern::draw(Access& access) {
  access.address = Address{base_ + next_block() * size_};
  access.size = static_cast<std::uint16_t>(size_);
  access.kind = kinds_.chance(reads_) ? AccessKind::kRead : AccessKind::kWrite;
  access.past = false;
  access.dependence = dependence();
  access.continues = false;
}

[[gnu::hot]] bool Pattern::next(Access& access) {
  if (!plain_) return next_of_any(access);
  draw(access);
  return true;
}

bool Pattern::next_of_any(Access& access) {
  if (bytes_left_ > 0) {
    next_line(access);
    return true;
  }
  if (persists_.any() && persists_.flush(access)) return true;
  draw(access);
  if (atomics_ > 0.0 && atomic_.chance(atomics_)) {
    access.kind = AccessKind::kAtomic;
    access.size = size_ % 8 == 0 ? 8 : 4;
  }
  access.past = past_ && access.kind == AccessKind::kWrite;
  if (fence_every_ != 0 && to_fence_-- == 0) {
    access.dependence = kAllBefore;
    to_fence_ = fence_every_ - 1;
  }
  if (persists_.any()) persists_.draw(access);
  if (size_ <= kMostAtOnce) return true;
  // What needs the access before needs all lines of it.
  const std::uint32_t dependence = access.dependence == 0 ? 0 : kAllBefore;
  line_ = access.address;
  line_kind_ = access.kind;
  bytes_left_ = size_;
  next_line(access);
  access.dependence = dependence;
  return true;
}

namespace {

struct SequentialParams : PatternParams {
  static void describe(Schema<SequentialParams>& schema) {
    schema.doc("One block after the other, from the start again at the end of the footprint.");
    PatternParams::describe_in(schema);
    PatternParams::describe_fences(schema);
  }
};

class Sequential final : public Pattern {
 public:
  using Params = SequentialParams;
  Sequential(const Params& params, const PatternContext& context) : Pattern(params, context) {}

  bool add_demand(std::vector<DemandPart>& parts) const override {
    parts.push_back(all_alike());
    parts.back().order = DemandPart::Order::kInTurn;
    return true;
  }

 private:
  std::uint64_t next_block() override {
    const std::uint64_t block = at_++;
    if (at_ == blocks()) at_ = 0;
    return block;
  }
  std::uint64_t at_ = 0;
};

struct StridedParams : PatternParams {
  Bytes stride{4096};
  static void describe(Schema<StridedParams>& schema) {
    schema.doc("Steps of one stride; each pass over the footprint starts one block further.");
    PatternParams::describe_in(schema);
    PatternParams::describe_fences(schema);
    schema.field("stride", &StridedParams::stride)
        .min(Bytes{1})
        .doc("Bytes from one access to the next: a multiple of their `size`, and less than the `footprint`.");
    schema.rule("the stride must be a multiple of the size of an access, and below the footprint",
                [](const auto& params) {
                  return params.stride.count() % params.size.count() == 0 && params.stride < params.footprint;
                });
  }
};

class Strided final : public Pattern {
 public:
  using Params = StridedParams;
  Strided(const Params& params, const PatternContext& context)
      : Pattern(params, context), step_(params.stride.count() / params.size.count()) {}

  // Each pass but for its first block is as the one before: steps are blocks that come in turn.
  bool add_demand(std::vector<DemandPart>& parts) const override {
    if (blocks() % step_ != 0) return false;
    parts.push_back(all_alike());
    parts.back().block *= step_;
    parts.back().order = DemandPart::Order::kInTurn;
    return true;
  }

 private:
  std::uint64_t next_block() override {
    const std::uint64_t block = at_;
    at_ += step_;
    if (at_ >= blocks()) {
      if (++offset_ == step_) offset_ = 0;
      at_ = offset_;
    }
    return block;
  }
  std::uint64_t step_;
  std::uint64_t at_ = 0;
  std::uint64_t offset_ = 0;
};

struct RandomParams : PatternParams {
  static void describe(Schema<RandomParams>& schema) {
    schema.doc("Any block of the footprint with the same probability.");
    PatternParams::describe_in(schema);
    PatternParams::describe_fences(schema);
  }
};

class Random final : public Pattern {
 public:
  using Params = RandomParams;
  Random(const Params& params, const PatternContext& context) : Pattern(params, context) {}

  bool add_demand(std::vector<DemandPart>& parts) const override {
    parts.push_back(all_alike());
    return true;
  }

 private:
  std::uint64_t next_block() override { return random().below(blocks()); }
};

struct HotColdParams : PatternParams {
  double hot_footprint = 0.1;
  double hot_requests = 0.9;
  static void describe(Schema<HotColdParams>& schema) {
    schema.doc("A hot part at the start of the footprint takes most of the accesses.");
    PatternParams::describe_in(schema);
    PatternParams::describe_fences(schema);
    schema.field("hot_footprint", &HotColdParams::hot_footprint)
        .fraction()
        .doc("Share of the footprint that is hot.")
        .source("ESF, V-B: the hot 10 %");
    schema.field("hot_requests", &HotColdParams::hot_requests)
        .fraction()
        .doc("Share of the accesses that go there.")
        .source("ESF, V-B: 90 %");
  }
};

class HotCold final : public Pattern {
 public:
  using Params = HotColdParams;
  HotCold(const Params& params, const PatternContext& context)
      : Pattern(params, context),
        hot_blocks_(static_cast<std::uint64_t>(params.hot_footprint * static_cast<double>(blocks()))),
        hot_requests_(params.hot_requests) {}

  bool add_demand(std::vector<DemandPart>& parts) const override {
    const DemandPart all = all_alike();
    const double hot = hot_blocks_ == blocks() ? 1.0 : hot_blocks_ > 0 ? hot_requests_ : 0.0;
    const auto add = [&](std::uint64_t first, std::uint64_t count, double share) {
      if (count == 0 || share == 0.0) return;
      parts.push_back(all);
      parts.back().range = {Address{all.range.base.value() + first * all.block}, count * all.block};
      parts.back().share = share;
    };
    add(0, hot_blocks_, hot);
    add(hot_blocks_, blocks() - hot_blocks_, 1.0 - hot);
    return true;
  }

 private:
  std::uint64_t next_block() override {
    const bool hot = hot_blocks_ == blocks() || (hot_blocks_ > 0 && random().chance(hot_requests_));
    return hot ? random().below(hot_blocks_) : hot_blocks_ + random().below(blocks() - hot_blocks_);
  }
  std::uint64_t hot_blocks_;
  double hot_requests_;
};

struct ZipfParams : PatternParams {
  double exponent = 0.99;
  static void describe(Schema<ZipfParams>& schema) {
    schema.doc(
        "The block of rank k with probability in proportion to k^-exponent; ranks are scattered over the "
        "footprint.");
    PatternParams::describe_in(schema);
    PatternParams::describe_fences(schema);
    schema.field("exponent", &ZipfParams::exponent)
        .min(0.0)
        .max(10.0)
        .doc("Skew: 0 is uniform.")
        .source("0.99: the default of the YCSB benchmark");
  }
};

// Rejection-inversion (Hoermann and Derflinger, 1996): constant time and memory for any number of ranks.
class Zipf final : public Pattern {
 public:
  using Params = ZipfParams;
  Zipf(const Params& params, const PatternContext& context)
      : Pattern(params, context), exponent_(params.exponent) {
    low_ = integral(1.5) - 1.0;
    high_ = integral(static_cast<double>(blocks()) + 0.5);
    shortcut_ = 2.0 - inverse(integral(2.5) - power_of(2.0, -exponent_));
    // Any multiplier without a common factor visits every block: popular ranks do not lie side by side.
    scatter_ = 0x9e3779b97f4a7c15ULL % blocks();
    while (blocks() > 1 && std::gcd(scatter_, blocks()) != 1) ++scatter_;
  }

  bool add_demand(std::vector<DemandPart>& parts) const override {
    parts.push_back(all_alike());
    parts.back().exponent = exponent_;
    parts.back().scatter = scatter_;
    return true;
  }

 private:
  std::uint64_t next_block() override {
    while (true) {
      const double drawn = high_ + random().uniform() * (low_ - high_);
      const double place = inverse(drawn);
      auto rank = static_cast<std::uint64_t>(std::llround(place));
      if (rank < 1) rank = 1;
      if (rank > blocks()) rank = blocks();
      const auto value = static_cast<double>(rank);
      if (value - place <= shortcut_ || drawn >= integral(value + 0.5) - power_of(value, -exponent_)) {
        return static_cast<std::uint64_t>(Wide{rank - 1} * scatter_ % blocks());
      }
    }
  }
  // The integral of x^-exponent, and its inverse.
  double integral(double x) const {
    return exponent_ == 1.0 ? natural_log(x) : (power_of(x, 1.0 - exponent_) - 1.0) / (1.0 - exponent_);
  }
  double inverse(double y) const {
    return exponent_ == 1.0 ? exponential_of(y)
                            : power_of(1.0 + y * (1.0 - exponent_), 1.0 / (1.0 - exponent_));
  }

  double exponent_;
  double low_ = 0.0;
  double high_ = 0.0;
  double shortcut_ = 0.0;
  std::uint64_t scatter_ = 1;
};

struct PointerChaseParams : PatternParams {
  static void describe(Schema<PointerChaseParams>& schema) {
    schema.doc("Random blocks, each needed to know the next: one request at a time.");
    PatternParams::describe_in(schema);
  }
};

class PointerChase final : public Pattern {
 public:
  using Params = PointerChaseParams;
  static std::vector<std::string> traits() { return {"dependent"}; }
  PointerChase(const Params& params, const PatternContext& context) : Pattern(params, context) {}

  bool add_demand(std::vector<DemandPart>& parts) const override {
    parts.push_back(all_alike());
    return true;
  }

 private:
  std::uint64_t next_block() override { return random().below(blocks()); }
  std::uint32_t dependence() const override { return 1; }
};

}  // namespace

void register_patterns(PatternRegistry& registry) {
  registry.add<Sequential>("sequential");
  registry.add<Strided>("strided");
  registry.add<Random>("random");
  registry.add<HotCold>("hot-cold");
  registry.add<Zipf>("zipf");
  registry.add<PointerChase>("pointer-chase");
  registry.add<Cycle>("cycle");
  registry.add<LogAppend>("log-append");
  registry.add<Objects>("objects");
  registry.add<CopyEngine>("copy");
  registry.add<FillEngine>("fill");
  registry.add<TransferPattern>("transfer");
  registry.add<Share>(Share::kName);
}

}  // namespace cxloom
