// What media that hold other media have in common: they make these, hear from them, hand on what these
// report, and serve an access by several of their own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/event_source.hpp"
#include "kernel/pool.hpp"
#include "kernel/windowed.hpp"
#include "memory/media/context.hpp"
#include "memory/media/media.hpp"
#include "protocol/account.hpp"
#include "protocol/opcode.hpp"

namespace cxloom {

struct KindSpec;

class WrappingMedia : public Media {
 public:
  /// The DRAM of the only media that it holds; null if it holds several.
  DramMedia* dram() override;
  std::string answers_early() const override;
  /// The only media that it holds, in a few words.
  std::string described() const override;
  std::vector<Media*> parts() override;
  void open_window(Time now) override;
  void close_window(Time now) override;
  /// What the accesses to the held media were, and what these report, each under its key: to be called behind
  /// its own.
  void report(MeasureSink& sink) const override;
  /// Gives what in the held media can fill up.
  void resources(ResourceSink& sink) const override;
  /// The measure of the accesses to held media, "backing_accesses": a map of what is known of a memory, too.
  static MeasureInfo accesses_of_cache();
  static MeasureInfo accesses_of_backing();

 protected:
  /// Media that it holds: a member, made with it.
  class Held final : private MediaClient, private EventHandler {
   public:
    /// `key`: the parameter that says what they are, before their measures and parameters. An access that is
    /// done comes to the holder as its event `done`, whose payload is the message's tag, at its time: media
    /// may say so ahead of it. Throws InputError, with the key as path, for media that cannot be.
    Held(WrappingMedia& holder, const char* key, const KindSpec& kind, std::optional<Bytes> capacity,
         const MediaContext& context, std::uint8_t done);
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

    Media* operator->() const { return media_.get(); }
    /// Sends an access now, whose tag is set.
    void send(Message& message, Opcode opcode, Address address, std::uint64_t bytes);

   private:
    friend class WrappingMedia;
    struct Counts {
      std::uint64_t reads = 0;
      std::uint64_t writes = 0;
      std::uint64_t bytes = 0;
      std::uint64_t waited_for = 0;  // by somebody: of these it is known what their time was
      Time queued;
      Time served;
    };

    void media_done(Message& message, Time at) override;
    void wake(std::uint8_t kind, std::uint64_t payload) override;
    void count(const Message& message);
    Value measured() const;

    WrappingMedia& holder_;
    std::string key_;
    std::uint8_t done_;
    std::unique_ptr<Media> media_;
    Windowed<Counts> counts_;
  };

  /// A message, until all that it is served by is done.
  struct Served {
    Served* next = nullptr;
    Message* message = nullptr;
    Address address;
    std::uint64_t left = 0;  ///< accesses and waits that are not done yet

    bool writes() const;
    /// One past the last byte; at least one is accessed.
    std::uint64_t end() const;
  };

  explicit WrappingMedia(const MediaContext& context);

  /// Takes an access that waits until `ready`. It comes back as the event `begins`, at `at`.
  void take(Message& message, Address address, Time ready, Time at, std::uint8_t begins);
  /// Makes a message one of those by which an access is served: `account` is charged.
  static void serve_by(const Served& access, Message& by, Account& account);
  /// One of what it is served by is done, which was charged to `account`. The access has waited for the last.
  void done(Served& access, const Account& account);

  Kernel& kernel_;
  EventSource source_;

 private:
  const Held* only() const { return held_.size() == 1 ? held_.front() : nullptr; }

  MediaClient& client_;
  std::vector<Held*> held_;
  Pool<Served> accesses_;
};

}  // namespace cxloom
