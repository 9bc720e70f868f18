#include "coherence/cache/transaction.hpp"

#include <array>
#include <cstddef>

#include "coherence/cache/home_protocol.hpp"

namespace cxloom {

namespace {

constexpr std::array<std::string_view, 4> kStateNames{"I", "E", "M", "S"};
constexpr std::array<std::string_view, 11> kDoing{"",        "+Rd",    "+Own",     "+Upgrade",
                                                  "+Write",  "+WrBk",  "+ClnEvct", "+Operate",
                                                  "+Atomic", "+Flush", "+Current"};

}  // namespace

std::string_view name_of(LineState state) { return kStateNames[static_cast<std::size_t>(state)]; }

LineState left_of(LineState held, const CacheSnoop& snoop) {
  if (held == LineState::kInvalid || snoop.purpose == SnoopFor::kInvalidate) return LineState::kInvalid;
  if (snoop.purpose == SnoopFor::kShare) return LineState::kShared;
  return held == LineState::kDirty && !snoop.protocol->forwards_data() ? LineState::kClean : held;
}

LineState more_of(LineState a, LineState b) {
  if (a == LineState::kInvalid) return b;
  return a == LineState::kShared && b != LineState::kInvalid ? b : a;
}

std::string CacheTransaction::described() const {
  std::string text{kDoing[static_cast<std::size_t>(doing)]};
  if (granted != LineState::kInvalid && !data_in) (text += " granted ") += name_of(granted);
  if (data_in && granted == LineState::kInvalid) text += " data";
  if (asked) text += " asked";
  if (snoop) text += " snooped";
  return text;
}

}  // namespace cxloom
