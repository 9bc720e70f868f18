#include "interconnect/flit/outage.hpp"

#include "protocol/error_answer.hpp"

namespace cxloom {

void answer_with_error(Message& request, LinkPath& path, Time now) {
  request.charge(path.queue_segment(), now);
  make_error_answer(request, path.owner().id());
}

}  // namespace cxloom
