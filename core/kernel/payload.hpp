// An object as the payload of an event, and back.
#pragma once

#include <cstdint>

namespace cxloom {

template <class T>
std::uint64_t payload_of(T& object) {
  return reinterpret_cast<std::uintptr_t>(&object);
}
template <class T>
T& object_of(std::uint64_t payload) {
  return *reinterpret_cast<T*>(payload);
}

}  // namespace cxloom
