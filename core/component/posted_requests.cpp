#include "component/posted_requests.hpp"

#include <cstddef>

#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"
#include "kernel/pool.hpp"
#include "protocol/request.hpp"

namespace cxloom {

struct alignas(128) PostedRequests::Part {
  const Kernel* kernel = nullptr;  // null: there is no other part
  Pool<Request> pool;
  std::vector<Request*> ended;  // here, of other parts
};

PostedRequests::PostedRequests() { parts_.push_back(std::make_unique<Part>()); }
PostedRequests::~PostedRequests() = default;

void PostedRequests::divide(const std::vector<const Kernel*>& parts) {
  parts_.clear();
  for (const Kernel* const kernel : parts) {
    parts_.push_back(std::make_unique<Part>());
    parts_.back()->kernel = kernel;
  }
}

// A system has few parts: they are searched.
std::size_t PostedRequests::part_of(const Kernel& kernel) const {
  std::size_t part = 0;
  while (parts_.size() > 1 && parts_[part]->kernel != &kernel) ++part;
  return part;
}

// The tag counts in the pool of a part, and says which one it is.
Request& PostedRequests::take(const Kernel& at) {
  const std::size_t part = part_of(at);
  Request& request = parts_[part]->pool.take();
  request.message.tag = static_cast<std::uint32_t>(request.index * parts_.size() + part);
  return request;
}

PostedRequests::Part& PostedRequests::owner_of(const Request& request) {
  return *parts_[request.message.tag % parts_.size()];
}

// A request begins with its message. It may be of another pool, as those of a plug-in are. Where parts run
// side by side there is no plug-in, and another part may take from the pool now: it is not looked up.
Request* PostedRequests::of(const Message& message) {
  static_assert(offsetof(Request, message) == 0);
  const std::uint64_t begin = payload_of(message);
  if (!message.account || payload_of(*message.account) != begin + offsetof(Request, account)) return nullptr;
  auto& request = object_of<Request>(begin);
  if (message.tag / parts_.size() != request.index) return nullptr;
  return side_by_side() || owner_of(request).pool.find(request.index) == &request ? &request : nullptr;
}

void PostedRequests::give_back(const Kernel& at, Request& request) {
  Part& owner = owner_of(request);
  if (!side_by_side() || owner.kernel == &at) owner.pool.give_back(request);
  else parts_[part_of(at)]->ended.push_back(&request);
}

void PostedRequests::gather() {
  for (const auto& part : parts_) {
    for (Request* const request : part->ended) owner_of(*request).pool.give_back(*request);
    part->ended.clear();
  }
}

std::uint64_t PostedRequests::live() const {
  std::uint64_t live = 0;
  for (const auto& part : parts_) live += part->pool.live();
  return live;
}

}  // namespace cxloom
