#include "device/switch/switching_device.hpp"

#include "component/component_time.hpp"
#include "device/switch/core.hpp"

namespace cxloom {

template <>
WithSwitchCore<Component>::WithSwitchCore(const SwitchParams& params, const DeviceContext& context)
    : Component(context),
      core_(std::make_unique<SwitchCore>(params, *this, context.system_context)),
      params_(params) {}

template <>
WithSwitchCore<Endpoint>::WithSwitchCore(const SwitchParams& params, const DeviceContext& context)
    : Endpoint(context, context.system_context),
      core_(std::make_unique<SwitchCore>(params, *this, context.system_context)),
      params_(params) {}

template <class Base>
WithSwitchCore<Base>::~WithSwitchCore() = default;

template <class Base>
bool WithSwitchCore<Base>::arbitrates() const {
  return core_->arbitrates();
}

template <class Base>
void WithSwitchCore<Base>::start() {
  core_->start();
  Base::start();
}

template <class Base>
void WithSwitchCore<Base>::routes_changed(bool failed) {
  core_->routes_changed(failed);
}

template <class Base>
void WithSwitchCore<Base>::report(MeasureSink& sink) const {
  core_->report(sink);
  Base::report(sink);
}

template <class Base>
void WithSwitchCore<Base>::resources(ResourceSink& sink) const {
  core_->resources(sink);
  Base::resources(sink);
}

template <class Base>
std::string WithSwitchCore<Base>::activity() const {
  const std::string core = core_->activity();
  const std::string others = Base::activity();
  return core.empty() || others.empty() ? core + others : core + "; " + others;
}

template <class Base>
std::vector<MeasureInfo> WithSwitchCore<Base>::measures() {
  return SwitchCore::measures();
}

template <class Base>
void WithSwitchCore<Base>::forward(Message& message) {
  core_->forward(message);
}

template <class Base>
void WithSwitchCore<Base>::send_own(Message& message) {
  core_->inject(message);
}

template class WithSwitchCore<Component>;
template class WithSwitchCore<Endpoint>;

SwitchingDevice::SwitchingDevice(const SwitchParams& params, const DeviceContext& context)
    : WithSwitchCore(params, context) {}

void SwitchingDevice::take_back(Message& message) { core().take_back(message); }

SwitchingEndpoint::SwitchingEndpoint(const SwitchParams& params, const DeviceContext& context)
    : WithSwitchCore(params, context) {
  contain_switch();
}

void SwitchingEndpoint::receive(Message& message) {
  message.charge(Segment::kSwitching, now());
  if (message.destination != id() || core().keeps(message)) {
    pass_on(message);
  } else if (message.tail > Time{}) {
    const Time whole = now() + message.tail;
    message.tail = Time{};
    message.charge(Segment::kSerialization, whole);
    take_at(message, whole);
  } else {
    take(message);
  }
}

}  // namespace cxloom
