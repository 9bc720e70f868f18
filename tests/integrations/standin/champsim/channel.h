// The queues between a cache of ChampSim and what is below it.
#pragma once

#include <deque>

#include "address.h"

namespace champsim {

class channel {
 public:
  struct request_type {
    bool response_requested = true;
    champsim::address address{};
  };
  struct response_type {
    explicit response_type(const request_type& request) : address(request.address) {}
    champsim::address address;
  };

  std::deque<request_type> RQ, PQ, WQ;
  std::deque<response_type> returned;
};

}  // namespace champsim
