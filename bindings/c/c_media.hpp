// Functions of a program in C in the place of media.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "cxloom/cxloom.h"
#include "embed/embedded_system.hpp"
#include "protocol/message.hpp"

namespace cxloom {

/// That of one memory.
class CMedium final : public OutsideMedium {
 public:
  CMedium(const EmbeddedSystem& system, int memory, cxloom_medium medium, void* user)
      : system_(system), memory_(memory), medium_(medium), user_(user) {}

  void begin(std::uint64_t number, const Message& message, Address address) override {
    const EmbeddedSystem::Cause cause = system_.cause_of(message);
    const cxloom_medium_access access{number,
                                      address.value(),
                                      cause.tag.value_or(0),
                                      message.size,
                                      message.opcode == Opcode::kMemWr ? 1 : 0,
                                      cause.tag ? 1 : 0,
                                      static_cast<int>(cause.requester.index()),
                                      memory_};
    medium_(user_, &access);
  }

 private:
  const EmbeddedSystem& system_;
  int memory_;
  cxloom_medium medium_;
  void* user_;
};

using CMedia = std::vector<std::unique_ptr<CMedium>>;

}  // namespace cxloom
