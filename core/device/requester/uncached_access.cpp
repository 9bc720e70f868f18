#include "device/requester/uncached_access.hpp"

#include <array>

#include "coherence/common/write_pull.hpp"
#include "component/memory_access.hpp"

namespace cxloom {

namespace {

// By the kind of an access that is no flush: a table, as nobody can foresee which one comes.
constexpr std::array kOpcodes{Opcode::kMemRd, Opcode::kMemWr, Opcode::kMemAtomic};

}  // namespace

[[gnu::hot]] void send_uncached(Agent& requester, Request& request) {
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
    if (place.coherence == Coherence::kHdmH) {
      const bool atomic = request.kind == AccessKind::kAtomic;
      opcode = read ? Opcode::kRdCurr : atomic ? Opcode::kAtomic : write_past_caches(size);
    } else {
      opcode = kOpcodes[static_cast<std::size_t>(request.kind)];
      if (place.coherent()) request.message.snp = read ? SnpType::kSnpCur : SnpType::kSnpInv;
    }
  }
  send_request(requester, request, place, opcode, address, size, request.index);
}

}  // namespace cxloom
