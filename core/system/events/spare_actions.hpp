// Parts of memories are replaced by spare ones: events `spare`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "memory/memory_owner.hpp"
#include "system/events/actions.hpp"

namespace cxloom {

class System;

class SpareActions final : public EventActions {
 public:
  explicit SpareActions(System& system) : system_(system) {}

  bool has(const EventParams& event) const override { return event.spare.has_value(); }
  void expect(std::size_t number, const EventParams& event) override;
  void act(std::size_t number, const EventParams& event) override;

 private:
  MemoryOwner& memory_of(const SpareParams& spare) const;

  System& system_;
  std::map<std::string, std::uint32_t> used_;  // spares of each memory, by what was expected so far
};

}  // namespace cxloom
