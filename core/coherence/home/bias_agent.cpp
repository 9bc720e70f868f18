#include "coherence/home/bias_agent.hpp"

#include <bit>
#include <string>
#include <utility>

#include "base/schema.hpp"
#include "component/observed_scope.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kLargestPage = 2U << 20U;  // a flip asks for all lines of a page at once

}  // namespace

void BiasParams::describe(Schema<BiasParams>& schema) {
  schema.doc(
      "Coherence by bias (HDM-D): while a page is biased to the host, the device asks it for each line that "
      "it needs; while it is biased to the device, the device asks nobody.");
  describe_lookups(schema);
  describe_timeout(schema);
  schema.field("filter", &BiasParams::filter)
      .doc("Its snoop filter, of the lines in the device's own cache. What the host holds takes no entries.");
  schema.field("page", &BiasParams::page)
      .where(
          [](const Bytes& value) {
            return value.count() >= kLineBytes && value.count() <= kLargestPage &&
                   std::has_single_bit(value.count());
          },
          "a power of two from 64B to 2MiB")
      .doc("What is biased as a whole.")
      .source("CXL 3.x: the granularity is the device's choice, for example 4 KiB");
  schema.choice("initial", &BiasParams::initial, {{"host", Bias::kHost}, {"device", Bias::kDevice}})
      .doc("The bias of a page that nobody has used yet.");
  schema.field("flip_after", &BiasParams::flip_after)
      .doc(
          "Times that the device has to ask for a line of a page, with no request of the host between, until "
          "the page flips to the device: the host gives up all of its lines. 0: never. It flips to the host "
          "as soon as the host asks for a copy.");
}

BiasAgent::BiasAgent(const BiasParams& params, Endpoint& endpoint, const ComponentContext& context,
                     const VictimRegistry& victims, Agent& memory)
    : Dcoh(params, SnoopFilterParams{params.filter}, endpoint, context, victims, &memory),
      page_lines_(params.page.count() / kLineBytes),
      initial_(params.initial),
      flip_after_(params.flip_after) {}

// The answer of a host brings no data and asks for nothing, though it is one of its requests.
void BiasAgent::receive(Message& message) {
  if (message.opcode != Opcode::kMemRdFwd) return Dcoh::receive(message);
  endpoint().release(message, now());
  const ObservedScope handling(*this, message);
  response(message);
}

// A copy of a host takes no entry: the bias of the page stands for it.
DirectoryAgent::Wish BiasAgent::wish_of(const Message& request) const {
  Wish wish = Dcoh::wish_of(request);
  wish.copy = wish.copy && from_device(request);
  return wish;
}

LineState BiasAgent::grant(Transaction& transaction, bool failed) {
  const LineState granted = Dcoh::grant(transaction, failed);
  const Message& request = *transaction.request;
  if (failed || from_device(request)) return granted;
  const bool here = transaction.slot != kNoSlot && filter().owner_count(transaction.slot) > 0;
  if (here || request.meta != MetaValue::kAny) {
    if (request.meta != MetaValue::kInvalid) host_keeps(transaction.line, MetaValue::kShared);
    return LineState::kShared;
  }
  if (losses()) alone_.insert(transaction.line.number());
  return LineState::kClean;
}

bool BiasAgent::take_notice(Transaction& transaction) {
  const LineAddress line = transaction.line;
  const bool of_host = !from_device(*transaction.request);
  if (!Dcoh::take_notice(transaction)) return false;
  if (of_host) host_keeps(line, MetaValue::kInvalid);
  return true;
}

// A write-back that is refused is of no host that has the line.
bool BiasAgent::take_out_of_turn(Message& message) {
  const LineAddress line = LineAddress::of(message.address);
  const bool of_host = !from_device(message);
  const MetaValue meta = message.meta;
  if (!Dcoh::take_out_of_turn(message)) return false;
  if (of_host) host_keeps(line, meta);
  return true;
}

// What the filter does not know of the host follows from what it was granted, and has given back.
bool BiasAgent::owns(LineAddress line, std::uint32_t peer) const {
  return peer == host_ && host_ != DirectoryPeers::kNone ? host_has_alone(line) : Dcoh::owns(line, peer);
}

void BiasAgent::presume_dead(std::uint32_t peer) {
  if (peer != host_) return Dcoh::presume_dead(peer);
  for (const std::uint64_t line : alone_) losses()->poison(LineAddress{line});
  alone_.clear();
  host_gone_ = copies_ == 0;
}

void BiasAgent::failed() {
  Dcoh::failed();
  pages_.clear();
  alone_.clear();
  copies_ = 0;
}

BiasAgent::Page& BiasAgent::page_of(LineAddress line) {
  return pages_.try_emplace(line.number() / page_lines_, Page{.bias = initial_}).first->second;
}

bool BiasAgent::ask_first(Transaction& transaction) {
  const Message& request = *transaction.request;
  Page& page = page_of(transaction.line);
  if (page.flips) {
    page.waiting.push_back(&transaction);
    return true;
  }
  const bool device = from_device(request);
  if (device && page.bias == Bias::kHost && flip_after_ != 0 && ++page.asked >= flip_after_) {
    page.flips = true;
    page.cause = &transaction;
    if (page.under_way == 0) flip(page);
    return true;
  }
  if (!device && request.meta != MetaValue::kInvalid) {  // the host wants a copy
    transaction.in_page = true;
    ++page.under_way;
    ++copies_;
    host_gone_ = false;
    if (page.bias == Bias::kDevice) ++counts().flips_to_host;
    page.bias = Bias::kHost;
    page.asked = 0;
    know_host(request);
    return false;
  }
  // Others without a cache leave the bias as it is.
  if (page.bias == Bias::kDevice || !has_host() || request.source == peers().node(host_)) return false;
  ++page.under_way;
  const Wish wish = wish_of(request);
  ask_host(transaction, transaction.line,
           wish.own       ? SnoopFor::kInvalidate
           : wish.current ? SnoopFor::kCurrent
                          : SnoopFor::kShare);
  return true;
}

// The caches of one host are one to the device. It could not tell two hosts' apart.
void BiasAgent::know_host(const Message& request) {
  const std::uint32_t peer = peer_of(request.source);
  if (host_ == DirectoryPeers::kNone) host_ = peer;
  if (peer == host_) return;
  const auto name = [this](NodeId node) { return "'" + endpoint().system_context().name_of(node) + "'"; };
  throw InputError(
      {"memory kept coherent by bias (coherence: hdm-d) may be cached by one host only",
       name(peers().node(host_)) + " and " + name(request.source) + " cache that of " + this->name(),
       "one host with a cache, or coherence: hdm-db",
       {}},
      "address_map[" + std::to_string(*endpoint().system_context().map->region_at(request.address)) +
          "].coherence");
}

void BiasAgent::ask_host(Transaction& transaction, LineAddress line, SnoopFor purpose) {
  transaction.request->charge(Segment::kHomeQueue, now());
  transaction.asks = true;
  transaction.asked_at = now();
  ++transaction.snoops_left;
  send_snoop(transaction, line, host_, purpose, 0, *transaction.request);
}

void BiasAgent::asked(Transaction& transaction) {
  Page& page = page_of(transaction.line);
  if (page.cause == &transaction) {
    end_flip(page);
  } else {
    leave(page);
    go_on(transaction);
  }
}

void BiasAgent::closed(LineAddress line) {
  --copies_;
  leave(page_of(line));
}

void BiasAgent::leave(Page& page) {
  if (--page.under_way == 0 && page.flips && page.cause->snoops_left == 0) flip(page);
}

// ---- A page flips to the device

// The host gets nothing of the page, and is asked for none of its lines: now it gives up all of them.
void BiasAgent::flip(Page& page) {
  ++counts().flips_to_device;
  Transaction& cause = *page.cause;
  if (!has_host()) {
    end_flip(page);
    return;
  }
  const AddressMap& map = *endpoint().system_context().map;
  LineAddress line{cause.line.number() / page_lines_ * page_lines_};
  for (std::uint64_t i = 0; i < page_lines_; ++i, line = line.next()) {
    const auto place = map.find(line.address());
    if (place && place->home == endpoint().id() && place->coherent())
      ask_host(cause, line, SnoopFor::kInvalidate);
  }
}

void BiasAgent::end_flip(Page& page) {
  page.bias = Bias::kDevice;
  page.flips = false;
  page.asked = 0;
  Transaction& cause = *std::exchange(page.cause, nullptr);
  cause.shared_outside = false;
  const std::vector<Transaction*> waiting = std::exchange(page.waiting, {});
  go_on(cause);
  for (Transaction* const transaction : waiting) {
    if (!ask_first(*transaction)) go_on(*transaction);
  }
}

// ---- Messages

// Its own cache is snooped as by every coherency agent; the host is asked by CXL.cache.
void BiasAgent::address_snoop(Snoop& snoop, SnoopFor purpose, std::uint8_t lines) {
  Message& message = snoop.message;
  if (message.destination == endpoint().id()) return Dcoh::address_snoop(snoop, purpose, lines);
  switch (purpose) {
    case SnoopFor::kCurrent: message.opcode = Opcode::kRdCurr; break;
    case SnoopFor::kShare: message.opcode = Opcode::kRdShared; break;
    case SnoopFor::kInvalidate: message.opcode = Opcode::kRdOwnNoData; break;
  }
  message.pushes = answers_to(message.destination);
}

void BiasAgent::response(Message& message) {
  Snoop& answered = snoop(message.tag);
  if (!answered.transaction) [[unlikely]]
    return snoop_lost(message);
  if (message.meta == MetaValue::kShared) answered.transaction->shared_outside = true;
  host_keeps(LineAddress::of(message.address), message.meta);
  snoop_answered(answered, answered.account);
}

}  // namespace cxloom
