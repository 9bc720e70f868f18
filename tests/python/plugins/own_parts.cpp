// Devices outside the tree of parts that the core has: a requester, a switch, and a host and a memory, whose
// parameters stand below a key of their own. And two memories that have no parameters of such
// parts: one whose slots no parameter sets, and one that says itself which of its parameters does.
#include <cxloom/memory.hpp>
#include <cxloom/requester.hpp>
#include <cxloom/switch.hpp>

namespace {

using namespace cxloom;

struct ClientParams : RequesterParams {
  static void describe(Schema<ClientParams>& schema) {
    schema.doc("A device that makes requests.");
    RequesterParams::describe_in(schema);
  }
};

class Client final : public Endpoint {
 public:
  using Params = ClientParams;
  Client(const ClientParams& params, const DeviceContext& context)
      : Endpoint(context, context.system_context), sequencer_(params, *this, context) {}
  std::size_t max_ports() const override { return 0; }
  static std::vector<MeasureInfo> measures() { return RequesterPart::measures(); }

 private:
  RequesterPart sequencer_;
};

struct AskingParams : RequesterParams {
  static void describe(Schema<AskingParams>& schema) { RequesterParams::describe_in(schema); }
};

struct TenantParams {
  AskingParams asking;

  static void describe(Schema<TenantParams>& schema) {
    schema.doc("A host whose requests have a key of their own.");
    schema.field("asking", &TenantParams::asking).doc("Its requests.");
  }
};

class Tenant final : public Endpoint {
 public:
  using Params = TenantParams;
  Tenant(const TenantParams& params, const DeviceContext& context)
      : Endpoint(context, context.system_context), sequencer_(params.asking, *this, context) {
    system_context().set_root(id());
  }
  std::size_t max_ports() const override { return 0; }
  static std::vector<MeasureInfo> measures() { return RequesterPart::measures(); }

 private:
  RequesterPart sequencer_;
};

struct CrossbarParams : SwitchParams {
  static void describe(Schema<CrossbarParams>& schema) {
    schema.doc("A switch.");
    describe_in(schema);
  }
};

class Crossbar final : public SwitchingDevice {
 public:
  using Params = CrossbarParams;
  Crossbar(const CrossbarParams& params, const DeviceContext& context) : SwitchingDevice(params, context) {}
  void receive(Message& message) override {
    message.charge(Segment::kSwitching, now());
    forward(message);
  }
};

struct StoreParams {
  MemoryControllerParams store;

  static void describe(Schema<StoreParams>& schema) {
    schema.doc("A memory whose controller has a key of its own.");
    schema.field("store", &StoreParams::store).doc("Its controller.");
  }
};

class Store final : public Endpoint {
 public:
  using Params = StoreParams;
  Store(const StoreParams& params, const DeviceContext& context)
      : Endpoint(context, context.system_context), controller_(params.store, *this, context) {}
  std::size_t max_ports() const override { return 1; }
  static std::vector<MeasureInfo> measures() { return MemoryPart::measures(); }

 private:
  MemoryPart controller_;
};

struct SilentParams {
  Bytes size{1U << 30U};

  static void describe(Schema<SilentParams>& schema) {
    schema.doc("A memory that does not say what it consists of.");
    schema.field("size", &SilentParams::size).doc("Its bytes.");
  }
};

class Silent final : public Endpoint {
 public:
  using Params = SilentParams;
  Silent(const SilentParams& params, const DeviceContext& context)
      : Endpoint(context, context.system_context), controller_(inside(params), *this, context) {}
  std::size_t max_ports() const override { return 1; }
  static std::vector<MeasureInfo> measures() { return MemoryPart::measures(); }

 private:
  static MemoryControllerParams inside(const SilentParams& params) {
    MemoryControllerParams made;
    made.capacity = params.size;
    made.queue = 4;
    return made;
  }
  MemoryPart controller_;
};

struct SlottedParams {
  std::uint32_t slots = 4;

  static void describe(Schema<SlottedParams>& schema) {
    schema.doc("A memory of so many slots.");
    schema.field("slots", &SlottedParams::slots).min(1).doc("Requests that it works on at the same time.");
  }
};

class Slotted final : public Endpoint {
 public:
  using Params = SlottedParams;
  Slotted(const SlottedParams& params, const DeviceContext& context)
      : Endpoint(context, context.system_context),
        slots_(params.slots),
        controller_(inside(params), *this, context) {}
  std::size_t max_ports() const override { return 1; }
  static std::vector<MeasureInfo> measures() { return MemoryPart::measures(); }
  void resources(ResourceSink& sink) const override {
    sink.add({.name = "the slots of",
              .stage = Stage::kPlaces,
              .capacity = slots_,
              .occupancy = Occupancy::kLevel,
              .measures = {"per_memory.*.queue_mean"},
              .wait = Segment::kMediaQueue,
              .counts = Traffic::kRequests,
              .twice = {doubled("slots", slots_)},
              .twice_text = "twice the slots"});
  }

 private:
  static MemoryControllerParams inside(const SlottedParams& params) {
    MemoryControllerParams made;
    made.capacity = Bytes{1U << 30U};
    made.queue = params.slots;
    return made;
  }
  std::uint32_t slots_;
  MemoryPart controller_;
};

}  // namespace

CXLOOM_PLUGIN(registry) {
  registry.devices.add<Client>("client");
  registry.devices.add<Tenant>("tenant");
  registry.devices.add<Crossbar>("crossbar");
  registry.devices.add<Store>("store");
  registry.devices.add<Silent>("silent");
  registry.devices.add<Slotted>("slotted");
}
