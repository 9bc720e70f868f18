#include "system/registry.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "device/accelerator.hpp"
#include "device/bus.hpp"
#include "device/host.hpp"
#include "device/io_engine.hpp"
#include "device/memory.hpp"
#include "device/switch.hpp"
#include "memory/curve_media.hpp"
#include "memory/dram_media.hpp"
#include "memory/fixed_media.hpp"
#include "memory/nvm_media.hpp"

namespace cxloom {

Registry builtin_registry() {
  Registry registry;
  registry.devices.add<Host>("host");
  registry.devices.add<Accelerator>("accelerator");
  registry.devices.add<Bus>("bus");
  registry.devices.add<Switch>("switch");
  registry.devices.add<Memory>("memory");
  registry.devices.add<IoEngine>("io-engine");
  registry.media.add<FixedMedia>("fixed");
  registry.media.add<NvmMedia>("nvm");
  registry.media.add<CurveMedia>("curve");
  registry.media.add<DramMedia>("dram");
  register_patterns(registry.patterns);
  register_shapes(registry.shapes);
  return registry;
}

namespace {

// A host such as Python loads this library for itself alone; a plug-in must find its symbols.
void share_symbols() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&load_plugin), &here) != 0) {
    dlopen(here.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  }
}

}  // namespace

void load_plugin(const std::string& path, Registry& registry) {
  share_symbols();
  void* library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw InputError({"the plug-in cannot be loaded", std::string(dlerror()), "a shared library", {}});
  using Register = void (*)(Registry&);
  auto* const add = reinterpret_cast<Register>(dlsym(library, "cxloom_register"));
  if (!add) {
    dlclose(library);
    throw InputError({"not a plug-in: it has no function cxloom_register", path, {}, {}});
  }
  add(registry);  // the library stays loaded: the registry points into it
}

}  // namespace cxloom
