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

class Idle final : public Component {
 public:
  struct Params {
    static void describe(Schema<Params>& schema) { schema.doc("Does nothing."); }
  };
  Idle(const Params&, const DeviceContext& context) : Component(context) {}
  bool forwards() const override { return true; }
  std::size_t max_ports() const override { return 2; }
  void receive(Message&) override {
    if (wanted() == "throws at work") throw std::runtime_error("no coffee");
    if (wanted() == "throws a number at work") throw 42;
  }
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
