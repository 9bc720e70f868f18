// The surroundings of a medium when it is made, and the owner that it reports to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/units.hpp"

namespace cxloom {

class Component;
class Kernel;
struct MediaRegistry;
struct Message;
class Prefetcher;
struct PrefetcherContext;
struct VictimContext;
class VictimPolicy;
template <class Product, class Context>
class KindRegistry;

/// The side of the controller.
class MediaClient {
 public:
  /// The access is done at `at`, now or later; calls come in the order of `at`.
  virtual void media_done(Message& message, Time at) = 0;

 protected:
  ~MediaClient() = default;
};

/// The surroundings of a medium when it is made.
struct MediaContext {
  Kernel& kernel;
  const Component& owner;
  MediaClient& client;
  const MediaRegistry& kinds;
  const KindRegistry<VictimPolicy, VictimContext>& victims;
  std::optional<Bytes> capacity;  ///< as written for the memory in front of it
  std::uint64_t seed = 0;
  std::string path =
      {};  ///< from the memory's own medium to this one, such as "backing."; empty: it is that one
  /// Kinds of prefetchers; media that make media inside hand them on. Null: there are none.
  const KindRegistry<Prefetcher, PrefetcherContext>* prefetchers = nullptr;
};

}  // namespace cxloom
