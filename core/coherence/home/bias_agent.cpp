#include "coherence/home/bias_agent.hpp"

#include <algorithm>
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
  const std::uint32_t host = peers().known(request.source);
  const bool here = transaction.slot != kNoSlot && filter().has_owners(transaction.slot);
  if (here || request.meta != MetaValue::kAny) {
    if (request.meta != MetaValue::kInvalid) host_keeps(transaction.line, host, MetaValue::kShared);
    return LineState::kShared;
  }
  if (losses()) alone_[transaction.line.number()] = host;
  return LineState::kClean;
}

bool BiasAgent::take_notice(Transaction& transaction) {
  const LineAddress line = transaction.line;
  const std::uint32_t peer = peers().known(transaction.request->source);
  if (!Dcoh::take_notice(transaction)) return false;
  if (!is_own(peer)) host_keeps(line, peer, MetaValue::kInvalid);
  return true;
}

// A write-back that is refused is of no host that has the line.
bool BiasAgent::take_out_of_turn(Message& message) {
  const LineAddress line = LineAddress::of(message.address);
  const std::uint32_t peer = peers().known(message.source);
  const MetaValue meta = message.meta;
  if (!Dcoh::take_out_of_turn(message)) return false;
  if (!is_own(peer)) host_keeps(line, peer, meta);
  return true;
}

// What the filter does not know of a host follows from what it was granted, and has given back.
bool BiasAgent::owns(LineAddress line, std::uint32_t peer) const {
  if (is_own(peer)) return Dcoh::owns(line, peer);
  const auto found = alone_.find(line.number());
  return found != alone_.end() && found->second == peer;
}

void BiasAgent::presume_dead(std::uint32_t peer) {
  if (is_own(peer)) return Dcoh::presume_dead(peer);
  std::erase_if(alone_, [&](const auto& line_and_host) {
    if (line_and_host.second != peer) return false;
    losses()->poison(LineAddress{line_and_host.first});
    return true;
  });
  if (copies_ == 0) gone_.insert(peer);
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
    begin_flip(page, transaction);
    return true;
  }
  if (!device && request.meta != MetaValue::kInvalid) {  // a host wants a copy
    const std::uint32_t host = know_host(request);
    if (page.bias == Bias::kHost && page.host != host && page.host != DirectoryPeers::kNone) {
      begin_flip(page, transaction);  // one of the two is a former host
      return true;
    }
    transaction.in_page = true;
    ++page.under_way;
    ++copies_;
    gone_.erase(host);
    if (page.bias == Bias::kDevice) ++counts().flips_to_host;
    page.bias = Bias::kHost;
    page.host = host;
    page.asked = 0;
    return false;
  }
  // Others without a cache leave the bias as it is.
  const std::uint32_t host = asked_host(page);
  if (page.bias == Bias::kDevice || host == DirectoryPeers::kNone || request.source == peers().node(host))
    return false;
  ++page.under_way;
  const Wish wish = wish_of(request);
  ask_host(transaction, transaction.line, host,
           wish.own       ? SnoopFor::kInvalidate
           : wish.current ? SnoopFor::kCurrent
                          : SnoopFor::kShare);
  return true;
}

// The caches of one host are one to the device. It could not tell two hosts' apart, but those of one that it
// has been unbound from: what that one asked for before comes to an end.
std::uint32_t BiasAgent::know_host(const Message& request) {
  const std::uint32_t peer = peer_of(request.source);
  if (std::ranges::find(former_, request.source) != former_.end()) return peer;
  if (host_ == DirectoryPeers::kNone) host_ = peer;
  if (peer == host_) return peer;
  const auto name = [this](NodeId node) { return "'" + endpoint().system_context().name_of(node) + "'"; };
  throw InputError(
      {"memory kept coherent by bias (coherence: hdm-d) may be cached by one host only",
       name(peers().node(host_)) + " and " + name(request.source) + " cache that of " + this->name(),
       "one host with a cache, or coherence: hdm-db",
       {}},
      "address_map[" + std::to_string(*endpoint().system_context().map->region_at(request.address)) +
          "].coherence");
}

void BiasAgent::ask_host(Transaction& transaction, LineAddress line, std::uint32_t host, SnoopFor purpose) {
  Message* const request = transaction.request;
  if (request) request->charge(Segment::kHomeQueue, now());
  transaction.asks = true;
  transaction.asked_at = now();
  ++transaction.snoops_left;
  send_snoop(transaction, line, host, purpose, 0, request ? *request : no_cause(peers().node(host)));
}

void BiasAgent::asked(Transaction& transaction) {
  Page& page = page_of(transaction.line);
  if (page.cause == &transaction) {
    end_flip(page);
  } else {
    leave_page(page);
    go_on(transaction);
  }
}

void BiasAgent::closed(LineAddress line) {
  --copies_;
  leave_page(page_of(line));
}

void BiasAgent::leave_page(Page& page) {
  if (--page.under_way == 0 && page.flips && page.cause->snoops_left == 0) flip(page);
}

// ---- A page flips to the device

void BiasAgent::begin_flip(Page& page, Transaction& cause) {
  page.flips = true;
  page.cause = &cause;
  if (page.under_way == 0) flip(page);
}

// The host gets nothing of the page, and is asked for none of its lines: now it gives up all of them.
void BiasAgent::flip(Page& page) {
  ++counts().flips_to_device;
  const std::uint32_t host = asked_host(page);
  if (host == DirectoryPeers::kNone) {
    end_flip(page);
    return;
  }
  const AddressMap& map = *endpoint().system_context().map;
  Transaction& cause = *page.cause;
  LineAddress line{cause.line.number() / page_lines_ * page_lines_};
  for (std::uint64_t i = 0; i < page_lines_; ++i, line = line.next()) {
    const auto place = map.find(line.address());
    if (place && place->home == endpoint().id() && place->coherent())
      ask_host(cause, line, host, SnoopFor::kInvalidate);
  }
}

void BiasAgent::end_flip(Page& page) {
  page.bias = Bias::kDevice;
  page.host = DirectoryPeers::kNone;
  page.flips = false;
  page.asked = 0;
  Transaction& cause = *std::exchange(page.cause, nullptr);
  cause.shared_outside = false;
  const std::vector<Transaction*> waiting = std::exchange(page.waiting, {});
  if (!cause.request) {
    close(cause);  // the page was taken back
  } else if (!ask_first(cause)) {
    go_on(cause);
  }
  for (Transaction* const transaction : waiting) {
    if (!ask_first(*transaction)) go_on(*transaction);
  }
}

// ---- A host that it is unbound from

// Its lines are not followed: each page that may have some is asked for as a whole. A page of which all lines
// are busy is taken back behind them.
void BiasAgent::recall(NodeId cache) {
  RecallingAgent::recall(cache);
  part_from(cache);
  const std::uint32_t peer = peers().known(cache);
  std::vector<std::uint64_t> its_own;
  for (const auto& [number, page] : pages_) {
    if (page.bias == Bias::kHost && page.host == peer && peer != DirectoryPeers::kNone)
      its_own.push_back(number);
  }
  std::ranges::sort(its_own);
  for (const std::uint64_t number : its_own) {
    LineAddress line{number * page_lines_};
    for (std::uint64_t i = 0; i < page_lines_ && under_way(line); ++i) line = line.next();
    if (!under_way(line) && line.number() / page_lines_ == number) take_back(line);
  }
}

void BiasAgent::take_back(LineAddress line) {
  const auto found = pages_.find(line.number() / page_lines_);
  if (found == pages_.end()) return;
  Page& page = found->second;
  const bool has_some = page.bias == Bias::kHost && page.host != DirectoryPeers::kNone;
  if (!page.flips && has_some && is_recalled(peers().node(page.host)))
    begin_flip(page, begin_take_back(line));
}

void BiasAgent::end_recall(NodeId cache) {
  RecallingAgent::end_recall(cache);
  std::erase(former_, cache);
}

void BiasAgent::cut_off(NodeId cache) {
  RecallingAgent::cut_off(cache);
  part_from(cache);
}

void BiasAgent::part_from(NodeId cache) {
  if (std::ranges::find(former_, cache) == former_.end()) former_.push_back(cache);
  if (host_ != DirectoryPeers::kNone && peers().node(host_) == cache) host_ = DirectoryPeers::kNone;
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
  host_keeps(LineAddress::of(message.address), answered.peer, message.meta);
  snoop_answered(answered, answered.account);
}

}  // namespace cxloom
