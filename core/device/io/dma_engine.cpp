#include "device/io/dma_engine.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/measure_table.hpp"
#include "component/component_time.hpp"
#include "component/memory_access.hpp"
#include "component/resource.hpp"
#include "kernel/event_handler.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

namespace {

struct DmaMeasured {
  double tags = 0;
  double posted = 0;
};

constexpr std::array kDmaMeasures{
    measure<&DmaMeasured::tags>(
        "tags_mean", "",
        "DMA reads under way, mean over time: each from when it is made until its last data have come"),
    measure<&DmaMeasured::posted>(
        "posted_mean", "",
        "DMA writes under way, mean over time: each from when it is made until the engine knows that memory "
        "has taken it"),
};

}  // namespace

DmaEngine::DmaEngine(const DmaParams& params, Endpoint& endpoint, Client& client)
    : Agent(endpoint),
      params_(params),
      client_(client),
      streams_(params.streams),
      memory_rate_(params.hbm.bandwidth.rate) {
  endpoint.add(*this);
  endpoint.bind(Channel::kIo, *this);
  endpoint.send_as_ready();  // data to be written come from its memory, requests for others at once
  endpoint.system_context().roles.declare<TransferEngine>(endpoint, endpoint.id(), *this);
  endpoint.kernel().measure(tags_, posted_);
}

Time DmaEngine::now() const { return endpoint().now(); }

void DmaEngine::aim(NodeId host, const std::vector<NodeId>& peers) {
  host_ = host;
  peer_nodes_ = peers;
  for (const NodeId peer : peers) {
    if (peers_.size() <= peer.index()) peers_.resize(peer.index() + 1);
    peers_[peer.index()] = true;
  }
}

DmaInitiator::Completion DmaEngine::completion() const {
  return {.most_bytes = static_cast<std::uint16_t>(params_.completion.value_or(params_.max_payload).count()),
          .lines = params_.lines_at_completer};
}

// ---- Transfers

void DmaEngine::begin(std::uint32_t stream, Transfer::Way way, Transfer& transfer) {
  ensure(stream < streams_.size(), "a transfer on a stream that there is not");
  ++transfers_;
  const Time ready = now() + params_.launch_time;
  streams_[stream].push_back({.transfer = &transfer, .way = way, .since = now(), .ready = ready});
  endpoint().kernel().schedule(ready, endpoint().source(), *this, kLaunched);
}

// Streams take turns, a request each, as far as they have tags and credits.
void DmaEngine::go_on() {
  if (std::exchange(working_, true)) return;
  for (std::uint32_t idle = 0; idle < streams_.size();) {
    const std::uint32_t stream = turn_;
    turn_ = turn_ + 1 == streams_.size() ? 0 : turn_ + 1;
    idle = make_request(stream) ? 0 : idle + 1;
  }
  working_ = false;
}

bool DmaEngine::make_request(std::uint32_t stream) {
  if (streams_[stream].empty()) return false;
  Job& job = streams_[stream].front();
  if (job.ready > now() || !has_room(job)) return false;
  if (has_piece(job)) {
    make_request(stream, job, bytes_at_once(job));
    return true;
  }
  return end_if_done(stream);  // the one behind it may have its turn
}

bool DmaEngine::has_piece(Job& job) {
  while (!job.all_given && job.rest.size.count() == 0) {
    const auto piece = job.transfer->next();
    job.all_given = !piece;
    if (piece) job.rest = *piece;
  }
  return job.rest.size.count() > 0;
}

// Up to a multiple of the most that a request may have, so that none crosses 4 KiB; peers are asked for what
// is theirs.
std::uint16_t DmaEngine::bytes_at_once(const Job& job) const {
  const std::uint64_t most =
      (job.way == Transfer::Way::kIn ? params_.max_read_request : params_.max_payload).count();
  std::uint64_t bytes = std::min(job.rest.size.count(), most - job.rest.at.value() % most);
  if (!peers_.empty()) {
    const AddressMap& map = endpoint().address_map();
    if (const auto* const region = map.region_of(job.rest.at))
      bytes = std::min(bytes, AddressMap::together(*region, job.rest.at));
  }
  return static_cast<std::uint16_t>(bytes);
}

NodeId DmaEngine::destination_of(Address at) const {
  const NodeId home = place_of(*this, made_, at).home;
  return home.index() < peers_.size() && peers_[home.index()] ? home : host_;
}

void DmaEngine::check(Address at, std::uint64_t bytes) const {
  const SystemContext& context = endpoint().system_context();
  const std::uint64_t end = at.value() + bytes;
  for (std::uint64_t next = at.value(); next < end;) {
    const auto* const region = endpoint().address_map().region_of(Address{next});
    if (!region) throw no_region(endpoint().address_map(), made_, Address{next});
    if (region->coherence == Coherence::kHdmD) {
      throw InputError({"DMA to memory that its device keeps coherent by bias",
                        to_text(Address{next}),
                        "a region with coherence: hdm-db or hdm-h, or without",
                        {}});
    }
    const auto reaches = [&](const Endpoint* cache) { return cache->address_map().region_of(Address{next}); };
    if (region->coherence == Coherence::kNone && std::ranges::any_of(context.caches, reaches)) {
      throw InputError({"DMA to memory that nobody keeps coherent, beside caches that may hold its lines",
                        to_text(Address{next}),
                        "a region with coherence: hdm-h (a home_agent of the host) or hdm-db (a dcoh of the "
                        "memory), or requesters without a cache",
                        {}});
    }
    next = region->base + region->size;
  }
}

void DmaEngine::make_request(std::uint32_t stream, Job& job, std::uint16_t bytes) {
  with_path("devices", [&] { with_path(endpoint().name(), [&] { check(job.rest.at, bytes); }); });
  const bool reads = job.way == Transfer::Way::kIn;
  Request& request = requests_.take();
  if (under_way_.size() <= request.index) under_way_.resize(request.index + 1);
  under_way_[request.index] = {stream, bytes};
  request.id = made_++;
  request.address = job.rest.at;
  request.kind = reads ? AccessKind::kRead : AccessKind::kWrite;
  request.size = bytes;
  const std::uint64_t end = job.rest.at.value() + bytes;
  request.lines =
      static_cast<std::uint16_t>((end + kLineBytes - 1) / kLineBytes - LineAddress::of(job.rest.at).number());
  request.set_thread(stream);
  const NodeId self = endpoint().id();
  request.begin(self, now());
  Time ready = now();
  if (!reads) {
    const Use use = use_memory(bytes);
    request.charge(Segment::kMediaQueue, use.start);
    request.charge(Segment::kMedia, use.end);
    ready = use.end;
  }
  Message& message = request.message;
  message.opcode = reads ? Opcode::kMRd : Opcode::kMWr;
  message.channel = Channel::kIo;
  message.address = job.rest.at;
  message.size = bytes;
  message.account = &request.account;
  message.tag = request.index;
  message.source = self;
  message.destination = destination_of(job.rest.at);
  job.rest = {Address{end}, Bytes{job.rest.size.count() - bytes}};
  ++job.under_way;
  (reads ? tags_ : posted_).change(now(), +1);
  client_.request_made(request);
  transmit(message, ready);
}

// Accesses follow each other at its bandwidth.
DmaEngine::Use DmaEngine::use_memory(std::uint64_t bytes) {
  const Time start = std::max(now(), memory_free_);
  if (start > memory_free_) memory_rate_.restart();
  memory_free_ = start + memory_rate_.advance(bytes);
  return {start, memory_free_ + params_.hbm.latency};
}

// ---- Ends

// A completion. They come in the order of their addresses, so that the one with the last bytes is the last.
void DmaEngine::receive(Message& message) {
  endpoint().release(message, now());
  SystemContext& context = endpoint().system_context();
  Request* const packet = context.posted.of(message);
  ensure(packet != nullptr, "a completion that is no answer to a DMA request");
  Request& request = requests_.at(static_cast<std::uint32_t>(packet->id));
  UnderWay& under_way = under_way_[request.index];
  ensure(under_way.left >= packet->size, "more data than a DMA request asked for");
  under_way.left -= packet->size;
  request.failed |= packet->failed;
  const Use use = packet->failed ? Use{now(), now()} : use_memory(packet->size);
  if (under_way.left == 0) {
    request.account = packet->account;
    request.message.hops = packet->message.hops;
    request.charge(Segment::kMediaQueue, use.start);
    request.charge(Segment::kMedia, use.end);
    tags_.change(now(), -1);
    endpoint().kernel().schedule(use.end, endpoint().source(), *this, kArrived, payload_of(request));
  }
  context.posted.give_back(endpoint().kernel(), *packet);
  go_on();
}

void DmaEngine::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kMemoryHasIt) {
    Request& request = requests_.at(object_of<Message>(payload).tag);
    request.charge(Segment::kPropagation, now());
    request.failed = request.message.failed;
    posted_.change(now(), -1);
    finish(request);
  } else if (kind == kArrived) {
    finish(object_of<Request>(payload));
  }
  go_on();
}

void DmaEngine::finish(Request& request) {
  const std::uint32_t stream = under_way_[request.index].stream;
  Job& job = streams_[stream].front();
  --job.under_way;
  if (request.failed) {
    request.message.size = 0;
    job.failed = job.all_given = true;
    job.rest.size = Bytes{};
  }
  request.target = place_of(*this, request.id, Address{request.address.value() + request.size - 1}).target;
  ++ended_requests_;
  client_.request_ended(request);
  requests_.give_back(request);
  end_if_done(stream);
}

// The piece behind it is asked for when there is room, and so may be known to be none only now.
bool DmaEngine::end_if_done(std::uint32_t stream) {
  Job& job = streams_[stream].front();
  if (job.under_way > 0 || has_piece(job)) return false;
  const Job ended = job;
  streams_[stream].pop_front();
  --transfers_;
  client_.transfer_ended(ended.since, ended.failed);
  if (ended.failed) {
    ended.transfer->failed(now());
  } else {
    ended.transfer->done(now());
  }
  return true;
}

void DmaEngine::resources(ResourceSink& sink) const {
  const auto add = [&](const char* name, std::uint32_t capacity, const char* key, const char* measure,
                       Traffic counts) {
    sink.add({.name = name,
              .stage = Stage::kRequester,
              .capacity = capacity,
              .occupancy = Occupancy::kLevel,
              .measures = {measure},
              .wait = Segment::kRequesterQueue,
              .counts = counts,
              .twice = {doubled(key, capacity)},
              .twice_text = std::to_string(2 * std::uint64_t{capacity}) + " of them"});
  };
  add("the tags of", params_.tags, "tags", "per_requester.*.tags_mean", Traffic::kReads);
  add("the posted writes of", params_.posted, "posted", "per_requester.*.posted_mean", Traffic::kWrites);
}

std::vector<MeasureInfo> DmaEngine::measures() { return infos_of(kDmaMeasures); }

void DmaEngine::report_use(MeasureSink& sink) const {
  report_all(kDmaMeasures, DmaMeasured{tags_.mean(), posted_.mean()}, sink);
}

std::string DmaEngine::activity() const {
  if (transfers_ == 0) return {};
  return "copies not at their end: " + std::to_string(transfers_) + ", " +
         counted(requests_.live(), "DMA request") + " under way";
}

}  // namespace cxloom
