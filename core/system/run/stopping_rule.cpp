#include "system/run/stopping_rule.hpp"

#include "base/units.hpp"

namespace cxloom {

namespace {

// Measured requests at which a run looks for the first time whether the mean is known well enough. A window
// that is not long beside what a queue remembers scatters less by chance where it saw less than the usual
// queue, and would end there (P. W. Glynn and W. Whitt, Annals of Applied Probability 2, 1992). This is forty
// times what a queue at 95 % load remembers, 1 / (1 - load)^2 requests.
constexpr std::uint64_t kFirstLook = 16384;

}  // namespace

StoppingRule::StoppingRule(std::optional<double> ci, const RequestObserver& observer)
    : ci_(ci), observer_(observer), next_look_(ci ? kFirstLook : 0) {}

// At points of the run that depend on nothing but the run, each an eighth of the way further than the one
// before: who looks too often finds an interval that is narrow by chance.
bool StoppingRule::look() {
  next_look_ += next_look_ / 8;
  const auto error = observer_.relative_error();
  const bool enough = error && *error <= *ci_;
  met_ |= enough;
  return enough;
}

std::string StoppingRule::reason() const { return "the mean latency is known to " + percent_text(*ci_); }

std::string StoppingRule::note() const {
  if (!ci_ || met_) return {};
  const auto error = observer_.relative_error();
  return "the run ended before the mean latency was known to " + percent_text(*ci_) + ": " +
         (error ? "it is known to " + percent_text(*error) + " (95 % confidence)"
                : "too little was measured to say how well it is known") +
         "; measure more requests";
}

}  // namespace cxloom
