#include "component/agent.hpp"

#include "component/endpoint.hpp"

namespace cxloom {

std::string Agent::name() const { return endpoint_.name(); }

}  // namespace cxloom
