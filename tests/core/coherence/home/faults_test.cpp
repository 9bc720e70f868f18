// Faults (explorer_faults_test.cpp) of homes that speak CXL.cache: home (HDM-H) and bias agents (HDM-D).
#include <gtest/gtest.h>

#include <string>

#include "core/support/coherence_bench.hpp"
#include "core/support/coherence_explorer.hpp"
#include "core/support/coherence_faults.hpp"
#include "core/support/coherence_visit.hpp"

namespace cxloom::test {
namespace {

CoherenceSetup of_home(std::uint32_t cached = 2) { return hdm_h(two_caches(cached, 2, 2)); }

CoherenceSetup of_bias() {
  CoherenceSetup setup = hdm_d(two_caches(2, 2, 2));
  setup.home.flip_after = 0;
  return setup;
}

TEST(HomeAgentFaults, ALostMessageIsADeadlock) {
  for (const Opcode opcode :
       {Opcode::kRdAny, Opcode::kRdOwn, Opcode::kRdOwnNoData, Opcode::kGoE, Opcode::kGoS, Opcode::kH2DData,
        Opcode::kSnpInv, Opcode::kSnpData, Opcode::kRspIHitI, Opcode::kRspIHitSE, Opcode::kRspSHitSE,
        Opcode::kRspIFwdM, Opcode::kRspSFwdM, Opcode::kD2HData}) {
    finds(of_home(1), loses(opcode), "deadlock");
  }
  for (const Opcode opcode : {Opcode::kDirtyEvict, Opcode::kGoWritePull, Opcode::kGoWritePullDrop})
    finds(of_home(1), loses(opcode), "a message that nobody has acted on");
}

TEST(HomeAgentFaults, ALineThatIsKept) {
  finds(of_home(), turns(Opcode::kRspSHitSE, Opcode::kRspIHitSE), "of which the filter has {} as owners");
  finds(of_home(), turns(Opcode::kSnpInv, Opcode::kSnpData), "may write a line");
}

TEST(HomeAgentFaults, ALineThatIsGranted) {
  finds(of_home(), turns(Opcode::kGoS, Opcode::kGoE), "may write a line");
}

TEST(HomeAgentFaults, ADirtyLineThatIsLost) {
  finds(of_home(1), turns(Opcode::kGoWritePull, Opcode::kGoWritePullDrop),
        "data that nobody has sent, of DirtyEvict");
  finds(of_home(), turns(Opcode::kRspIFwdM, Opcode::kRspIHitSE), "version");
}

TEST(HomeAgentFaults, SnoopsThatOvertakeAnswers) {
  for (const Opcode snoop : {Opcode::kSnpInv, Opcode::kSnpData})
    finds(of_home(), overtakes_answers(snoop), "owners");
}

TEST(BiasAgentFaults, ALostMessageIsADeadlock) {
  for (const Opcode opcode : {Opcode::kRdOwnNoData, Opcode::kRdShared, Opcode::kMemRdFwd})
    finds(of_bias(), loses(opcode), "deadlock");
}

TEST(BiasAgentFaults, ALineThatTheHostKeeps) {
  finds(of_bias(), turns(Opcode::kRdOwnNoData, Opcode::kRdShared), "hold a line that one of them may write");
}

TEST(BiasAgentFaults, QuestionsThatOvertakeAnswers) {
  finds(of_bias(), overtakes_answers(Opcode::kRdOwnNoData), "hold a line that one of them may write");
}

}  // namespace
}  // namespace cxloom::test
