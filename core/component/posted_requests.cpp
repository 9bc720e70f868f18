#include "component/posted_requests.hpp"

#include "kernel/pool.hpp"
#include "protocol/request.hpp"

namespace cxloom {

PostedRequests::PostedRequests() : pool_(std::make_unique<Pool<Request>>()) {}
PostedRequests::~PostedRequests() = default;

Request& PostedRequests::take() { return pool_->take(); }
Request* PostedRequests::find(std::uint32_t tag) { return pool_->find(tag); }
void PostedRequests::give_back(Request& request) { pool_->give_back(request); }
std::uint64_t PostedRequests::live() const { return pool_->live(); }

}  // namespace cxloom
