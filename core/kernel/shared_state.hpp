// What several parts of a divided system change.
#pragma once

namespace cxloom {

/// While parts run side by side each of them changes what it has of it; between windows it is one again. In
/// merged windows, and in a system that is not divided, it is as if there was one part.
class SharedState {
 public:
  virtual ~SharedState() = default;
  /// Parts run side by side from now on, or do not.
  void go_side_by_side(bool side_by_side) { side_by_side_ = side_by_side; }
  bool side_by_side() const { return side_by_side_; }
  /// A window side by side is over, and no part is at work.
  virtual void gather() = 0;
  /// Takes in what was gathered: before a merged window, or while parts run side by side again.
  virtual void tell() {}

 private:
  bool side_by_side_ = false;
};

}  // namespace cxloom
