#include "component/component.hpp"

#include "base/error.hpp"
#include "kernel/kernel.hpp"

namespace cxloom {

Component::Component(const ComponentContext& context)
    : kernel_(context.kernel),
      id_(context.id),
      source_(context.kernel.new_source()),
      name_(std::make_unique<const std::string>(context.name)) {}

Component::~Component() = default;

void Component::attach(Port& port) { ports_.push_back(&port); }

void Component::take_back(Message& /*message*/) {
  throw InternalError(name() + " cannot take back what it sent");
}

}  // namespace cxloom
