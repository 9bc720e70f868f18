#include "system/plugin/plugin.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>

#include "system/plugin/library_file.hpp"
#include "system/plugin/stamp.hpp"
#include "system/plugin/trial.hpp"

namespace cxloom {

namespace {

constexpr std::size_t kDigestShown = 12;
constexpr const char* kRebuild = "; build the plug-in with the headers of this cxloom";

template <std::size_t kSize>
std::string text_of(const std::array<char, kSize>& text) {
  return {text.data(), strnlen(text.data(), kSize)};
}

std::string described(const TypeLayout& type) {
  return text_of(type.name) + ": " + counted(type.size, "byte") + ", aligned to " +
         std::to_string(type.alignment);
}

/// What was written first stands first in every version's stamp; the types are read only if all of that
/// agrees.
void check_stamp(const std::vector<char>& bytes) {
  static constexpr PluginStamp kOwn = make_plugin_stamp();
  PluginStamp stamp{};
  std::memcpy(&stamp, bytes.data(), std::min(bytes.size(), sizeof stamp));
  if (bytes.empty() || text_of(stamp.magic) != kStampMagic) {
    throw InputError({"the plug-in does not say what it was built for",
                      {},
                      "its entry as CXLOOM_PLUGIN(registry) {...}, built with the headers of cxloom " +
                          std::string(kVersion),
                      {}});
  }
  if (stamp.version != kOwn.version) {
    throw InputError({"the plug-in was built for another version of cxloom",
                      text_of(stamp.version),
                      std::string(kVersion) + kRebuild,
                      {}});
  }
  if (stamp.cxx_library != kOwn.cxx_library) {
    throw InputError({"the plug-in was built with another C++ library",
                      text_of(stamp.cxx_library),
                      text_of(kOwn.cxx_library),
                      {}});
  }
  if (stamp.headers != kOwn.headers) {
    throw InputError({"the plug-in was built with other headers of this version of cxloom",
                      text_of(stamp.headers).substr(0, kDigestShown),
                      text_of(kOwn.headers).substr(0, kDigestShown) + kRebuild,
                      {}});
  }
  for (std::size_t i = 0; i < kOwn.types.size(); ++i) {
    if (stamp.types[i] == kOwn.types[i]) continue;
    throw InputError({"the plug-in was compiled with options that lay out a type otherwise",
                      described(stamp.types[i]),
                      described(kOwn.types[i]) + "; build it without them",
                      {}});
  }
  if (bytes.size() != sizeof stamp || stamp.bytes != kOwn.bytes)
    throw InputError({"the plug-in has a stamp of another size",
                      std::to_string(bytes.size()),
                      std::to_string(sizeof stamp) + kRebuild,
                      {}});
}

// A host such as Python loads this library for itself alone; a plug-in must find its symbols.
void share_symbols() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&load_plugin), &here) != 0)
    dlopen(here.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

/// The name of a symbol as sources have it; empty: it is none of cxloom.
std::string name_in_cxloom(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && std::string_view(name.get()).find("cxloom::") != std::string_view::npos ? name.get()
                                                                                                : "";
}

/// What the loader says of a library that it does not load.
InputError refused_by_loader(const char* problem, const std::string& path) {
  static constexpr std::string_view kLacks = "undefined symbol: ";
  std::string reason = problem ? problem : "unknown";
  if (reason.starts_with(path + ": ")) reason.erase(0, path.size() + 2);  // the message names it anyway
  if (reason.starts_with(kLacks)) {
    const std::string name = name_in_cxloom(reason.substr(kLacks.size()));
    if (!name.empty()) {
      return InputError(
          {"the plug-in cannot be loaded: it uses what the library of this cxloom does not have",
           name,
           "what the library has; if headers have changed since it was built, build it, and then "
           "the plug-in",
           {}});
    }
  }
  return InputError({"the plug-in cannot be loaded: " + reason, {}, {}, {}});
}

std::size_t number_of_kinds(const Registry& registry) {
  std::size_t number = 0;
  registry.each_category([&](auto, auto, const auto& kinds) { number += kinds.entries().size(); });
  return number;
}

/// Loads the library and lets it register. It stays loaded whatever comes: what it did cannot be undone.
Registry extended(const std::string& path, const Registry& registry) {
  Registry more = registry;
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw refused_by_loader(dlerror(), path);
  auto* const add = reinterpret_cast<void (*)(Registry&)>(dlsym(library, kEntrySymbol));
  if (!add) throw InputError({"not a plug-in: its cxloom_register is no function", {}, {}, {}});
  const auto fails = [](const std::string& reason, const InputError::Detail& detail = {}) {
    return InputError(
        {"the plug-in fails to register: " + reason, detail.found, detail.allowed, detail.suggestion});
  };
  more.each_category([&](auto, auto, auto& kinds) { kinds.extend_by(path); });
  try {
    add(more);
  } catch (const InputError& error) {
    throw fails(error.detail().problem, error.detail());
  } catch (const std::exception& error) {
    throw fails(std::string("it throws: ") + error.what());
  } catch (...) {
    throw fails("it throws what is no std::exception");
  }
  if (number_of_kinds(more) == number_of_kinds(registry)) {
    throw fails("it adds no kind", {.problem = {},
                                    .found = {},
                                    .allowed = "registry.LIST.add<Class>(\"name\") in its CXLOOM_PLUGIN",
                                    .suggestion = {}});
  }
  more.plugins.push_back(library);
  return more;
}

}  // namespace

void check_plugin_file(const std::string& path) {
  LibraryFile file(path);
  if (!file.defines(kEntrySymbol)) {
    throw InputError({"not a plug-in: it has no function cxloom_register",
                      {},
                      "its entry as CXLOOM_PLUGIN(registry) {...}",
                      {}});
  }
  check_stamp(file.contents(kStampSymbol));
}

void load_plugin(const std::string& path, Registry& registry) {
  check_plugin_file(path);
  share_symbols();
  const std::string absolute = std::filesystem::absolute(path);
  const void* loaded = dlopen(absolute.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  if (std::find(registry.plugins.begin(), registry.plugins.end(), loaded) != registry.plugins.end())
    throw InputError({"the plug-in is loaded already", {}, "each plug-in once", {}});
  try_out([&] { extended(absolute, registry); });
  registry = extended(absolute, registry);
}

}  // namespace cxloom
