#include "interconnect/flit_outage.hpp"

#include "base/error.hpp"

namespace cxloom {

void answer_with_error(Message& request, LinkPath& path, Time now) {
  ensure(request.opcode == Opcode::kMemRd || request.opcode == Opcode::kMemWr ||
             request.opcode == Opcode::kMemAtomic,
         "an outage answers reads, writes and atomic operations alone");
  request.charge(path.queue_segment(), now);
  request.tail = Time{};
  request.opcode = request.opcode == Opcode::kMemWr ? Opcode::kCmp : Opcode::kMemDataNxm;
  request.channel = channel_of(request.opcode);
  request.size = 0;  // nothing was moved
  request.failed = true;
  request.destination = request.source;
  request.source = path.owner().id();
}

}  // namespace cxloom
