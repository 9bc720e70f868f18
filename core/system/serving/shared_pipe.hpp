// A way of some bandwidth that several servers use at once.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/units.hpp"

namespace cxloom {

/// Servers are served in turns of few bytes, so that each that has something to move gets an equal share, and
/// none more than the bandwidth of its own link. The moves of one server go one after the other. A latency
/// lies behind each and does not take the way.
class SharedPipe {
 public:
  /// Bytes a second: of one server, and of all together; zero is no limit.
  SharedPipe(std::uint32_t servers, double each, double together, Time latency);

  void begin(Time now, std::uint32_t server, std::uint64_t bytes, std::uint64_t ticket);
  Time next() const;
  void advance(Time until, std::vector<std::uint64_t>& done);
  /// What a move takes if those under way go on as they are, and no others come.
  Time estimate(std::uint32_t server, std::uint64_t bytes) const;
  /// Bytes that went through, also of moves that are not done.
  double moved() const { return moved_; }

 private:
  struct Move {
    double left;  // bytes
    std::uint64_t ticket;
  };
  struct Done {
    Time at;
    std::uint64_t ticket;
  };

  double share(std::uint64_t flows) const;
  Time first_end() const;
  void flow(Time until);

  std::vector<std::deque<Move>> queues_;  // by server
  double each_;
  double together_;
  Time latency_;
  std::uint64_t flows_ = 0;  // servers with something to move
  Time now_;
  double moved_ = 0;
  std::deque<Done> done_;  // behind their bytes, in the order of their ends
};

}  // namespace cxloom
