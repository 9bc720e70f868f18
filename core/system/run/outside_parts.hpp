// The parts of a system in whose place there is something outside of it.
#pragma once

#include <cstdint>
#include <map>

#include "base/units.hpp"

namespace cxloom {

class ExternalCache;
class ExternalMedia;
class OutsideCache;
class OutsideMedium;
class System;

class OutsideParts {
 public:
  explicit OutsideParts(System& system) : system_(system) {}

  /// The media of the memory at a node are `outside` from now on. To be called before the system runs. Throws
  /// InputError if there is no memory, or they are outside already.
  void put_medium(NodeId memory, OutsideMedium& outside);
  /// The media of the memory at a node. Throws InputError if they are not outside.
  ExternalMedia& medium(NodeId memory) const;
  /// The cache of a device is `outside`. To be called before the system runs. Throws InputError unless its
  /// spec says that it is outside.
  ExternalCache& put_cache(NodeId device, OutsideCache& outside);
  /// That of a device. Throws InputError if it is not outside.
  ExternalCache& cache(NodeId device) const;
  /// A medium is outside.
  bool has_media() const { return !media_.empty(); }
  /// Accesses that the outside has, and has not said the end of, and snoops that it has not answered.
  std::uint64_t owed() const;

 private:
  System& system_;
  std::map<NodeId, ExternalMedia*> media_;
  std::map<NodeId, ExternalCache*> caches_;
};

}  // namespace cxloom
