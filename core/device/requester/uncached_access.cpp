#include "device/requester/uncached_access.hpp"

#include "coherence/common/write_pull.hpp"
#include "component/memory_access.hpp"

namespace cxloom {

void send_uncached(Agent& requester, Request& request) {
  const AddressMap::DecodedAddress place = place_of(requester, request.id, request.address);
  if (place.coherent() && place.home != place.target)
    request.target = place.target;  // otherwise the home answers
  request.message.completion = nullptr;
  Opcode opcode = Opcode::kMemWr;
  Address address = request.address;
  std::uint16_t size = request.size;
  if (request.kind == AccessKind::kFlush) [[unlikely]] {  // it does not know which bytes are dirty
    address = LineAddress::of(address).address();
    size = kLineBytes;
    if (place.coherent()) request.message.snp = SnpType::kSnpInv;
  } else {
    const bool read = request.kind == AccessKind::kRead;
    const bool atomic = request.kind == AccessKind::kAtomic;
    if (place.coherence == Coherence::kHdmH) {
      opcode = read ? Opcode::kRdCurr : atomic ? Opcode::kAtomic : write_past_caches(size);
    } else {
      opcode = read ? Opcode::kMemRd : atomic ? Opcode::kMemAtomic : Opcode::kMemWr;
      if (place.coherent()) request.message.snp = read ? SnpType::kSnpCur : SnpType::kSnpInv;
    }
  }
  send_request(requester, request, place, opcode, address, size, request.index);
}

}  // namespace cxloom
