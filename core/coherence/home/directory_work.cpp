#include "coherence/home/directory_work.hpp"

#include <cstddef>

#include "protocol/opcode.hpp"

namespace cxloom {

std::string DirectoryTransaction::described() const {
  if (request) return "+" + std::string(kOpcodeNames[static_cast<std::size_t>(request->opcode)]);
  return slot != kNoSlot && snoops_left > 0 ? "+evict" : "+busy";
}

void DirectoryWork::abandon(const std::function<void(Message&)>& lose) {
  for (std::uint32_t i = 0; DirectoryAccess* const access = accesses.find(i); ++i) {
    if ((!access->answers && !access->transaction) || access->gone) continue;
    access->gone = true;
    if (access->transaction) {  // a request that waits for it has its account there
      if (!access->answers) access->answers = access->transaction->request;
      access->transaction->request = nullptr;
    }
    access->transaction = access->behind = nullptr;
  }
  for (std::uint32_t i = 0; DirectorySnoop* const snoop = snoops.find(i); ++i) {
    if (!snoop->transaction) continue;
    snoop->transaction = nullptr;
    snoop->rest = snoop->brings_data || snoop->data_in;  // the other part is in
  }
  for (std::uint32_t i = 0; DirectoryTransaction* const transaction = transactions.find(i); ++i) {
    if (!transaction->open) continue;
    transaction->open = false;
    if (transaction->request) lose(*transaction->request);
    while (!transaction->waiting.empty()) lose(transaction->waiting.pop());
    lines.remove(*transaction);
    transactions.give_back(*transaction);
  }
}

}  // namespace cxloom
