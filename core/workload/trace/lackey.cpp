#include "workload/trace/lackey.hpp"

#include <limits>
#include <string>

namespace cxloom {

namespace {

constexpr char kAllowed[] =
    "a line such as 'I  0401ab70,3', ' L 1fff0758,8', ' S 1fff0750,8' or ' M 04c3a010,4'";
constexpr std::uint32_t kMostThreads = 1U << 16U;  // valgrind's own limit is far below

}  // namespace

void LackeyParser::feed(std::string_view block, std::vector<Access>& accesses) {
  lines_.feed(block, [&](std::string_view line) { parse(line, accesses); });
}

void LackeyParser::finish() {
  const std::string_view rest = lines_.rest();
  if (!rest.empty()) {
    throw TraceError({"the trace is cut off within a line", quoted(rest), kAllowed, {}}, lines_.number());
  }
  if (accesses_ == 0) {
    throw TraceError(
        {"the trace has no loads or stores", {}, "the output of valgrind --tool=lackey --trace-mem=yes", {}},
        lines_.number());
  }
}

void LackeyParser::parse(std::string_view line, std::vector<Access>& accesses) {
  if (line.empty()) return;
  if (line.starts_with("==") || line.starts_with("--") || line.starts_with("**")) {
    switch_thread(line);
    return;
  }
  const std::size_t comma = line.find(',');
  if (line.size() < 6 || comma == std::string_view::npos) refuse(line);
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  if (!parse_number(line.substr(3, comma - 3), 16, address) ||
      !parse_number(line.substr(comma + 1), 10, size) || size == 0 ||
      size > std::numeric_limits<std::uint16_t>::max()) {
    refuse(line);
  }
  const std::string_view tag = line.substr(0, 3);
  if (tag == "I  ") {
    ++instructions_;
    std::uint32_t& gap = gaps_[thread_];
    gap += gap != std::numeric_limits<std::uint32_t>::max();
    return;
  }
  Access access;
  access.address = Address{address};
  access.size = static_cast<std::uint16_t>(size);
  access.thread = thread_;
  access.instruction_gap = gaps_[thread_];
  if (tag == " L ") {
    append(access, accesses);
  } else if (tag == " S ") {
    access.kind = AccessKind::kWrite;
    append(access, accesses);
  } else if (tag == " M ") {
    append(access, accesses);
    access.kind = AccessKind::kWrite;
    access.instruction_gap = 0;
    append(access, accesses);
  } else {
    refuse(line);
  }
  gaps_[thread_] = 0;
}

// "--4711--   SCHED[2]:  acquired lock (...)" says that thread 2 runs now.
void LackeyParser::switch_thread(std::string_view line) {
  constexpr std::string_view kMark = "SCHED[";
  const std::size_t mark = line.find(kMark);
  if (mark == std::string_view::npos || line.find("acquired lock", mark) == std::string_view::npos) return;
  const std::size_t begin = mark + kMark.size();
  std::uint64_t thread = 0;
  if (!parse_number(line.substr(begin, line.find(']', begin) - begin), 10, thread) || thread >= kMostThreads)
    refuse(line);
  thread_ = static_cast<std::uint32_t>(thread);
  if (thread_ >= gaps_.size()) gaps_.resize(thread_ + 1, 0);
}

void LackeyParser::refuse(std::string_view line) const {
  throw TraceError({"not a line of a lackey trace", quoted(line), kAllowed, {}}, lines_.number());
}

}  // namespace cxloom
