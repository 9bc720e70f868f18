// A divided run as a whole, as those see it who play its parts.
#pragma once

#include <cstdint>

namespace cxloom {

class Requester;

/// What comes next that concerns all parts.
enum class NextOfAll : std::uint8_t {
  kAllWarm,         ///< the measured window opens when the last requester is warm
  kFirstOutOfWork,  ///< it closes when the first one has run out of work
  kAllOutOfWork,    ///< the run ends
  kTaskEnds,        ///< others begin with the end of a task, wherever they are
};

class WholeRun {
 public:
  virtual NextOfAll next() const = 0;
  /// Accesses that a requester is sure to make before a task of it ends; kNoLook: it has none now.
  virtual std::uint64_t accesses_of_task(const Requester& requester) const = 0;
  /// Measured requests after which somebody looks at how well the mean is known; kNoLook: nobody will.
  virtual std::uint64_t answers_until_look() const = 0;
  static constexpr std::uint64_t kNoLook = ~std::uint64_t{0};
  /// The measured window should have opened: all are warm.
  virtual bool overlooked_warmth() = 0;
  /// What has happened may still touch any part, at times that nobody knows.
  virtual bool unsettled() const = 0;
  /// Parts run side by side from now on, or do not.
  virtual void go_side_by_side(bool side_by_side) = 0;
  /// A measured request was answered, in the order of the whole run.
  virtual void measured() = 0;

 protected:
  ~WholeRun() = default;
};

}  // namespace cxloom
