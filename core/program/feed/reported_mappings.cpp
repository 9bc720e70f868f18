#include "program/feed/reported_mappings.hpp"

#include <utility>

#include "program/feed/program_mappings.hpp"

namespace cxloom {

void ReportedMappings::thread_begins(const ProgramThread& thread, const FeedRingHead& process,
                                     ProgramSink& sink) {
  if (!std::exchange(begun_, true)) tell(thread, process, 0, ~std::uint64_t{0}, sink);
}

void ReportedMappings::call_ends(const ProgramThread& thread, const FeedRingHead& process,
                                 const SystemCall& call, const SystemCallEnd& end, ProgramSink& sink) {
  const bool of_a_file = static_cast<std::int32_t>(call.arguments[4]) >= 0;
  if (end.number != system_call::kMmap || !of_a_file || end.result <= 0) return;
  const auto begin = static_cast<std::uint64_t>(end.result);
  tell(thread, process, begin, begin + call.arguments[1], sink);
}

void ReportedMappings::tell(const ProgramThread& thread, const FeedRingHead& process, std::uint64_t begin,
                            std::uint64_t end, ProgramSink& sink) {
  if (process.is_machine != 0 || ++looks_ > kMostLooks) return;
  for (const ProgramMapping& mapping :
       mappings_of(process.pid, process.offset.load(std::memory_order_relaxed))) {
    if (mapping.begin < end && begin < mapping.end) sink.memory_mapped(thread, mapping);
  }
}

}  // namespace cxloom
