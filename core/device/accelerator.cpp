#include "device/accelerator.hpp"

namespace cxloom {

void AcceleratorParams::estimate(const AcceleratorParams& params, MemoryEstimate& memory) {
  RequesterParams::estimate(params, memory);
  if (params.memory) {
    memory.add_below(
        "memory", [&](MemoryEstimate& inside) { MemoryControllerParams::estimate(*params.memory, inside); });
  }
}

void AcceleratorParams::describe(Schema<AcceleratorParams>& schema) {
  schema.doc("An accelerator: makes the requests of its workload and may serve memory of its own.");
  RequesterParams::describe_in(schema);
  schema.field("memory", &AcceleratorParams::memory)
      .default_text("none")
      .doc("Memory of its own, which it and other devices use through the address map.");
}

Accelerator::Accelerator(const AcceleratorParams& params, const DeviceContext& context)
    : Requester(params, context) {
  if (!params.memory) return;
  share_ports();
  fabric().roles.memories.declare(*this, id(), *this);
  try {
    controller_ =
        std::make_unique<MemoryController>(*params.memory, context.media, context.kernel, *this,
                                           static_cast<MemoryController::Device&>(*this), context.seed);
  } catch (const InputError& error) {
    throw error.below("memory");
  }
}

void Accelerator::start() {
  if (controller_) controller_->set_address_map(fabric().map);
  Requester::start();
}

void Accelerator::receive(Message& message) {
  if (is_downstream(message.channel)) {
    controller_->serve(message);
  } else {
    Requester::receive(message);
  }
}

void Accelerator::serve_locally(Message& message, Time ready) {
  wake_at(ready, kServe, reinterpret_cast<std::uintptr_t>(&message));
}

void Accelerator::admitted(Message& message, Time at) {
  if (message.source != id()) port(message.port).release(message, at);
}

void Accelerator::reply(Message& message, Time ready) {
  if (message.destination == id()) {
    wake_at(ready, kAnswer, reinterpret_cast<std::uintptr_t>(&message));
  } else {
    transmit(message, ready);
  }
}

void Accelerator::wake(std::uint8_t kind, std::uint64_t payload) {
  auto* message = reinterpret_cast<Message*>(payload);
  switch (kind) {
    case kServe: controller_->serve(*message); return;
    case kAnswer: answered(*message); return;
    default: Requester::wake(kind, payload);
  }
}

void Accelerator::open_window(Time at) {
  Requester::open_window(at);
  if (controller_) controller_->open_window(at);
}

void Accelerator::close_window(Time at) {
  Requester::close_window(at);
  if (controller_) controller_->close_window(at);
}

void Accelerator::report_memory(MeasureSink& sink) const {
  if (controller_) controller_->report(sink);
}

std::string Accelerator::activity() const {
  const std::string own = Requester::activity();
  const std::string memory = controller_ ? controller_->activity() : std::string();
  return own.empty() || memory.empty() ? own + memory : own + "; " + memory;
}

}  // namespace cxloom
