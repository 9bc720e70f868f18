// Ends a run once its mean latency is known well enough (`run.until.ci`): a sequential stopping rule.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "protocol/request_observer.hpp"
#include "system/run/whole_run.hpp"

namespace cxloom {

class StoppingRule {
 public:
  /// `ci`: half of the 95 % interval of the mean latency / the mean that is enough; none: the run goes on to
  /// its end. `observer`, which outlives this, knows how well it is known.
  StoppingRule(std::optional<double> ci, const RequestObserver& observer);

  /// A request was answered in the measured window. Whether the run is to end.
  bool measured() { return ++measured_ == next_look_ && look(); }
  /// Measured requests until it looks at how well the mean is known; WholeRun::kNoLook: it will not.
  std::uint64_t answers_until_look() const {
    return next_look_ > measured_ ? next_look_ - measured_ : WholeRun::kNoLook;
  }
  /// It has ended the run.
  bool met() const { return met_; }
  /// What is known well enough, for people, once it has.
  std::string reason() const;
  /// A sentence for a run that has come to its end; empty: there is nothing to say.
  std::string note() const;

 private:
  bool look();

  std::optional<double> ci_;
  const RequestObserver& observer_;
  std::uint64_t measured_ = 0;
  std::uint64_t next_look_ = 0;  // when so many are measured; 0: never
  bool met_ = false;
};

}  // namespace cxloom
