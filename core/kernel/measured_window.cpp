#include "kernel/measured_window.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace cxloom {

void MeasuredParts::add(const Part& part) {
  ensure(!opened_, "a part of the measured window that came after it had opened");
  parts_.push_back(part);
}

void MeasuredParts::open(Time at) {
  ensure(opened_ || come_once_each(), "a part of the measured window that opens with it twice");
  opened_ = true;
  pass_all(true, at);
}

void MeasuredParts::close(Time at) const { pass_all(false, at); }

bool MeasuredParts::come_once_each() const {
  std::vector<void*> parts;
  for (const Part& each : parts_) parts.push_back(each.part);
  std::ranges::sort(parts);
  return std::ranges::adjacent_find(parts) == parts.end();
}

void MeasuredParts::pass_all(bool opens, Time at) const {
  for (const Part& each : parts_) each.pass(each.part, opens, at);
}

}  // namespace cxloom
