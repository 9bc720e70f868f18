#include "memory/media/wrapping_media.hpp"

#include <algorithm>

#include "base/measure.hpp"
#include "base/schema.hpp"
#include "component/resource.hpp"
#include "kernel/kernel.hpp"
#include "memory/media/registry.hpp"
#include "protocol/message.hpp"

namespace cxloom {

WrappingMedia::Held::Held(WrappingMedia& holder, const char* key, const KindSpec& kind,
                          std::optional<Bytes> capacity, const MediaContext& context, std::uint8_t done)
    : holder_(holder), key_(key), done_(done) {
  MediaContext inside{context.kernel,     context.owner, *this,        context.kinds,
                      context.victims,    capacity,      context.seed, context.path + key_ + ".",
                      context.prefetchers};
  media_ = with_path(key, [&] { return context.kinds.make(kind, inside); });
  holder.held_.push_back(this);
}

void WrappingMedia::Held::send(Message& message, Opcode opcode, Address address, std::uint64_t bytes) {
  message.opcode = opcode;
  message.channel = channel_of(opcode);
  message.size = static_cast<std::uint16_t>(bytes);
  message.address = address;
  media_->access(message, address, holder_.kernel_.now());
}

void WrappingMedia::Held::media_done(Message& message, Time at) {
  holder_.kernel_.schedule(at, holder_.source_, holder_, done_, message.tag);
}

bool WrappingMedia::Served::writes() const { return message->opcode == Opcode::kMemWr; }

std::uint64_t WrappingMedia::Served::end() const {
  return address.value() + std::max<std::uint64_t>(message->size, 1);
}

WrappingMedia::WrappingMedia(const MediaContext& context)
    : kernel_(context.kernel), source_(context.kernel.new_source()), client_(context.client) {}

void WrappingMedia::take(Message& message, Address address, Time ready, Time at, std::uint8_t begins) {
  Served& access = accesses_.take();
  access.message = &message;
  access.address = address;
  message.charge(Segment::kMediaQueue, ready);
  kernel_.schedule(at, source_, *this, begins, payload_of(access));
}

void WrappingMedia::serve_by(const Served& access, Message& by, Account& account) {
  by.account = &account;
  by.requester = access.message->requester;
  by.age = access.message->age;
}

void WrappingMedia::done(Served& access, const Account& account) {
  if (--access.left > 0) return;
  Message& message = *access.message;
  accesses_.give_back(access);
  if (message.account) message.account->join(account);
  client_.media_done(message, kernel_.now());
}

DramMedia* WrappingMedia::dram() { return only() ? only()->media_->dram() : nullptr; }

std::string WrappingMedia::answers_early() const {
  return only() && !only()->media_->answers_early().empty() ? only()->key_ : std::string();
}

std::string WrappingMedia::described() const { return only() ? only()->media_->described() : std::string(); }

std::vector<Media*> WrappingMedia::parts() {
  std::vector<Media*> parts;
  for (const Held* held : held_) parts.push_back(held->media_.get());
  return parts;
}

void WrappingMedia::open_window(Time now) {
  for (const Held* held : held_) held->media_->open_window(now);
}

void WrappingMedia::close_window(Time now) {
  for (const Held* held : held_) held->media_->close_window(now);
}

void WrappingMedia::report(MeasureSink& sink) const {
  for (const Held* held : held_) {
    const std::string prefix = held->key_ + "_";
    PrefixedSink within(prefix, sink);
    held->media_->report(within);
  }
}

void WrappingMedia::resources(ResourceSink& sink) const {
  for (const Held* held : held_) {
    const std::string measures = held->key_ + "_";
    const std::string parameters = held->key_ + ".";
    const std::string owner = " the " + held->key_ + " of";
    ResourcesWithin within(measures, parameters, sink);
    within.owned_by(owner);
    within.only_measured();
    held->media_->resources(within);
  }
}

}  // namespace cxloom
