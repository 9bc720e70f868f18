// What became of the regions that are replicated: the section `replication` of a summary.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "component/replica_set.hpp"

namespace cxloom {

class Simulation;

struct ReplicationMeasured : ReplicaCounts {
  Value state;
  double degraded = 0;
  std::optional<std::uint64_t> lost;
  std::optional<Value> lag_ns;
  std::optional<std::uint64_t> stale;
  std::optional<std::uint64_t> reversed;
  std::optional<std::uint64_t> differing;
};

inline constexpr std::array kReplicationMeasures{
    measure<ReplicationMeasured, &ReplicationMeasured::reads>("reads", "", "reads of the region"),
    measure<ReplicationMeasured, &ReplicationMeasured::writes>("writes", "", "writes to the region"),
    measure<ReplicationMeasured, &ReplicationMeasured::copies>(
        "copies", "", "writes that were sent to memories for these: one for each copy that gets writes"),
    measure<ReplicationMeasured, &ReplicationMeasured::met_failure>(
        "met_failure", "",
        "reads and writes of which a copy ended with an error, be it or not that another served "
        "them"),
    measure<ReplicationMeasured, &ReplicationMeasured::failed>(
        "failed", "", "reads and writes that ended with an error, as no copy served them"),
    measure<ReplicationMeasured, &ReplicationMeasured::left>(
        "left", "", "times that a copy which was whole was given up"),
    measure<&ReplicationMeasured::degraded>("degraded_ns", "ns",
                                            "how long some copy was not whole, up to the end of the run"),
    measure<ReplicationMeasured, &ReplicationMeasured::resyncs>(
        "resyncs", "", "times that a copy came back, and what it lacked began to be copied"),
    measure<ReplicationMeasured, &ReplicationMeasured::given_up>(
        "given_up", "",
        "resynchronisations that did not come to an end: something failed, or the work ended"),
    measure<ReplicationMeasured, &ReplicationMeasured::resynced_bytes>(
        "resynced_bytes", "B", "bytes that were copied to memories that had come back"),
    measure<&ReplicationMeasured::state>(
        "state", "", "each memory with a copy at the end of the run: whole, out, or back"),
    measure<&ReplicationMeasured::lost>(
        "lost_writes", "",
        "writes that were answered, and that no copy which is whole is known to have. This and the next with "
        "acknowledge below the number of copies"),
    measure<&ReplicationMeasured::lag_ns>("lag_ns", "ns",
                                          "from the answer of a write until the last copy has it, mean"),
    measure<&ReplicationMeasured::stale>(
        "stale_reads", "",
        "reads that got a version which another had followed for certain when they were made. This and the "
        "next two with outputs.versions"),
    measure<&ReplicationMeasured::reversed>(
        "reversed_reads", "",
        "reads that got older data than a read that had ended before: both beside a write that was under "
        "way"),
    measure<&ReplicationMeasured::differing>(
        "differing_lines", "",
        "lines of which copies that are whole have different versions at the end of the run, and that nobody "
        "writes"),
};

/// None: no region is replicated.
std::optional<Value> replication_of(const Simulation& simulation);

}  // namespace cxloom
