// What a plug-in and the program that loads it must have in common, written into the plug-in as plain data,
// so that it can be compared before any code of the plug-in runs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "cxloom_version.hpp"

namespace cxloom {

struct Registry;

/// What the compiler makes of a type that both sides pass to each other.
struct TypeLayout {
  std::array<char, 24> name{};
  std::uint32_t size = 0;
  std::uint32_t alignment = 0;

  bool operator==(const TypeLayout&) const = default;
};

/// The stamp. Its first four members keep their places in all versions to come, so that any version reads any
/// other's.
struct PluginStamp {
  std::array<char, 16> magic{};
  std::uint32_t bytes = 0;             ///< of the stamp
  std::array<char, 28> version{};      ///< of cxloom
  std::array<char, 48> cxx_library{};  ///< the C++ library, and what changes its types
  std::array<char, 68> headers{};      ///< the digest of the public headers: all types of cxloom
  std::array<TypeLayout, 3> types{};   ///< that options of the compiler lay out otherwise
};

namespace stamp_detail {

template <std::size_t kSize>
constexpr std::array<char, kSize> text(std::string_view from) {
  std::array<char, kSize> to{};
  for (std::size_t i = 0; i < from.size(); ++i) to.at(i) = from[i];  // a text too long does not compile
  return to;
}

/// Options that pack members, or make enumerations short, change it.
struct Mixed {
  enum Plain { kOne };
  char first;
  double real;
  bool second;
  Plain plain;
  bool third;
  long double wide;
};

template <class T>
constexpr TypeLayout layout(std::string_view name) {
  return {text<24>(name), sizeof(T), alignof(T)};
}

constexpr std::string_view cxx_library() {
#if defined(_LIBCPP_VERSION)
  return "libc++";
#elif defined(_GLIBCXX_DEBUG)
  return "libstdc++ in debug mode";
#elif defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI == 0
  return "libstdc++ with the strings of C++98";
#else
  return "libstdc++";
#endif
}

}  // namespace stamp_detail

inline constexpr std::string_view kStampMagic = "cxloom plug-in";
inline constexpr const char* kStampSymbol = "cxloom_plugin_stamp";
inline constexpr const char* kEntrySymbol = "cxloom_register";

/// The stamp of whoever compiles this.
constexpr PluginStamp make_plugin_stamp() {
  using namespace stamp_detail;
  return {text<16>(kStampMagic),
          sizeof(PluginStamp),
          text<28>(kVersion),
          text<48>(cxx_library()),
          text<68>(kPublicHeaders),
          {layout<Mixed>("a struct"), layout<Mixed::Plain>("an enumeration"),
           layout<std::string>("std::string")}};
}

}  // namespace cxloom

/// The entry of a plug-in, with its stamp: `CXLOOM_PLUGIN(registry) {
/// registry.devices.add<MyDevice>("my-device"); }`.
#define CXLOOM_PLUGIN(registry)                                                                    \
  extern "C" __attribute__((visibility("default"))) const cxloom::PluginStamp cxloom_plugin_stamp; \
  constinit const cxloom::PluginStamp cxloom_plugin_stamp = cxloom::make_plugin_stamp();           \
  extern "C" __attribute__((visibility("default"))) void cxloom_register(cxloom::Registry&(registry))
