// The process whose memory a process begins with.
#pragma once

#include <cstdint>
#include <vector>

#include "program/feed/program_sink.hpp"

namespace cxloom {

/// A process is a copy of the one that began it, unless it is another program in that one's place.
class ProcessParents {
 public:
  /// A thread calls the kernel.
  void call(const ProgramThread& thread, std::uint32_t number);
  /// Whether a thread is the first of its process.
  bool is_first(const ProgramThread& thread);
  /// The process of which that of a first thread is a copy; itself if of none. `by` began the thread.
  std::uint32_t parent_of(const ProgramThread& thread, const Release& by) const;

 private:
  struct Caller {
    std::uint32_t process = 0;
    std::uint32_t number = 0;  // of its latest call
  };

  std::vector<Caller> callers_;  // by thread
  std::uint32_t processes_ = 0;
};

}  // namespace cxloom
