#include "cxloom/cxloom.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "c_answers.hpp"
#include "c_caches.hpp"
#include "c_media.hpp"
#include "cxloom_version.hpp"
#include "embed/embedded_system.hpp"

namespace cxloom {

/// The last error, as text. Memory may be what has run out: then it says so, and takes none.
class ErrorText {
 public:
  void set(const char* text) noexcept {
    try {
      kept_ = text;
      shown_ = kept_.c_str();
    } catch (const std::bad_alloc&) {
      shown_ = "out of memory";
    }
  }
  const char* shown() const { return shown_; }

 private:
  std::string kept_;
  const char* shown_ = "";
};

}  // namespace cxloom

struct cxloom_simulation {
  cxloom_simulation(const char* json, const std::vector<std::string>& plugins) : system(json, plugins) {}

  cxloom::EmbeddedSystem system;
  cxloom::ErrorText error;
  cxloom::CAnswers answers;
  cxloom::CMedia media;
  cxloom::CCaches caches;
};

namespace {

using namespace cxloom;

// A program in C frees what it is given.
char* copy(const char* text) noexcept {
  const std::size_t bytes = std::strlen(text) + 1;
  char* const made = static_cast<char*>(std::malloc(bytes));
  if (made) std::memcpy(made, text, bytes);
  return made;
}

std::string named(const char* device) { return device ? device : ""; }

void check_bytes(std::uint32_t bytes) {
  constexpr std::uint32_t kLargest = 4096;  // as patterns and traces may have
  if (bytes == 0 || bytes > kLargest) [[unlikely]]
    throw InputError({"an access of " + counted(bytes, "byte"), {}, "1 to 4096 bytes", {}});
}

/// What an intent is of: its kind, and what caches need to know.
void set_intent(const cxloom_access& access, EmbeddedSystem::Given& given) {
  Access& wanted = given.access;
  given.of_cache = access.intent >= CXLOOM_OWN;
  switch (access.intent) {
    case CXLOOM_READ: wanted.keeps = true; return;
    case CXLOOM_CURRENT: return;
    case CXLOOM_WRITE: wanted.kind = AccessKind::kWrite; return;
    case CXLOOM_OWN:
    case CXLOOM_UPGRADE:
      wanted.kind = AccessKind::kWrite;
      wanted.keeps = true;
      wanted.brings = access.intent == CXLOOM_UPGRADE;
      return;
    case CXLOOM_WRITE_BACK:
    case CXLOOM_CLEAN_EVICT:
      wanted.kind = AccessKind::kFlush;
      wanted.brings = access.intent == CXLOOM_WRITE_BACK;
      return;
    case CXLOOM_ATOMIC: break;
    default:
      throw InputError(
          {"an unknown intent", std::to_string(access.intent), "CXLOOM_READ to CXLOOM_CLEAN_EVICT", {}});
  }
  if (!is_atomic_size(access.bytes) || access.address % access.bytes != 0) {
    throw InputError({"an atomic operation on " + counted(access.bytes, "byte"),
                      to_text(Address{access.address}),
                      "4 or 8 aligned bytes",
                      {}});
  }
  wanted.kind = AccessKind::kAtomic;
}

NodeId node_of(int device) { return NodeId{static_cast<std::uint32_t>(device)}; }

EmbeddedSystem::Given given_of(const cxloom_access* given_access) {
  if (!given_access) [[unlikely]]
    throw InputError({"there is no access: it is NULL", {}, {}, {}});
  const cxloom_access& access = *given_access;
  check_bytes(access.bytes);
  EmbeddedSystem::Given given;
  given.access.address = Address{access.address};
  given.access.size = static_cast<std::uint16_t>(access.bytes);
  set_intent(access, given);
  if (access.memory != CXLOOM_MAPPED) given.memory = node_of(access.memory);
  given.tag = access.tag;
  given.ready = Time{access.ready};
  return given;
}

/// Runs `action`; what it throws becomes the error of `simulation`, and the result `failed`.
template <class Result, class Action>
Result guarded(cxloom_simulation& simulation, Result failed, Action action) {
  try {
    return action(simulation.system);
  } catch (const std::exception& error) {
    simulation.error.set(error.what());
  } catch (...) {
    simulation.error.set("something was thrown that is no std::exception");
  }
  return failed;
}

}  // namespace

const char* cxloom_version(void) { return kVersion; }

cxloom_simulation* cxloom_open(const char* json, const char* const* plugins, char** error) {
  try {
    if (!json) throw InputError({"there is no spec: json is NULL", {}, {}, {}});
    std::vector<std::string> paths;
    for (; plugins && *plugins; ++plugins) paths.emplace_back(*plugins);
    return new cxloom_simulation(json, paths);
  } catch (const std::exception& thrown) {
    if (error) *error = copy(thrown.what());
  } catch (...) {
    if (error) *error = copy("something was thrown that is no std::exception");
  }
  return nullptr;
}

void cxloom_close(cxloom_simulation* simulation) {
  if (simulation && simulation->system.advancing()) {
    simulation->error.set("an answer cannot close the simulation that it is part of");
    return;
  }
  delete simulation;
}

void cxloom_free(char* text) { std::free(text); }

const char* cxloom_error(const cxloom_simulation* simulation) { return simulation->error.shown(); }

int cxloom_drive(cxloom_simulation* simulation, const char* device) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) { return driven.drive(named(device)), 0; });
}

int cxloom_inject(cxloom_simulation* simulation, const char* device, uint64_t address, uint32_t bytes,
                  int write, cxloom_answered answered, void* user) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    check_bytes(bytes);
    Access access;
    access.address = Address{address};
    access.size = static_cast<std::uint16_t>(bytes);
    access.kind = write != 0 ? AccessKind::kWrite : AccessKind::kRead;
    EmbeddedSystem::Answered tell;
    if (answered) tell = [=](const Request& /*request*/, Time now) { answered(user, now.ps()); };
    driven.inject(named(device), access, std::move(tell));
    return 0;
  });
}

int cxloom_device(cxloom_simulation* simulation, const char* name) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    return static_cast<int>(driven.device(named(name)).index());
  });
}

int cxloom_segments(void) { return static_cast<int>(kSegmentCount); }

const char* cxloom_segment_name(int segment) {
  if (segment < 0 || segment >= cxloom_segments()) return nullptr;
  return segment_at(static_cast<std::size_t>(segment)).name.data();  // a literal, which ends with a zero
}

int cxloom_answers(cxloom_simulation* simulation, int device, cxloom_tell tell, void* user) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    if (!tell) throw InputError({"there is no function to tell of answers: it is NULL", {}, {}, {}});
    driven.tell_answers(node_of(device), simulation->answers.of(device, tell, user));
    return 0;
  });
}

int cxloom_give(cxloom_simulation* simulation, int device, const cxloom_access* access) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    driven.give(node_of(device), given_of(access));
    return 0;
  });
}

int64_t cxloom_estimate(cxloom_simulation* simulation, int device, const cxloom_access* access) {
  return guarded(*simulation, int64_t{-1}, [&](EmbeddedSystem& driven) {
    return driven.estimate(node_of(device), given_of(access)).ps();
  });
}

int64_t cxloom_next_call(cxloom_simulation* simulation) {
  return guarded(*simulation, int64_t{-1}, [](EmbeddedSystem& driven) { return driven.next_call().ps(); });
}

int cxloom_new_window(cxloom_simulation* simulation) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) { return driven.new_window(), 0; });
}

int cxloom_measure(cxloom_simulation* simulation, const char* path, double* value) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    if (!value) throw InputError({"there is no place for the measure: it is NULL", {}, {}, {}});
    *value = driven.measure(named(path));
    return 0;
  });
}

int cxloom_external_medium(cxloom_simulation* simulation, int memory, cxloom_medium medium, void* user) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    if (!medium)
      throw InputError({"there is no function in the place of the medium: it is NULL", {}, {}, {}});
    auto outside = std::make_unique<CMedium>(driven, memory, medium, user);
    driven.put_medium_outside(node_of(memory), *outside);
    simulation->media.push_back(std::move(outside));
    return 0;
  });
}

int cxloom_medium_done(cxloom_simulation* simulation, int memory, uint64_t id, int64_t picoseconds) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    driven.medium_done(node_of(memory), id, Time{picoseconds});
    return 0;
  });
}

int cxloom_external_cache(cxloom_simulation* simulation, int device, cxloom_snoop snoop, void* user) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    if (!snoop) throw InputError({"there is no function to tell of snoops: it is NULL", {}, {}, {}});
    auto outside = std::make_unique<CCache>(snoop, user);
    simulation->answers.tell_grants(device, driven.put_cache_outside(node_of(device), *outside));
    simulation->caches.push_back(std::move(outside));
    return 0;
  });
}

int cxloom_snooped(cxloom_simulation* simulation, int device, uint64_t id, int held) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    return number_of(driven.snoop_answered(node_of(device), id, state_of(held)));
  });
}

int cxloom_transfer(cxloom_simulation* simulation, const char* device, uint64_t bytes, uint64_t from,
                    uint64_t to, cxloom_moved moved, void* user) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    const auto place = [](std::uint64_t address) {
      return address == CXLOOM_ITSELF ? std::nullopt : std::optional(Address{address});
    };
    EmbeddedSystem::Moved tell;
    if (moved) tell = [=](bool failed, Time now) { moved(user, now.ps(), failed ? 0 : bytes); };
    driven.transfer(named(device), {.from = place(from), .to = place(to), .bytes = bytes}, std::move(tell));
    return 0;
  });
}

int64_t cxloom_now(const cxloom_simulation* simulation) { return simulation->system.now().ps(); }

int64_t cxloom_next_event(cxloom_simulation* simulation) {
  return guarded(*simulation, int64_t{-1},
                 [](EmbeddedSystem& driven) { return driven.next_event_time().ps(); });
}

int cxloom_run_until(cxloom_simulation* simulation, int64_t picoseconds) {
  return guarded(*simulation, -1,
                 [&](EmbeddedSystem& driven) { return driven.run_until(Time{picoseconds}) ? 1 : 0; });
}

int cxloom_finish(cxloom_simulation* simulation) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    driven.finish();
    return 0;
  });
}

void cxloom_read(cxloom_simulation* simulation, uint64_t address, void* bytes, size_t count) {
  guarded(*simulation, 0, [&](EmbeddedSystem& driven) {
    driven.read(Address{address}, std::span(static_cast<std::byte*>(bytes), count));
    return 0;
  });
}

int cxloom_write(cxloom_simulation* simulation, uint64_t address, const void* bytes, size_t count) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    driven.write(Address{address}, std::span(static_cast<const std::byte*>(bytes), count));
    return 0;
  });
}

char* cxloom_summary(cxloom_simulation* simulation) {
  return guarded(*simulation, static_cast<char*>(nullptr), [&](EmbeddedSystem& driven) {
    char* const text = copy(to_json(driven.summary()).c_str());
    if (!text) throw std::bad_alloc();
    return text;
  });
}
