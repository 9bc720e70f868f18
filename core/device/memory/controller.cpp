#include "device/memory/controller.hpp"

#include <utility>

#include "base/measure_table.hpp"
#include "base/value.hpp"
#include "component/component_time.hpp"
#include "component/failures.hpp"
#include "component/line_versions.hpp"
#include "component/replica_set.hpp"
#include "component/resource.hpp"
#include "component/shared_lines.hpp"
#include "device/memory/atomic_unit.hpp"
#include "device/memory/controller_measures.hpp"
#include "device/memory/dynamic_capacity.hpp"
#include "kernel/event_handler.hpp"
#include "memory/external/media.hpp"
#include "memory/media/media.hpp"
#include "memory/media/registry.hpp"
#include "memory/memory_owner.hpp"
#include "protocol/address_map.hpp"
#include "protocol/error_answer.hpp"

namespace cxloom {

MemoryController::MemoryController(const MemoryControllerParams& params, Endpoint& endpoint,
                                   const DeviceContext& context, bool takes_requests)
    : Agent(endpoint),
      kernel_(context.kernel),
      source_(context.kernel.new_source()),
      controller_time_(params.controller_time),
      credit_release_(params.credit_release),
      requests_(context.kernel, endpoint,
                params.apart() ? "a place in the read buffer" : "a queue slot of the memory controller",
                params.apart() ? params.read_buffer : params.queue),
      spares_(params.spares),
      atomic_time_(params.atomic_time),
      qos_(params.qos) {
  if (params.apart()) {
    writes_ = std::make_unique<Places>(kernel_, endpoint, "a place in the write buffer", params.write_buffer);
    kernel_.measure(writes_->level);
  }
  kernel_.measure(in_service_, requests_.level);
  counts_present_ = qos_ || !params.logical_devices.empty();
  releases_when_taken_ = credit_release_ == CreditRelease::kDrain && params.logical_devices.empty();
  if (params.posted_writes) buffered_ = std::make_unique<BufferedWrites>(*params.write_buffer);
  std::optional<Bytes> capacity = params.capacity;
  if (!params.logical_devices.empty()) {
    check_logical_devices(params.logical_devices, capacity);
    logical_ = std::make_unique<LogicalDevices>(params.logical_devices, kernel_, endpoint,
                                                static_cast<LogicalDeviceServer&>(*this), requests_.wanted);
    const LogicalDeviceExtent& last = logical_->extents().back();
    if (!capacity) capacity = Bytes{last.base.count() + last.capacity.count()};
  }
  MediaContext around{kernel_,  endpoint,     *this, context.media,       context.victims,
                      capacity, context.seed, {},    &context.prefetchers};
  media_ = with_path("media", [&] { return context.media.make(params.media, around); });
  capacity_ = capacity.value_or(media_->capacity().value_or(MemoryControllerParams::kCapacity));
  if (params.corrected_errors) sparing_unit().watch(*params.corrected_errors, capacity_, context.seed);
  endpoint.add(*this);
  endpoint.system_context().roles.declare<MemoryOwner>(endpoint, endpoint.id(), *this);
  if (takes_requests) {
    for (const Channel requests : {Channel::kM2SReq, Channel::kM2SRwD}) endpoint.bind(requests, *this);
  }
}

MemoryController::~MemoryController() = default;

void MemoryController::give_in_extents(std::unique_ptr<DynamicCapacity> extents) {
  extents_ = std::move(extents);
  kernel_.measure(*extents_);
  endpoint().system_context().roles.declare<DynamicMemory>(endpoint(), endpoint().id(), *this);
}

Time MemoryController::least_time() const {
  return controller_time_ + (buffered_ || extents_ || logical_ ? Time{} : media_->least_time());
}

// Its own media stay: they may have events.
ExternalMedia* MemoryController::put_media_outside(OutsideMedium& outside) {
  auto put = std::make_unique<ExternalMedia>(outside, kernel_, static_cast<MediaClient&>(*this));
  replaced_ = std::exchange(media_, std::move(put));
  asks_for_addresses_ = true;
  return static_cast<ExternalMedia*>(media_.get());
}

// Neither its places nor the media bound what it serves at once.
bool MemoryController::memory_unlimited() const {
  return media_->unlimited() && (!requests_.limit || (writes_ && !writes_->limit));
}

std::string MemoryController::answers_writes_early() const {
  if (buffered_) return "posted_writes";
  const std::string part = media_->answers_early();
  return part.empty() ? part : "media." + part;
}

void MemoryController::leave(Message& message) {
  --present_;
  if (logical_) logical_->answered(message);
  if (qos_) report_load(message);
}

void MemoryController::report_load(Message& message) {
  const std::uint64_t load = logical_ ? logical_->load_of(message.ld()) : present_;
  message.set_load(load >= qos_->severe     ? DevLoad::kSevere
                   : load >= qos_->moderate ? DevLoad::kModerate
                   : load >= qos_->optimal  ? DevLoad::kOptimal
                                            : DevLoad::kLight);
  counts_->loads += static_cast<std::uint64_t>(message.load());
  ++counts_->answers;
}

std::span<const LogicalDeviceExtent> MemoryController::logical_devices() const {
  return logical_ ? logical_->extents() : std::span<const LogicalDeviceExtent>{};
}

// It takes the controller's time, and no place. Nothing is moved. It leaves at its own instant, as all
// answers of logical devices do: promised ahead, it would hold up those that are ready before it.
void MemoryController::refuse(Message& message) {
  const Time now = kernel_.now();
  --present_;
  endpoint().release(message, now);
  message.charge(Segment::kController, now + controller_time_);
  make_error_answer(message, endpoint().id());
  kernel_.schedule(now + controller_time_, source_, *this, kRefused, payload_of(message));
}

void MemoryController::buffered(Message& message) {
  if (credit_release_ == CreditRelease::kDrain) endpoint().release(message, kernel_.now());
}

void MemoryController::start() {
  versions_ = endpoint().system_context().versions.get();
  shared_ = endpoint().system_context().shared.get();
  replicas_ = ReplicaSets::with_versions(endpoint().system_context().replicas.get());
  asks_for_addresses_ = media_->asks_for_addresses();
  straight_ = !buffered_ && !extents_ && !sparing_ && !atomics_;
  answers_in_its_instant_ =
      buffered_ || extents_ || counts_present_ || versions_ || shared_ || failing_ || replicas_;
}

[[gnu::hot]] void MemoryController::receive(Message& message) {
  if (failing_) [[unlikely]] {
    if (failing_->down()) {  // it had been kept for an earlier one, and its turn comes now
      endpoint().release(message, kernel_.now());
      return give_up(message);
    }
    failing_->came(message);
  }
  if (counts_present_) [[unlikely]] {
    ++present_;
    if (logical_) return logical_->arrive(message);
  }
  Places& places = places_of(message);
  if (places.limit && places.taken == *places.limit) {
    if (places.outside.empty()) places.wanted.join(places, kernel_.now());
    places.outside.push(message);
    ++places.outside_count;
    return;
  }
  admit(message, places);
}

[[gnu::hot]] void MemoryController::admit(Message& message, Places& places) {
  const Time now = kernel_.now();
  const Time ready = now + controller_time_;
  if (places.limit) {
    ++places.taken;
    if (writes_) places.level.change(now, +1);
  }
  if (releases_when_taken_) endpoint().release(message, now);
  in_service_.join(now);
  message.charge(Segment::kMediaQueue, now, Segment::kController, ready);
  const bool atomic = message.opcode == Opcode::kMemAtomic;
  const bool straight = straight_ && !atomic;
  Address address;
  if (asks_for_addresses_ || !straight) {
    const auto* const region = endpoint().system_context().map->region_of(message.address);
    ensure(region, "a request to an address that no region holds");
    address = AddressMap::address_at(*region, message.address, endpoint().id());
  }
  if (straight) [[likely]] {
    ++in_media_;
    return media_->access(message, address, ready);
  }
  if (extents_) [[unlikely]] {
    if (!extents_->holds(address, message.size, message.requester)) {
      if (places.limit) kernel_.schedule(ready, source_, *this, kPlaceFree, &places == writes_.get());
      ++counts_->extent_errors;
      message.failed = true;
      return answer(message, ready);
    }
  }
  if (atomic && !atomics_) [[unlikely]] {
    straight_ = false;  // others wait for it that go to its line
    atomics_ = std::make_unique<AtomicUnit>(atomic_time_, kernel_, source_, endpoint(), *media_, *this);
    atomics_->wait_for(in_media_, media_busy_until_);
  } else if (buffered_) {
    if (message.opcode == Opcode::kMemWr) return post(message, address, ready);
    if (!atomic && buffered_->hold(address, message.size)) {
      ++counts_->buffer_hits;
      if (places.limit) kernel_.schedule(ready, source_, *this, kPlaceFree, 0);
      return answer(message, ready);
    }
  }
  to_media(message, address, ready);
}

void MemoryController::copy_access(Message& message, Address address) {
  media_->access(message, address, kernel_.now());
}

void MemoryController::goes_on(Message& message, Address address, Time ready) {
  if (atomics_) [[unlikely]] {
    atomics_->access(message, address, ready);
  } else {
    ++in_media_;
    media_->access(message, address, ready);
  }
}

// Another message carries the write to the media, so that its own can be the answer.
void MemoryController::post(Message& message, Address address, Time ready) {
  Message& write = posted_.take();
  write.address = address;
  write.opcode = message.opcode;
  write.channel = message.channel;
  write.source = message.source;
  write.destination = message.destination;
  write.requester = message.requester;
  write.size = message.size;
  buffered_->add(address, write.size);
  to_media(write, address, ready);
  answer(message, ready);
}

[[gnu::hot]] void MemoryController::media_done(Message& message, Time at) {
  if (!straight_) [[unlikely]] {
    if (sparing_ && sparing_->media_done(message, at)) return;
    if (atomics_ && atomics_->media_done(message, at)) return;
  }
  --in_media_;  // which nobody asks for once there was an atomic operation
  media_busy_until_ = std::max(media_busy_until_, at);
  const bool write = message.opcode == Opcode::kMemWr;
  // The buffer comes first, as it is the same each time: whether it is a write, nobody can foresee.
  if (buffered_ && write) return kernel_.schedule(at, source_, *this, kWritten, payload_of(message));
  if (places_of(message).limit) kernel_.schedule(at, source_, *this, kPlaceFree, write);
  answer(message, at);
}

// False: the device has failed since it came, and nobody is answered.
bool MemoryController::is_to_be_answered(Message& message) {
  if (counts_present_) leave(message);
  if (failing_) {
    if (!failing_->ends(message)) return false;
    failing_->serve(message, counts_->viral_errors, counts_->poison_delivered);
  }
  if (message.failed) return true;
  if (versions_ && message.persistent) {
    if (message.opcode == Opcode::kMemWr) {
      versions_->stored(kernel_, message);
    } else {
      message.version = versions_->brought(kernel_, LineAddress::of(message.address));
    }
  }
  if (shared_) shared_->served(message);
  if (replicas_) replicas_->served(message, endpoint().id());
  return true;
}

[[gnu::hot]] void MemoryController::answer(Message& message, Time at) {
  // The answers to posted writes, and to what is in no extent, overtake those of reads that the media have
  // promised for later. What is present is counted up to the instant of its answer, and then a write is
  // durable.
  if (answers_in_its_instant_) [[unlikely]] {
    if (at > kernel_.now()) {
      kernel_.schedule(at, source_, *this, kAnswer, payload_of(message));
      return;
    }
    if (!is_to_be_answered(message)) return lose(message);
  }
  in_service_.leave_at(at);
  if (credit_release_ == CreditRelease::kCompletion) endpoint().release(message, at);
  if (message.failed && !message.poisoned) [[unlikely]] {
    make_error_answer(message, endpoint().id());
  } else {
    const bool write = message.opcode == Opcode::kMemWr;
    message.opcode = write ? Opcode::kCmp : Opcode::kMemData;
    message.channel = write ? channel_of(Opcode::kCmp) : channel_of(Opcode::kMemData);
    std::swap(message.source, message.destination);
  }
  if (!front_) return transmit(message, at);
  kernel_.schedule(at, source_, *this, kFront, payload_of(message));
}

// It was taken before the device failed.
void MemoryController::lose(Message& message) {
  const Time now = kernel_.now();
  in_service_.leave_at(now);
  if (credit_release_ == CreditRelease::kCompletion) endpoint().release(message, now);
  give_up(message);
}

// An agent of the device waits for what it asked for itself. What others asked for is lost.
void MemoryController::give_up(Message& message) {
  if (front_ && message.source == endpoint().id() && is_request(message))
    return front_->memory_answered(message);
  endpoint().system_context().failures->lose_inside(message, kernel_.now());
}

void MemoryController::expect_failures() { failing_ = std::make_unique<FailingMemory>(); }

void MemoryController::failed() {
  failing_->fail();
  const auto give_up_waiting = [this](Message& message, bool released) {
    failing_->ends(message);
    if (!released) endpoint().release(message, kernel_.now());
    message.charge(Segment::kMediaQueue, kernel_.now());
    give_up(message);
  };
  for (Places* const places : {&requests_, writes_.get()}) {
    if (!places || places->outside.empty()) continue;
    places->wanted.leave(*places);
    places->outside_count = 0;
    while (!places->outside.empty()) give_up_waiting(places->outside.pop(), false);
  }
  if (!logical_) return;
  present_ -= logical_->waiting();
  logical_->abandon([&](Message& message, bool in_queue) {
    give_up_waiting(message, in_queue && credit_release_ == CreditRelease::kDrain);
  });
}

void MemoryController::free_place(Places& places) {
  --places.taken;
  if (writes_) places.level.change(kernel_.now(), -1);
  if (logical_) [[unlikely]]
    return logical_->serve();
  if (places.outside.empty()) return;
  --places.outside_count;
  Message& next = places.outside.pop();
  if (places.outside.empty()) places.wanted.leave(places);
  admit(next, places);
}

void MemoryController::wake(std::uint8_t kind, std::uint64_t payload) {
  if (kind == kPlaceFree) return free_place(writes_ && payload != 0 ? *writes_ : requests_);
  auto& message = object_of<Message>(payload);
  if (kind == kFront) return front_->memory_answered(message);
  if (kind == kAnswer) return answer(message, kernel_.now());
  if (kind == kRefused) {
    if (failing_ && !failing_->ends(message)) return give_up(message);
    transmit(message, kernel_.now());
    return;
  }
  buffered_->remove(message.address, message.size);
  posted_.give_back(message);
  free_place(*writes_);
}

void MemoryController::open_window(Time now) { media_->open_window(now); }

void MemoryController::close_window(Time now) { media_->close_window(now); }

std::vector<MeasureInfo> MemoryController::measures() {
  return joined(infos_of(kControllerMeasures), SparingUnit::measures());
}

void MemoryController::report_memory(MeasureSink& sink) const {
  const LevelMonitor& queue = in_service_.monitor();
  ControllerMeasured measured{counts_.window()};
  measured.queue_mean = queue.mean();
  measured.queue_p99 = queue.quantile(0.99);
  measured.queue_max = queue.maximum();
  if (writes_ && requests_.limit) {
    measured.reads_mean = requests_.level.mean();
    measured.reads_max = requests_.level.maximum();
  }
  if (writes_ && writes_->limit) {
    measured.writes_mean = writes_->level.mean();
    measured.writes_max = writes_->level.maximum();
  }
  measured.buffers = buffered_ != nullptr;
  measured.has_extents = extents_ != nullptr;
  measured.fails = failing_ != nullptr;
  if (extents_) {
    Value::Map bytes;
    for (const auto& [host, mean] : extents_->means()) bytes.emplace_back(host, mean);
    measured.extent_bytes = std::move(bytes);
  }
  if (logical_) measured.logical_devices = logical_->report();
  if (qos_)
    measured.load = mean_value(static_cast<double>(measured.loads), static_cast<double>(measured.answers));
  report_all(kControllerMeasures, measured, sink);
  if (sparing_) sparing_->report(sink);
  media_->report(sink);
}

void MemoryController::resources(ResourceSink& sink) const {
  const auto places = [&](std::string name, std::string parameter, const char* measure, Traffic counts,
                          std::optional<std::uint32_t> most) {
    Resource found{.name = std::move(name),
                   .stage = Stage::kPlaces,
                   .capacity = most,
                   .occupancy = Occupancy::kLevel,
                   .measures = {std::string("per_memory.*.") + measure},
                   .wait = Segment::kMediaQueue,
                   .counts = counts,
                   .part = "memory"};
    if (most) {
      found.twice = {doubled(std::move(parameter), *most)};
      found.twice_text = std::to_string(2 * std::uint64_t{*most}) + " places";
    }
    sink.add(std::move(found));
  };
  if (writes_) {
    places("the read buffer of", "read_buffer", "read_places_mean", Traffic::kReads, requests_.limit);
    places("the write buffer of", "write_buffer", "write_places_mean", Traffic::kWrites, writes_->limit);
  } else {
    places("the slots of", "queue", "queue_mean", Traffic::kRequests, requests_.limit);
  }
  if (logical_) logical_->resources(sink);
  ResourcesWithin of_media("per_memory.*.", "media.", sink);
  of_media.of_part("memory");
  media_->resources(of_media);
  if (!of_media.any()) of_media.add(waiting_for_media("the media of"));
}

std::string MemoryController::activity() const {
  const std::int64_t in_service = in_service_.level();
  const std::size_t outside =
      requests_.outside_count + (writes_ ? writes_->outside_count : 0) + (logical_ ? logical_->waiting() : 0);
  const std::uint64_t posted = posted_.live();
  if (in_service == 0 && outside == 0 && posted == 0) return {};
  std::string text = counted(static_cast<std::uint64_t>(in_service), "request") + " in service, " +
                     std::to_string(outside) + " waiting outside" +
                     (posted != 0 ? ", " + counted(posted, "posted write") + " buffered" : "");
  each_medium(*media_, [&](const Media& media) {
    if (const std::string held = media.held_back(); !held.empty()) text += "; " + held;
  });
  return text;
}

}  // namespace cxloom
