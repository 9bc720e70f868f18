// Credits of a link whose ends are in two parts of a divided system.
#pragma once

#include <cstddef>

#include "base/arena.hpp"
#include "interconnect/wire/credit_line.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

/// The lines of a giver whose user is in another part: each sends to the user's line of its virtual channel.
struct CutCredits {
  CutCredits(Kernel& giver, const Kernel& user, CreditLine* far, std::size_t count)
      : way{giver, user, far}, lines(giver.arena().make_array<CreditLine>(count, [&](std::size_t vc) {
          return CreditLine(far[vc], way);
        })) {}

  CreditWay way;
  ArrayInArena<CreditLine> lines;
};

}  // namespace cxloom
