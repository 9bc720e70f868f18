// The part of a component that needs time: for the sources in which components act. Others, which only
// name components or ask about them, need not know the kernel.
#pragma once

#include "component/component.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

inline Time Component::now() const { return kernel_.now(); }

inline void Component::wake_at(Time at, std::uint8_t kind, std::uint64_t payload) {
  kernel_.schedule(at, source_, *this, kind, payload);
}

}  // namespace cxloom
