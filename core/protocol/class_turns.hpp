// Whose messages decide the format of a slot: the class with most messages waiting, so that queues of classes
// that need each other (reads and writes of one window) drain in step, and classes of equal length in turn. But
// every eighth time it is the next class in a round of all, whatever its length, so that none starves. Which time
// is the eighth follows the golden ratio, which no pattern of slots and flits is in step with.
#pragma once

#include <cstdint>

#include "protocol/slot_tables.hpp"

namespace cxloom {

class ClassTurns {
 public:
  /// One of the classes in `ready`, which is not empty; of each, so many messages are `waiting`.
  unsigned next(ClassNibbles ready, ClassNibbles waiting);

 private:
  unsigned turn_ = 0;       // the class after the one that led last by its length
  unsigned round_ = 0;      // ... and by the round of all classes
  std::uint32_t beat_ = 0;  // decides between lengths and the round
};

}  // namespace cxloom
