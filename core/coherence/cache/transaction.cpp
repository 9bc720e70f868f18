#include "coherence/cache/transaction.hpp"

#include <array>
#include <cstddef>

namespace cxloom {

namespace {

constexpr std::array<std::string_view, 4> kStateNames{"I", "E", "M", "S"};
constexpr std::array<std::string_view, 11> kDoing{"",        "+Rd",    "+Own",     "+Upgrade",
                                                  "+Write",  "+WrBk",  "+ClnEvct", "+Operate",
                                                  "+Atomic", "+Flush", "+Current"};

}  // namespace

std::string_view name_of(LineState state) { return kStateNames[static_cast<std::size_t>(state)]; }

std::string CacheTransaction::described() const {
  std::string text{kDoing[static_cast<std::size_t>(doing)]};
  if (granted != LineState::kInvalid && !data_in) (text += " granted ") += name_of(granted);
  if (data_in && granted == LineState::kInvalid) text += " data";
  if (asked) text += " asked";
  if (snoop) text += " snooped";
  return text;
}

}  // namespace cxloom
