// The explorer and the oracle find deliberate faults: each breaks an invariant, and the shortest way to it is
// told.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/support/coherence_bench.hpp"
#include "core/support/coherence_explorer.hpp"
#include "core/support/coherence_faults.hpp"
#include "core/support/coherence_visit.hpp"

namespace cxloom::test {
namespace {

/// Two caches of so many lines, and a filter for two.
CoherenceSetup of_dcoh(std::uint32_t cached = 2) { return two_caches(cached, 2, 2); }

CoherenceSetup with_notices() {
  CoherenceSetup setup = of_dcoh(1);
  for (HostSetup& host : setup.hosts) host.cache->clean_evictions = CleanEvictions::kNotified;
  return setup;
}

TEST(CoherenceFaults, ALostMessageIsADeadlock) {
  for (const Opcode opcode :
       {Opcode::kMemRdData, Opcode::kMemRd, Opcode::kMemInv, Opcode::kMemWr, Opcode::kMemData, Opcode::kCmpE,
        Opcode::kCmpS, Opcode::kCmp, Opcode::kBISnpInv, Opcode::kBISnpData, Opcode::kBIRspI, Opcode::kBIRspS,
        Opcode::kBIConflict, Opcode::kBIConflictAck}) {
    finds(of_dcoh(1), loses(opcode), "deadlock");
  }
}

TEST(CoherenceFaults, AnAtomicOperation) {
  CoherenceSetup setup = of_dcoh(1);
  for (HostSetup& host : setup.hosts) {
    host.atomics = AtomicsAt::kHome;
    host.plan.steps = {read_of(0), write_of(0), atomic_of(0)};
  }
  finds(setup, loses(Opcode::kMemAtomic), "deadlock");
  finds(setup, asks_others(Opcode::kMemAtomic, SnpType::kSnpCur), "and the latest is");
  finds(setup, answers_at_once(Opcode::kMemAtomic, Opcode::kMemData), "data that no home has sent");
}

TEST(CoherenceFaults, ALineThatIsKept) {
  finds(of_dcoh(), keeps_snooped_lines(), "node 0 holds a line of which the filter has {} as owners");
  finds(of_dcoh(), turns(Opcode::kBIRspS, Opcode::kBIRspI), "of which the filter has {} as owners");
  finds(of_dcoh(), turns(Opcode::kBISnpInv, Opcode::kBISnpData), "may write a line of which the filter has");
}

TEST(CoherenceFaults, ALineThatIsGranted) {
  finds(of_dcoh(), turns(Opcode::kCmpS, Opcode::kCmpE),
        "may write a line of which the filter has {host0,host1}");
  finds(of_dcoh(), asks_others(Opcode::kMemInv, SnpType::kSnpData), "may write a line of which the filter");
}

TEST(CoherenceFaults, AConflictThatIsAnsweredTooEarly) {
  finds(of_dcoh(), hurries(Opcode::kBIConflictAck), "of which the filter has {} as owners");
}

TEST(CoherenceFaults, ADirtyLineThatIsLost) {
  finds(of_dcoh(), answers_at_once(Opcode::kMemWr, Opcode::kCmp), "reads version 0, and the latest is 1");
}

TEST(CoherenceFaults, AFilterThatIsToldTheWrongState) {
  finds(of_dcoh(), keeps(MetaValue::kShared, MetaValue::kInvalid), "of which the filter has {} as owners");
  finds(with_notices(), keeps(MetaValue::kInvalid, MetaValue::kShared), "which has given notice");
  finds(with_notices(), answers_at_once(Opcode::kMemClnEvct, Opcode::kCmp), "which has given notice");
  finds(with_notices(), loses(Opcode::kMemClnEvct), "a message that nobody has acted on: MemClnEvct");
}

TEST(CoherenceFaults, MessagesWithoutEnd) {
  CoherenceSetup one_line = of_dcoh(1);
  for (HostSetup& host : one_line.hosts) host.plan = anything(1);
  finds(one_line, answers_at_once(Opcode::kBIConflictAck, Opcode::kBIConflict), "livelock");
}

// One writes and another reads. Each needs its request, an access to memory and the two parts of the answer,
// the read a snoop and its answer besides, and the write-back between these, which is taken for done, its
// Cmp: 2 + 8 + 2 + 1 choices.
TEST(CoherenceFaults, TheWayThereIsTheShortest) {
  CoherenceSetup setup;
  setup.hosts = {{small_cache(1), anything(1)}, {small_cache(1), anything(1)}};
  setup.home = small_home(1);
  setup.lines = 1;
  const Exploration found = explored_with(setup, answers_at_once(Opcode::kMemWr, Opcode::kCmp));
  for (const char* const part :
       {"host1 has written 0x0, version 1\n      host1 has 0x0 as I+Own-granted-E becomes M\n",
        "BISnpData 0x0 mem -> host1 arrives\n      host1 has 0x0 as M becomes S+WrBk-snooped\n",
        "\n13. MemData 0x0 mem -> host0 arrives\n      host0 has read 0x0, version 0\n"}) {
    EXPECT_NE(found.path.find(part), std::string::npos) << part << "is not in\n" << found.path;
  }
  EXPECT_EQ(found.path.find("\n14. "), std::string::npos) << found.path;
}

}  // namespace
}  // namespace cxloom::test
