// The origin of each page of a program: the code that mapped it, or its file.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "program/feed/program_sink.hpp"

namespace cxloom {

/// Memory of one origin: all that was mapped by calls from one place, or that is of one file.
struct MemoryOrigin {
  enum Kind : std::uint8_t {
    kUnknown,
    kStack,         ///< of the first thread of a process
    kThreadStacks,  ///< of the others
    kHeap,          ///< `brk`, called from there
    kMapped,        ///< `mmap` of no file, called from there
    kFile,
    kPageTables
  };

  Kind kind = kUnknown;
  std::uint32_t process = 0;
  std::string file;                    ///< its path, of a file
  std::vector<std::uint64_t> callers;  ///< return addresses on the way to the call, the innermost first

  auto operator<=>(const MemoryOrigin&) const = default;
};

/// Follows the calls by which processes map memory.
class MemoryOrigins {
 public:
  MemoryOrigins() { origins_.emplace_back(); }

  /// A process begins: as a copy of another one, if it is a fork.
  void begins(std::uint32_t process, std::uint32_t copy_of);
  /// A process has ended: nothing of it is mapped any longer.
  void is_over(std::uint32_t process) { processes_.erase(process); }
  /// A mapping that is there, as the system lists it; `path` is empty for memory of no file.
  void is_mapped(std::uint32_t process, const ProgramMapping& mapping);
  /// A thread calls the kernel from there. What a call has mapped is known when it is back.
  void calls(const ProgramThread& thread, const SystemCall& call, std::span<const std::uint64_t> callers);
  void ends(const ProgramThread& thread, const SystemCallEnd& end);

  /// The number of the origin of what a thread accesses, in `origins()`.
  std::uint32_t origin_of(std::uint32_t process, std::uint64_t address);
  /// The number of the origin of a process's page tables, which no program maps.
  std::uint32_t page_tables_of(std::uint32_t process);
  /// All origins so far; the first is the unknown one.
  const std::vector<MemoryOrigin>& origins() const { return origins_; }
  /// Mappings of files, in all processes: where in the file an address is.
  const std::vector<std::pair<std::uint32_t, ProgramMapping>>& files() const { return files_; }

  /// Callers that are remembered of a call.
  static constexpr std::size_t kCallers = 24;

 private:
  struct Range {
    std::uint64_t end = 0;
    std::uint32_t origin = 0;
  };
  using Ranges = std::map<std::uint64_t, Range>;  // by their beginnings; none overlaps
  struct Process {
    Ranges ranges;
    Ranges nameless;             // there from the start: one of them is the stack
    std::uint64_t break_at = 0;  // 0: it was not asked for
    bool begun = false;          // it has accessed something
    bool behind_a_file = false;  // the latest mapping that it was said to have is of one
  };
  struct Pending {
    SystemCall call;
    std::vector<std::uint64_t> callers;
  };

  std::uint32_t number_of(MemoryOrigin origin);
  void map(Process& process, std::uint64_t begin, std::uint64_t end, std::uint32_t origin);
  static void unmap(Process& process, std::uint64_t begin, std::uint64_t end);
  void mapped(const ProgramThread& thread, const Pending& pending, std::uint64_t begin);
  void moved(Process& process, const SystemCall& call, std::uint64_t to);

  std::vector<MemoryOrigin> origins_;
  std::map<MemoryOrigin, std::uint32_t> numbers_;
  std::unordered_map<std::uint32_t, Process> processes_;
  std::unordered_map<std::uint32_t, Pending> pending_;  // by thread
  std::vector<std::pair<std::uint32_t, ProgramMapping>> files_;
};

}  // namespace cxloom
