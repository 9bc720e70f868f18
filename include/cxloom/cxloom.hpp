// The public header: what a component, a medium or an access pattern built outside the tree needs, and what a program
// needs that drives a simulation itself. Everything is in namespace cxloom.
//
// A plug-in is a shared library with one entry, which also says for which cxloom it was built:
//
//   #include <cxloom/cxloom.hpp>
//   CXLOOM_PLUGIN(registry) { registry.devices.add<MyDevice>("my-device"); }
//
// Compile it with -std=c++20 -shared -fPIC and the include directory that `cxloom.include_dir()` gives in Python, and use
// it as `cxloom run SPEC --plugin libmine.so`. examples/plugin/ has one.
#pragma once

#include "base/json.hpp"                             // plain values as JSON
#include "base/measure_table.hpp"                    // declared measures
#include "base/schema.hpp"                           // declared parameters
#include "base/units.hpp"                            // Time, Bytes, Bandwidth, ...
#include "component/component_time.hpp"              // Component, and what it does with time
#include "component/endpoint.hpp"                    // Endpoint, Agent
#include "device/context/context.hpp"                // what a device finds around itself
#include "device/memory/controller.hpp"              // MemoryController, an agent
#include "device/requester/sequencer.hpp"            // Sequencer, an agent
#include "device/switch/switch.hpp"                  // SwitchingDevice
#include "device/switch/switching_endpoint.hpp"      // SwitchingEndpoint: a switch with agents
#include "embed/embedded_system.hpp"                 // EmbeddedSystem: one from a resolved spec
#include "interconnect/arbitration/arbitration.hpp"  // Arbiter
#include "interconnect/routing/strategy.hpp"         // RoutingStrategy
#include "interconnect/topology/generators.hpp"      // GeneratedTopology
#include "memory/dram/refresh/policy.hpp"            // DramRefreshPolicy
#include "memory/dram/row_policy/row_policy.hpp"     // DramRowPolicy
#include "memory/dram/scheduler/scheduler.hpp"       // DramScheduler
#include "memory/flash/gc_policy.hpp"                // GcPolicy
#include "memory/media/context.hpp"                  // what media find around themselves
#include "memory/media/media.hpp"                    // Media
#include "protocol/request.hpp"                      // Request, Message
#include "system/kinds/registry.hpp"                 // where kinds are registered
#include "system/plugin/stamp.hpp"                   // CXLOOM_PLUGIN
#include "system/run/simulation.hpp"                 // a simulation driven from outside
#include "tags/prefetcher.hpp"                       // Prefetcher
#include "tags/prefetcher_schema.hpp"                // what every prefetcher has
#include "tags/victim_policy.hpp"                    // VictimPolicy
#include "workload/pattern/pattern.hpp"              // Pattern
#include "workload/placement/page_placement.hpp"     // PagePlacement
