// Deliberate faults of a network or an agent, for tests that show that checks of coherence can fail. Each
// changes messages on a bench, always in the same way.
#pragma once

#include <string>
#include <vector>

#include "core/support/message_bench.hpp"

namespace cxloom::test {

struct Fault {
  std::string name;
  MessageBench::OnSend on_send;
};

/// Messages of this opcode never come.
Fault loses(Opcode opcode);
/// Messages of this opcode overtake those of their class between the same devices.
Fault hurries(Opcode opcode);
/// Snoops of this opcode do not wait for answers that were sent before them in other classes.
Fault overtakes_answers(Opcode opcode);
/// Messages of one opcode come as another of their class.
Fault turns(Opcode opcode, Opcode into);
/// Caches keep the line that a BISnpInv asks for, and answer that they do not.
Fault keeps_snooped_lines();
/// The receiver of a message of this opcode does nothing, and says that it has.
Fault answers_at_once(Opcode opcode, Opcode answer);
/// Messages of this opcode ask other caches for something else.
Fault asks_others(Opcode opcode, SnpType snp);
/// Writes tell the home that the cache keeps something else than it does.
Fault keeps(MetaValue meta, MetaValue claimed);

}  // namespace cxloom::test
