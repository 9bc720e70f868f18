// The reports to a sink of the memory that a process has mapped.
#pragma once

#include <cstdint>

#include "program/feed/program_sink.hpp"
#include "program/feed/ring.hpp"

namespace cxloom {

/// The mappings of one process. Looks at them when the process begins, and when it has mapped a file, and
/// tells what it finds a few moments after the call.
class ReportedMappings {
 public:
  static constexpr std::uint32_t kMostLooks = 10'000;

  /// A thread begins: tells what its process begins with, if it is the first one. `process` is the head of
  /// that one's ring, here and below.
  void thread_begins(const ProgramThread& thread, const FeedRingHead& process, ProgramSink& sink);
  /// A call is back that may have mapped a file.
  void call_ends(const ProgramThread& thread, const FeedRingHead& process, const SystemCall& call,
                 const SystemCallEnd& end, ProgramSink& sink);

 private:
  void tell(const ProgramThread& thread, const FeedRingHead& process, std::uint64_t begin, std::uint64_t end,
            ProgramSink& sink);

  bool begun_ = false;
  std::uint32_t looks_ = 0;
};

}  // namespace cxloom
