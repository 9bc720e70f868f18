// What stores the bytes behind a memory controller. A controller hands over accesses and is told when each is done.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/kind_registry.hpp"
#include "base/measure.hpp"
#include "base/units.hpp"
#include "component/component.hpp"
#include "protocol/request.hpp"
#include "tags/victim_policy.hpp"

namespace cxloom {

/// The side of the controller.
class MediaClient {
 public:
  /// The access is done at `at`, now or later; calls come in the order of `at`.
  virtual void media_done(Message& message, Time at) = 0;

 protected:
  ~MediaClient() = default;
};

class DramMedia;
class DramScheduler;
struct DramSchedulerContext;
using DramSchedulerRegistry = KindRegistry<DramScheduler, DramSchedulerContext>;
class DramRowPolicy;
struct DramRowContext;
using DramRowPolicyRegistry = KindRegistry<DramRowPolicy, DramRowContext>;
class DramRefreshPolicy;
struct DramRefreshContext;
using DramRefreshPolicyRegistry = KindRegistry<DramRefreshPolicy, DramRefreshContext>;
class Media;
struct MediaContext;

/// The kinds of media, and of what media are made of.
struct MediaRegistry : KindRegistry<Media, MediaContext> {
  using KindRegistry::KindRegistry;
  DramSchedulerRegistry schedulers{"DRAM scheduler"};
  DramRowPolicyRegistry row_policies{"DRAM row policy"};
  DramRefreshPolicyRegistry refresh_policies{"DRAM refresh policy"};
};

/// What a medium finds around itself when it is made.
struct MediaContext {
  Kernel& kernel;
  const Component& owner;
  MediaClient& client;
  const MediaRegistry& kinds;
  const VictimRegistry& victims;
  std::optional<Bytes> capacity;  ///< as written for the memory in front of it
  std::uint64_t seed = 0;
};

class Media : public EventHandler {
 public:
  /// Takes an access to `address` of the medium, which is ready at `ready`, now or later; calls come in the order of
  /// `ready`. Charges the message for waiting (media_queue) and access (media).
  virtual void access(Message& message, Address address, Time ready) = 0;

  /// It is known to serve any number of accesses at once.
  virtual bool unlimited() const { return false; }
  /// Bytes that it holds; none: it is as large as the memory in front of it.
  virtual std::optional<Bytes> capacity() const { return std::nullopt; }
  /// The DRAM whose commands can be recorded: itself, or one that it holds; null: none.
  virtual DramMedia* dram() { return nullptr; }
  /// What it is built of, in a few words; empty if that is just what was written.
  virtual std::string described() const { return {}; }
  /// The media that it holds, if it is made of some.
  virtual std::vector<Media*> parts() { return {}; }

  virtual void open_window(Time /*now*/) {}
  virtual void close_window(Time /*now*/) {}
  virtual void report(MeasureSink& /*sink*/) const {}
};

/// Calls `visit` for a medium and for those that it holds, however deep.
template <class Visit>
void each_medium(Media& media, Visit visit) {
  visit(media);
  for (Media* part : media.parts()) each_medium(*part, visit);
}

}  // namespace cxloom
