// What media find of other kinds: those that come with cxloom.
#pragma once

#include "memory/dram_scheduler.hpp"
#include "memory/media.hpp"

namespace cxloom::test {

inline const MediaRegistry& media_kinds() {
  static const MediaRegistry kinds = [] {
    MediaRegistry registry("media");
    register_schedulers(registry.schedulers);
    return registry;
  }();
  return kinds;
}

}  // namespace cxloom::test
