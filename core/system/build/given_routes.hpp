// Routing tables of users: run.routes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "interconnect/routing/route_table.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

class System;

/// The entries as ports of a topology; `find` gives the node of a name. Throws InputError below run.routes
/// where an entry names what is not there, or what leaves no choice.
std::vector<GivenRoute> read_given_routes(const std::vector<RouteParams>& entries, const Topology& topology,
                                          const std::function<NodeId(const std::string&)>& find);

/// Throws InputError if messages may block each other in a circle where routes were given. Of a topology with
/// routes that are found only `check` says so.
void check_given_routes(const std::vector<RouteParams>& entries, const System& system);

}  // namespace cxloom
