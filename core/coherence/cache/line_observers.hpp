// The observers of what becomes of lines in a cache: those of versions of persistent lines, of stores that
// requesters see of each other, and of the protocol. Most runs have none of them.
#pragma once

#include "component/component_time.hpp"
#include "component/endpoint.hpp"
#include "component/line_versions.hpp"
#include "component/shared_lines.hpp"
#include "protocol/protocol_observer.hpp"
#include "protocol/request.hpp"

namespace cxloom {

/// Inline, as every access of a cache and each answer to it pass here.
class LineObservers {
 public:
  /// `device` has the cache.
  explicit LineObservers(const Endpoint& device) : device_(device) {}

  /// Somebody asks for versions of lines.
  bool follow_versions() const { return versions() != nullptr; }
  /// A read has found the line. Only if somebody asks for versions.
  void found(LineAddress line) const { versions()->hit(device_.kernel(), device_.id(), line); }
  /// An access is made on the line that the cache has.
  void performed(Request& request, LineAddress line) const {
    if (request.kind != AccessKind::kRead && versions()) [[unlikely]]
      versions()->changed(device_.kernel(), device_.id(), line);
    if (shared()) [[unlikely]]
      shared()->performed(device_.id(), request);
    if (ProtocolObserver* const observer = device_.system_context().observer) [[unlikely]]
      observer->performed(device_.id(), line, request.kind, device_.now());
  }
  /// A message has come to the cache.
  void received(const Message& message) const {
    if (message.persistent && versions()) [[unlikely]]
      versions()->returns(device_.kernel(), message);
  }
  /// The cache has, or will have, the version that the message names, clean.
  void cached(const Message& message) const {
    if (message.persistent && !message.failed && versions()) [[unlikely]]
      versions()->cached(device_.kernel(), device_.id(), LineAddress::of(message.address), message.version);
  }
  /// The line came with the message.
  void filled(const Message& message) const {
    if (shared() && !message.failed) [[unlikely]]
      shared()->filled(device_.id(), LineAddress::of(message.address), message.version);
  }

 private:
  LineVersions* versions() const { return device_.system_context().versions.get(); }
  SharedLines* shared() const { return device_.system_context().shared.get(); }

  const Endpoint& device_;
};

}  // namespace cxloom
