#include "cxloom/cxloom.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
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
    constexpr std::uint32_t kLargest = 4096;  // as patterns and traces may have
    if (bytes == 0 || bytes > kLargest) {
      throw InputError({"an access of " + counted(bytes, "byte"), {}, "1 to 4096 bytes", {}});
    }
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

int64_t cxloom_next_event(cxloom_simulation* simulation) { return simulation->system.next_event_time().ps(); }

int cxloom_run_until(cxloom_simulation* simulation, int64_t picoseconds) {
  return guarded(*simulation, -1,
                 [&](EmbeddedSystem& driven) { return driven.run_until(Time{picoseconds}) ? 1 : 0; });
}

int cxloom_finish(cxloom_simulation* simulation) {
  return guarded(*simulation, -1, [&](EmbeddedSystem& driven) {
    if (driven.advancing())
      throw InputError({"an answer cannot finish the simulation that it is part of", {}, {}, {}});
    driven.close_feeds();
    driven.run_until(Time::max());
    return 0;
  });
}

void cxloom_read(cxloom_simulation* simulation, uint64_t address, void* bytes, size_t count) {
  simulation->system.read(Address{address}, std::span(static_cast<std::byte*>(bytes), count));
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
