#include "component/component.hpp"

#include "kernel/kernel.hpp"

namespace cxloom {

Component::Component(const ComponentContext& context)
    : kernel_(context.kernel), id_(context.id), source_(context.kernel.new_source()), name_(context.name) {}

}  // namespace cxloom
