#include "device/uncached_access.hpp"

#include "coherence/write_pull.hpp"
#include "component/memory_access.hpp"

namespace cxloom {

void send_uncached(Agent& requester, Request& request) {
  const AddressMap::Place place = place_of(requester, request.id, request.address);
  if (place.home != place.target) request.target = place.target;  // otherwise who answers
  request.message.completion = nullptr;
  if (request.kind == AccessKind::kFlush) [[unlikely]] {  // it does not know which bytes are dirty
    send_request(requester, request, place, Opcode::kMemWr, LineAddress::of(request.address).address(),
                 kLineBytes, request.index);
    return;
  }
  const bool read = request.kind == AccessKind::kRead;
  const bool atomic = request.kind == AccessKind::kAtomic;
  Opcode opcode = read ? Opcode::kMemRd : atomic ? Opcode::kMemAtomic : Opcode::kMemWr;
  if (place.coherence == Coherence::kHdmH) {
    opcode = read ? Opcode::kRdCurr : atomic ? Opcode::kAtomic : write_past_caches(request.size);
  } else if (place.coherent()) {
    request.message.snp = read ? SnpType::kSnpCur : SnpType::kSnpInv;
  }
  send_request(requester, request, place, opcode, request.address, request.size, request.index);
}

}  // namespace cxloom
