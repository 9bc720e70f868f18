// The parts of plug-ins that may have thrown an exception that is none of our errors.
#pragma once

#include <string>

#include "system/kinds/registry.hpp"
#include "system/model/system.hpp"
#include "system/spec/spec.hpp"

namespace cxloom {

class EventHandler;

/// The problem as a sentence: "device 'r0' (kind 'retimer' of the plug-in libretimer.so) threw during the
/// run: boom". Where what was at work is of no plug-in, every part that is may have been called by it. Empty
/// if there are none.
std::string plugin_failure(const Registry& registry, const Spec& spec, const System& system,
                           const EventHandler* at_work, const std::string& thrown);

}  // namespace cxloom
