// A plug-in that misbehaves as the environment asks.
#include <cxloom/cxloom.hpp>

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
  void receive(Message&) override {}
};

}  // namespace

CXLOOM_PLUGIN(registry) {
  registry.devices.add<Idle>("idle");
  if (wanted() == "throws") throw std::runtime_error("no licence");
  if (wanted() == "throws a number") throw 42;
  if (wanted() == "throws bytes") throw std::runtime_error("\xff\xfe");
  while (wanted() == "waits") pause();
  if (wanted() == "crashes") static_cast<void>(std::raise(SIGSEGV));
  if (wanted() == "exits") std::exit(0);
  if (wanted() == "exists") registry.devices.add<Idle>("host");
  if (wanted() == "twice") registry.devices.add<Idle>("idle");
}
