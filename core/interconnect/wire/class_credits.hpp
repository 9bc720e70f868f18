// Receive-buffer credits of a link, by class or the same for all: `credits: 64` or `credits: {M2S Req: 32,
// M2S RwD: 16}`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/value.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

class ClassCredits {
 public:
  static constexpr std::string_view kSchemaType = "any";  ///< a number or a table
  static constexpr std::uint32_t kMost = 65536;

  ClassCredits() = default;
  /// Gives every class the same number of credits.
  explicit ClassCredits(std::uint32_t each) : all_alike_(true) { credits_.fill(each); }

  /// The credits of a class; none: the receiver's buffers are unbounded.
  std::optional<std::uint32_t> of(Channel channel) const {
    return credits_[static_cast<std::size_t>(channel)];
  }
  void set(Channel channel, std::uint32_t credits) { credits_[static_cast<std::size_t>(channel)] = credits; }
  /// One number was said for all classes.
  bool all_alike() const { return all_alike_; }
  /// Some class is limited.
  bool any() const {
    for (const auto& each : credits_) {
      if (each) return true;
    }
    return false;
  }

 private:
  std::array<std::optional<std::uint32_t>, kChannelCount> credits_{};
  bool all_alike_ = false;
};

/// Throws InputError for a class that does not exist and for a number outside [1, kMost].
void read_value(const Value& value, ClassCredits& out);

}  // namespace cxloom
