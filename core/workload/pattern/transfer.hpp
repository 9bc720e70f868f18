// The pattern of copies between a device and system memory: blocks of any size, each in one direction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/random.hpp"
#include "base/schema.hpp"
#include "workload/pattern/copy.hpp"
#include "workload/pattern/pattern.hpp"

namespace cxloom {

enum class CopyDirection : std::uint8_t {
  kIn,    ///< from system memory: reads
  kOut,   ///< to system memory: writes
  kBoth,  ///< one of each in turns
};

struct TransferParams {
  CopyDirection direction = CopyDirection::kIn;
  Bytes size{1ULL << 20U};
  Bytes footprint{1ULL << 30U};
  Address base;
  DescriptorOrder order = DescriptorOrder::kSequential;

  static void describe(Schema<TransferParams>& schema) {
    schema.doc(
        "Copies of blocks between a device and system memory. `requests` counts copies, each of which is "
        "made as pieces of 4 KiB: for a gpu, which copies by DMA.");
    schema
        .choice("direction", &TransferParams::direction,
                {{"in", CopyDirection::kIn}, {"out", CopyDirection::kOut}, {"both", CopyDirection::kBoth}})
        .doc(
            "in: from system memory to the device. out: from the device to system memory. both: one of each "
            "in turns.");
    schema.field("size", &TransferParams::size).min(Bytes{1}).max(Bytes{1ULL << 34U}).doc("Bytes of a copy.");
    schema.field("footprint", &TransferParams::footprint)
        .min(Bytes{kLineBytes})
        .doc("Bytes of the address range of system memory: room for one copy of `size` bytes at least.");
    schema.field("base", &TransferParams::base)
        .where([](const Address& base) { return base.value() % kLineBytes == 0; }, "a multiple of 64")
        .doc("First address of the range.");
    schema
        .choice("order", &TransferParams::order,
                {{"sequential", DescriptorOrder::kSequential}, {"random", DescriptorOrder::kRandom}})
        .doc(
            "sequential: one block after the other, from the start again at the end. random: any block. Each "
            "begins at a line.");
    schema.rule("the footprint is smaller than one copy of `size` bytes",
                [](const TransferParams& params) { return params.stride() <= params.footprint.count(); });
  }
  /// From one block to the next.
  std::uint64_t stride() const { return (size.count() + kLineBytes - 1) / kLineBytes * kLineBytes; }
};

class TransferPattern final : public AccessStream {
 public:
  using Params = TransferParams;
  TransferPattern(const TransferParams& params, const PatternContext& context)
      : params_(params),
        blocks_(params.footprint.count() / params.stride()),
        random_(context.seed, context.name, "addresses") {}

  bool next(Access& access) override {
    access = {};
    if (left_ == 0) begin();
    const std::uint64_t bytes = std::min(left_, kMostAtOnce);
    access.address = Address{at_};
    access.size = static_cast<std::uint16_t>(bytes);
    access.kind = out_ ? AccessKind::kWrite : AccessKind::kRead;
    at_ += bytes;
    left_ -= bytes;
    access.continues = left_ > 0;
    return true;
  }
  std::optional<AddressRange> range() const override {
    return AddressRange{params_.base, blocks_ * params_.stride()};
  }
  std::uint64_t per_access() const override { return (params_.size.count() + kMostAtOnce - 1) / kMostAtOnce; }

 private:
  void begin() {
    const std::uint64_t number = params_.direction == CopyDirection::kBoth ? begun_ / 2 : begun_;
    out_ = params_.direction == CopyDirection::kBoth ? begun_ % 2 != 0
                                                     : params_.direction == CopyDirection::kOut;
    const std::uint64_t block =
        params_.order == DescriptorOrder::kRandom ? random_.below(blocks_) : number % blocks_;
    ++begun_;
    at_ = params_.base.value() + block * params_.stride();
    left_ = params_.size.count();
  }

  Params params_;
  std::uint64_t blocks_;
  std::uint64_t begun_ = 0;  // copies
  std::uint64_t at_ = 0;     // the next piece
  std::uint64_t left_ = 0;   // of the copy
  bool out_ = false;
  RandomStream random_;
};

}  // namespace cxloom
