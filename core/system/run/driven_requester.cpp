#include "system/run/driven_requester.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "base/error.hpp"
#include "coherence/external/agent.hpp"
#include "device/requester/requester.hpp"
#include "kernel/event_handler.hpp"
#include "kernel/kernel.hpp"
#include "system/model/system.hpp"
#include "system/run/block_check.hpp"
#include "system/run/time_left.hpp"

namespace cxloom {

DrivenRequester::DrivenRequester(std::string device, NodeId node, Requester& requester, ExternalFeed& feed,
                                 const TransferEngine* engine, Kernel& kernel, const AddressMap& map)
    : device_(std::move(device)),
      node_(node),
      requester_(requester),
      feed_(feed),
      engine_(engine),
      has_external_cache_(requester.external_cache() != nullptr),
      kernel_(kernel),
      map_(map),
      source_(kernel.new_source()) {}

// Before anything has changed: whoever drives it may go on with another access. Most accesses follow one that
// has been looked at whole.
void DrivenRequester::check(const Access& access) {
  const std::uint64_t offset = access.address.value() - served_.base.value();
  const bool known = offset < served_.bytes && access.size <= served_.bytes - offset && access.size > 0 &&
                     (access.kind != AccessKind::kFlush || has_external_cache_);
  if (!known) [[unlikely]]
    check_anew(access);
  if (has_external_cache_ && (access.keeps || access.kind == AccessKind::kFlush)) check_line(access);
}

void DrivenRequester::check_line(const Access& access) const {
  if (!requester_.external_cache()->has_outside()) {
    throw InputError({"the cache of '" + device_ + "' is outside, and nobody has it",
                      {},
                      "a program that hears of its snoops, before it asks for copies",
                      {}},
                     "driven." + device_);
  }
  if (access.lines() == 1 && access.size == kLineBytes) return;
  throw InputError({"an access to keep, or give up, something else than a line",
                    to_text(access.address) + ", " + counted(access.size, "byte"),
                    "64 bytes, aligned",
                    {}},
                   "driven." + device_);
}

void DrivenRequester::check_anew(const Access& access) {
  if (access.size == 0 || access.address.value() + (access.size - 1U) < access.address.value())
    throw InputError({"an access of no bytes, or past the end of all addresses", {}, {}, {}},
                     "driven." + device_);
  requester_.check_mapped(access);
  if (engine_) return;  // which has a say in each
  for (const AddressMap::Extent& extent : map_.extents()) {
    if (access.address.value() - extent.base.value() < extent.bytes) served_ = extent;
  }
}

void DrivenRequester::inject(const Access& access, ExternalFeed::Answered answered) {
  check(access);
  feed_.push(access, std::move(answered));
  requester_.resume();
}

void DrivenRequester::give(const Access& access, std::uint64_t tag, Time ready) {
  check(access);
  if (!feed_.tells_answers()) [[unlikely]]
    throw InputError({"nobody hears of the answers of '" + device_ + "'", {}, "answers() first", {}});
  const Time now = kernel_.now();
  if (ready < now && ready != Time{}) [[unlikely]] {
    throw InputError(
        {"an access that was ready before now", to_text(ready), "0, or " + to_text(now) + " or later", {}},
        "driven." + device_);
  }
  if (ready > kLatest) [[unlikely]]
    throw InputError({"an access that comes too late", to_text(ready), "at most " + to_text(kLatest), {}},
                     "driven." + device_);
  if (access.kind == AccessKind::kFlush) give_up(access);
  if (ready > now) {
    Late& late = late_.take();
    late.access = access;
    late.tag = tag;
    feed_.expect();
    ready_.push_back(ready);
    std::ranges::push_heap(ready_, std::greater<>());
    kernel_.schedule(ready, source_, *this, 0, payload_of(late));
    return;
  }
  feed_.push(access, tag, now);
  requester_.resume();
}

// The line has left whenever the notice comes: a snoop before that must find its data.
void DrivenRequester::give_up(const Access& access) {
  if (access.brings) requester_.external_cache()->gives_up(LineAddress::of(access.address));
}

void DrivenRequester::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  Late& late = object_of<Late>(payload);
  std::ranges::pop_heap(ready_, std::greater<>());  // the one that is ready now
  ready_.pop_back();
  feed_.came();
  feed_.push(late.access, late.tag, kernel_.now());
  late_.give_back(late);
  requester_.resume();
}

void DrivenRequester::transfer(const System& system, const BlockOrder& order, FedBlock::Moved moved) {
  with_path("driven." + device_, [&] { check_block(order, device_, requester_, engine_); });
  check_block_mapped(order, system.address_map_of(node_), requester_);
  feed_.push(order, std::move(moved));
  requester_.resume();
}

Time DrivenRequester::earliest_answer(TimeLeft& left) const {
  const Time of_late = ready_.empty() ? Time::max() : ready_.front() + left.of_any(node_);
  return std::min(of_late, requester_.earliest_answer(left));
}

std::optional<std::uint64_t> DrivenRequester::tag_of(const Message& message) const {
  const std::optional<std::uint64_t> number = requester_.access_of(message);
  return number ? feed_.tag_of(*number) : std::nullopt;
}

void DrivenRequester::close() {
  feed_.close();
  requester_.resume();
}

}  // namespace cxloom
