// A plug-in that misbehaves as the environment asks.
#include <cxloom/device.hpp>
#include <cxloom/media.hpp>
#include <cxloom/tiering.hpp>

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

using namespace cxloom;

std::string wanted() {
  const char* how = std::getenv("BAD_PLUGIN");
  return how ? how : "";
}

struct Initialised {
  Initialised() {
    if (wanted() == "initialiser throws") throw std::runtime_error("boom");
    if (wanted() == "initialiser throws a number") throw 42;
    if (wanted() == "initialiser crashes") static_cast<void>(std::raise(SIGSEGV));
    if (wanted() == "initialiser exits") std::exit(0);
  }
};
const Initialised initialised;

const MeasureInfo kSeats{"seats_mean", "", "seats taken, mean over time"};
const MeasureInfo kGuests{"guests", "", "who came in the window"};

class Idle final : public Component {
 public:
  struct Params {
    std::uint32_t seats = 4;

    static void describe(Schema<Params>& schema) {
      schema.doc("Does nothing.");
      schema.field("seats", &Params::seats).doc("They are empty.");
    }
  };
  Idle(const Params&, const DeviceContext& context) : Component(context) {}
  bool forwards() const override { return true; }
  std::size_t max_ports() const override { return 2; }
  void receive(Message& message) override {
    if (wanted() == "throws at work") throw std::runtime_error("no coffee");
    if (wanted() == "throws a number at work") throw 42;
    if (wanted().empty()) return;
    const std::uint16_t in = message.port;
    port(in).release(message, now());
    port(1U - in).send(message, now());
  }
  void report(MeasureSink& sink) const override {
    sink.add(kSeats, 1.0);
    if (wanted() == "declares no guests") sink.count(kGuests, 1);
  }
  void resources(ResourceSink& sink) const override {
    const bool wrong_measure = wanted() == "has no such measure";
    sink.add({.name = "the seats of",
              .stage = Stage::kWay,
              .capacity = 4,
              .occupancy = Occupancy::kLevel,
              .measures = {wrong_measure ? "per_device.*.seat_mean" : "per_device.*.seats_mean"},
              .wait = Segment::kSwitchQueue,
              .counts = Traffic::kMessages,
              .twice = {doubled(wanted() == "has no such parameter" ? "seat" : "seats", 4)},
              .twice_text = "8 seats"});
  }
  static std::vector<MeasureInfo> measures() { return {kSeats}; }
};

class Lazy final : public Media {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("Throws at each access."); }
  };
  Lazy(const Params&, const MediaContext&) {}
  void access(Message&, Address, Time) override { throw std::logic_error("no bed"); }
  void wake(std::uint8_t, std::uint64_t) override {}
};

class Fatal final : public Media {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("Ends the program at the first access."); }
  };
  Fatal(const Params&, const MediaContext&) {}
  void access(Message&, Address, Time) override { std::abort(); }
  void wake(std::uint8_t, std::uint64_t) override {}
};

class Restless final : public Media {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("Throws when it is to end."); }
  };
  Restless(const Params&, const MediaContext& context) : client_(context.client) {}
  void access(Message& message, Address, Time ready) override {
    message.charge(Segment::kMedia, ready);
    client_.media_done(message, ready);
  }
  void wake(std::uint8_t, std::uint64_t) override {}
  void close_window(Time) override {
    if (wanted() == "throws a number at the end") throw 42;
    throw std::runtime_error("no rest");
  }

 private:
  MediaClient& client_;
};

class Lost final : public TieringPolicy {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("Names what is not there."); }
  };
  Lost(const Params&, const TieringContext&) {}
  TieringSources sources() const override { return {.period = Time{1'000}}; }
  void look(TieredPages& pages) override {
    if (wanted() == "names no page") pages.move(pages.pages(), 0);
    if (wanted() == "names no node") pages.move(0, 2);
    if (wanted() == "declares no source") pages.protect(0);
  }
};

}  // namespace

CXLOOM_PLUGIN(registry) {
  if (wanted() == "adds nothing") return;
  registry.tiering.add<Lost>("lost");
  registry.devices.add<Idle>("idle");
  registry.media.add<Lazy>("lazy");
  registry.media.add<Fatal>("fatal");
  registry.media.add<Restless>("restless");
  if (wanted() == "throws") throw std::runtime_error("no licence");
  if (wanted() == "throws a number") throw 42;
  if (wanted() == "throws bytes") throw std::runtime_error("\xff\xfe");
  while (wanted() == "waits") pause();
  if (wanted() == "crashes") static_cast<void>(std::raise(SIGSEGV));
  if (wanted() == "exits") std::exit(0);
  if (wanted() == "exists") registry.devices.add<Idle>("host");
  if (wanted() == "twice") registry.devices.add<Idle>("idle");
}
