// Reads what `valgrind --tool=lackey --trace-mem=yes` writes: every instruction and every load and store of a
// program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "workload/stream/access_stream.hpp"
#include "workload/trace/lines.hpp"

namespace cxloom {

/// Fed blocks of bytes, gives the accesses in them; memory use does not depend on the length of the trace.
///
///     I  0401ab70,3        an instruction: not an access, counted in the instruction gap of the next one
///      L 1fff000758,8      a load
///      S 1fff000750,8      a store
///      M 04c3a010,4        a modify: a load and a store, with no instruction between
///     ==4711== ...         valgrind's own words, ignored
///     --4711--   SCHED[2]:  acquired lock ...     with --trace-sched=yes: thread 2 goes on from here
///
/// The instruction gap of an access counts the instructions that its thread began since that thread's access
/// before it, the one that makes the access included. Threads have valgrind's numbers, from 1; without
/// --trace-sched=yes all is thread 1.
class LackeyParser {
 public:
  /// Appends the accesses of the lines that the block completes. Throws TraceError.
  void feed(std::string_view block, std::vector<Access>& accesses);
  /// Tells that the input has ended; throws TraceError if it ended within a line or held no access at all.
  void finish();

  std::uint64_t accesses() const { return accesses_; }
  std::uint64_t instructions() const { return instructions_; }

 private:
  void parse(std::string_view line, std::vector<Access>& accesses);
  void switch_thread(std::string_view line);
  void append(const Access& access, std::vector<Access>& accesses) {
    accesses.push_back(access);
    ++accesses_;
  }
  [[noreturn]] void refuse(std::string_view line) const;

  LineSplitter lines_;
  std::vector<std::uint32_t> gaps_ = {0, 0};  // by thread: instructions since its last access
  std::uint32_t thread_ = 1;
  std::uint64_t accesses_ = 0;
  std::uint64_t instructions_ = 0;
};

}  // namespace cxloom
