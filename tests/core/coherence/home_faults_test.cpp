// As explorer_faults_test.cpp, of the homes that speak CXL.cache: home agents (HDM-H) and bias agents (HDM-D).
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "core/support/coherence_bench.hpp"
#include "core/support/coherence_explorer.hpp"
#include "core/support/coherence_faults.hpp"
#include "core/support/coherence_visit.hpp"

namespace cxloom::test {
namespace {

CoherenceSetup hdm_h(std::uint32_t cached = 2) {
  CoherenceSetup setup = two_caches(cached, 2, 2);
  setup.home.coherence = Coherence::kHdmH;
  return setup;
}

CoherenceSetup hdm_d() {
  CoherenceSetup setup = two_caches(2, 2, 2);
  setup.home.coherence = Coherence::kHdmD;
  setup.home.in_first = true;
  setup.home.flip_after = 0;
  return setup;
}

void finds(CoherenceSetup setup, const Fault& fault, const std::string& violation) {
  setup.fault = fault.on_send;
  const Exploration found = Explorer([&] { return std::make_unique<CoherenceBench>(setup); }).explore();
  EXPECT_NE(found.violation.find(violation), std::string::npos)
      << fault.name << " violates: " << found.violation << "\n"
      << found.path;
}

TEST(HomeAgentFaults, ALostMessageIsADeadlock) {
  for (const Opcode opcode :
       {Opcode::kRdAny, Opcode::kRdOwn, Opcode::kRdOwnNoData, Opcode::kGoE, Opcode::kGoS, Opcode::kH2DData,
        Opcode::kSnpInv, Opcode::kSnpData, Opcode::kRspIHitI, Opcode::kRspIHitSE, Opcode::kRspSHitSE,
        Opcode::kRspIFwdM, Opcode::kRspSFwdM, Opcode::kD2HData}) {
    finds(hdm_h(1), loses(opcode), "deadlock");
  }
  for (const Opcode opcode : {Opcode::kDirtyEvict, Opcode::kGoWritePull, Opcode::kGoWritePullDrop})
    finds(hdm_h(1), loses(opcode), "a message that nobody has acted on");
}

TEST(HomeAgentFaults, ALineThatIsKept) {
  finds(hdm_h(), turns(Opcode::kRspSHitSE, Opcode::kRspIHitSE), "of which the filter has {} as owners");
  finds(hdm_h(), turns(Opcode::kSnpInv, Opcode::kSnpData), "may write a line");
}

TEST(HomeAgentFaults, ALineThatIsGranted) {
  finds(hdm_h(), turns(Opcode::kGoS, Opcode::kGoE), "may write a line");
}

TEST(HomeAgentFaults, ADirtyLineThatIsLost) {
  finds(hdm_h(1), turns(Opcode::kGoWritePull, Opcode::kGoWritePullDrop),
        "data that nobody has sent, of DirtyEvict");
  finds(hdm_h(), turns(Opcode::kRspIFwdM, Opcode::kRspIHitSE), "version");
}

TEST(HomeAgentFaults, SnoopsThatOvertakeAnswers) {
  for (const Opcode snoop : {Opcode::kSnpInv, Opcode::kSnpData})
    finds(hdm_h(), overtakes_answers(snoop), "owners");
}

TEST(BiasAgentFaults, ALostMessageIsADeadlock) {
  for (const Opcode opcode : {Opcode::kRdOwnNoData, Opcode::kRdShared, Opcode::kMemRdFwd})
    finds(hdm_d(), loses(opcode), "deadlock");
}

TEST(BiasAgentFaults, ALineThatTheHostKeeps) {
  finds(hdm_d(), turns(Opcode::kRdOwnNoData, Opcode::kRdShared), "hold a line that one of them may write");
}

TEST(BiasAgentFaults, QuestionsThatOvertakeAnswers) {
  finds(hdm_d(), overtakes_answers(Opcode::kRdOwnNoData), "hold a line that one of them may write");
}

}  // namespace
}  // namespace cxloom::test
