// What stores the bytes behind a memory controller. A controller hands over accesses and is notified when
// each is done.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "kernel/event_handler.hpp"

namespace cxloom {

class DramMedia;
class MeasureSink;
class MediaPast;
class ResourceSink;

class Media : public EventHandler {
 public:
  /// Takes an access to `address` of the medium, which is ready at `ready`, now or later; calls come in the
  /// order of `ready`. Charges the message for waiting (media_queue) and access (media).
  virtual void access(Message& message, Address address, Time ready) = 0;

  /// It asks for the addresses of accesses, which is asked once, at the start. One that does not may be given
  /// any, also of accesses that no region holds.
  virtual bool asks_for_addresses() const { return true; }
  /// Each access takes so long at least.
  virtual Time least_time() const { return Time{}; }
  /// It is known to serve any number of accesses at once.
  virtual bool unlimited() const { return false; }
  /// Bytes that it holds; none: it is as large as the memory in front of it.
  virtual std::optional<Bytes> capacity() const { return std::nullopt; }
  /// The DRAM whose commands can be recorded: itself, or one that it holds; null: none.
  virtual DramMedia* dram() { return nullptr; }
  /// The part of it that answers writes before the media have them; empty: none does.
  virtual std::string answers_early() const { return {}; }
  /// What it is built of, in a few words; empty if that is just what was written.
  virtual std::string described() const { return {}; }
  /// Accesses that something in it lets go no more, for the diagnosis of a run that cannot finish; empty:
  /// none.
  virtual std::string held_back() const { return {}; }
  /// What it has been through before the run; null: nothing that would have to be played.
  virtual MediaPast* past() { return nullptr; }
  /// The media that it holds, if it is made of some.
  virtual std::vector<Media*> parts() { return {}; }

  /// Bytes whose last accesses it remembers, so that the next ones take another time; 0: none.
  virtual std::uint64_t remembers() const { return 0; }
  /// These bytes were read before the run: it is as it would be then. Takes no time.
  virtual void touched_before(Address /*address*/, std::uint64_t /*bytes*/) {}

  virtual void open_window(Time /*now*/) {}
  virtual void close_window(Time /*now*/) {}
  virtual void report(MeasureSink& /*sink*/) const {}
  /// Gives what of it can fill up (component/resource.hpp); measures and parameters by their own names.
  virtual void resources(ResourceSink& /*sink*/) const {}
};

/// Calls `visit` for a medium and for those that it holds, however deep.
template <class Visit>
void each_medium(Media& media, Visit visit) {
  visit(media);
  for (Media* part : media.parts()) each_medium(*part, visit);
}

}  // namespace cxloom
