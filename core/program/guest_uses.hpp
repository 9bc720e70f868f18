// What the processes of a machine do in its memory, by their mappings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "program/feed/program_sink.hpp"
#include "program/memory_origins.hpp"
#include "workload/stream/access_stream.hpp"

namespace cxloom {

/// Counts what runs outside of the kernel. A process is an address space: what a program becomes by execve is
/// another one, and threads are of one. Records go to the mapping whose access caused them; a write-back to
/// that which had the page last, if one had, and else to none.
class GuestUses {
 public:
  struct Process {
    std::uint32_t pid = 0;
    std::string name;
    std::uint64_t instructions = 0;
    std::uint64_t records = 0;
  };
  struct Mapping {
    std::uint32_t process = 0;                               ///< its index
    std::string name;                                        ///< of its file, or what it is in brackets
    std::unordered_map<std::uint64_t, std::uint64_t> pages;  ///< records by the number of a page in memory
  };

  void goes_on(const ProgramThread& thread, const GuestProcess& process);
  void maps(const GuestMapping& mapping);

  /// A processor went through instructions outside of the kernel, which made so many records.
  void ran(const ProgramThread& thread, std::uint64_t instructions, std::uint64_t records);
  /// These are the records of an access of a processor outside of the kernel.
  void accessed(const ProgramThread& thread, const ProgramAccess& access, AccessRole role,
                std::span<const Access> records);

  /// Whose it is what a processor does outside of the kernel, as records have it: kFirstProcess and the index
  /// in `processes()`, or kLastProcess for all from there on; 0: not told.
  std::uint16_t number_of(const ProgramThread& thread) const {
    constexpr std::uint32_t kMostTold = kLastProcess - kFirstProcess;
    const std::uint32_t process = running(thread);
    return process == kNobody ? 0 : static_cast<std::uint16_t>(kFirstProcess + std::min(process, kMostTold));
  }

  const std::vector<Process>& processes() const { return processes_; }
  const std::vector<Mapping>& mappings() const { return mappings_; }

 private:
  std::uint32_t process_of(std::uint64_t space);
  std::uint32_t mapping_of(std::uint32_t process, std::uint32_t origin);
  std::uint32_t running(const ProgramThread& thread) const {
    return thread.number < running_.size() ? running_[thread.number] : kNobody;
  }

  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  struct Latest {
    std::uint64_t end = 0;
    std::string name;
  };

  MemoryOrigins origins_;
  std::vector<Process> processes_;
  std::vector<Mapping> mappings_;
  std::vector<Latest> latest_;                                // mapping of each process
  std::vector<std::uint32_t> running_;                        // processes, by processor as a thread
  std::unordered_map<std::uint64_t, std::uint32_t> spaces_;   // the processes of those that there are
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // of mappings, by process and origin
  std::unordered_map<std::uint64_t, std::uint32_t> owners_;   // mappings, by page
};

}  // namespace cxloom
