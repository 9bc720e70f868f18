#include "host.hpp"

#include <utility>

#include <base/logging.hh>
#include <base/trace.hh>
#include <debug/CxlHost.hh>
#include <sim/system.hh>

namespace gem5::cxl {

namespace {

const char* name_of(Intent intent) {
  switch (intent) {
    case Intent::kCurrent: return "read";
    case Intent::kShare: return "read to share";
    case Intent::kOwn: return "read to own";
    case Intent::kUpgrade: return "upgrade";
    case Intent::kWrite: return "write";
    case Intent::kWriteBack: return "write-back";
    case Intent::kCleanEvict: return "notice";
  }
  return "";
}

}  // namespace

Host::Stats::Stats(Host& host, const std::vector<std::string>& segments)
    : Group(&host),
      ADD_STAT(reads, statistics::units::Count::get(), "Reads that were answered"),
      ADD_STAT(writes, statistics::units::Count::get(), "Writes and write-backs that were answered"),
      ADD_STAT(evictions, statistics::units::Count::get(), "Notices of clean copies that left"),
      ADD_STAT(snoops, statistics::units::Count::get(), "Lines that were taken from the caches"),
      ADD_STAT(dirtySnoops, statistics::units::Count::get(), "Of these, those that had been written"),
      ADD_STAT(readLatency, statistics::units::Tick::get(), "Time of the reads in the path, summed"),
      ADD_STAT(meanReadLatency,
               statistics::units::Rate<statistics::units::Tick, statistics::units::Count>::get(),
               "Mean time of a read in the path", readLatency / reads),
      ADD_STAT(readSegments, statistics::units::Tick::get(), "Where the time of the reads went, summed") {
  readSegments.init(segments.size());
  for (std::size_t i = 0; i < segments.size(); ++i) readSegments.subname(i, segments[i]);
  readSegments.flags(statistics::nozero);
}

Host::Host(const CxlHostParams& params)
    : SimObject(params),
      cpu_side_(name() + ".cpu_side", *this),
      recalls_(
          name() + ".recalls", params.system->cacheLineSize(), params.system->getRequestorId(this),
          [this](std::uint64_t number, bool dirty) { taken(number, dirty); },
          [this](Addr line) { return held_.count(line) != 0; }),
      system_(*params.system),
      path_(*params.fabric),
      memory_(*params.memory),
      device_(params.device),
      offset_(params.offset),
      shares_(params.shares),
      requestor_(params.system->getRequestorId(this)),
      line_bytes_(params.system->cacheLineSize()),
      take_in_event_(
          [this] {
            if (!waits_for_retry_) send_answers();
          },
          name() + ".take_in"),
      requests_probe_(getProbeManager(), "PktRequest"),
      answers_probe_(getProbeManager(), "PktResponse"),
      stats_(std::make_unique<Stats>(*this, params.fabric->segments())) {}

void Host::init() {
  SimObject::init();
  fatal_if(!cpu_side_.isConnected(), "%s: cpu_side is not connected to a bus.", name());
  fatal_if(line_bytes_ != 64, "%s: the lines of CXL have 64 bytes, those of this system %u.", name(),
           line_bytes_);
  seat_ = path_.seat(*this);
  memory_.reached_by(*this);
  fatal_if(shares_ && !seat_.coherent, "%s: shares is set, and nobody snoops the copies of \"%s\".", name(),
           device_);
  fatal_if(
      seat_.coherent && !cpu_side_.isSnooping() && !recalls(),
      "%s: lines of \"%s\" are taken back from its caches, and what cpu_side is connected to passes no "
      "snoops to any: Ruby does not, nor does an IOXBar. Connect the last bus of classic caches; or build "
      "gem5 with Ruby's protocol CXL_MESI of this module and connect `recalls`; or leave external_cache out "
      "of the host.",
      name(), device_);
  fatal_if(recalls() && shares_, "%s: shares is set, and caches of Ruby own what they read.", name());
  cpu_side_.sendRangeChange();
}

Port& Host::getPort(const std::string& port, PortID index) {
  if (port == "cpu_side") return cpu_side_;
  if (port == "recalls") return recalls_;
  return SimObject::getPort(port, index);
}

bool Host::empty() const { return unanswered_ == 0 && answers_.empty() && snoops_out_ == 0; }

// The path has heard nothing of what caches got while no time passed: once time passed it would let others
// have the same lines. What changes to timing mode drains first, and processors take no snoop without time
// afterwards.
DrainState Host::drain() {
  if (!system_.isTimingMode())
    for (const Addr line : std::exchange(untimed_, {})) take(line, false);
  return empty() ? DrainState::Drained : DrainState::Draining;
}

void Host::drained_if_empty() {
  if (drainState() == DrainState::Draining && empty()) signalDrainDone();
}

// ---- Requests

// Nothing: the home of the line hears nothing of it.
std::optional<Intent> Host::intent_of(const Packet& packet) {
  if (packet.isEviction() || packet.cmd == MemCmd::WriteClean) return intent_of_eviction(packet);
  if (packet.isWrite()) return Intent::kWrite;
  if (recalls()) return Intent::kOwn;  // Ruby does not say which reads are to write
  // A store of a whole line (InvalidateReq) wants no bytes; where no shared copy is there they come all the
  // same.
  if (seat_.coherent && (packet.isUpgrade() || packet.cmd == MemCmd::InvalidateReq)) return Intent::kUpgrade;
  if (!seat_.coherent || packet.isClean() || !packet.fromCache() || packet.req->isUncacheable())
    return Intent::kCurrent;
  // A bus that is the point of coherency upgrades copies without a word to the memory: each copy may be
  // written.
  return packet.needsWritable() || !shares_ ? Intent::kOwn : Intent::kShare;
}

// A line leaves a cache. For its home it leaves with the last copy of this host.
std::optional<Intent> Host::intent_of_eviction(const Packet& packet) {
  const bool dirty = packet.cmd == MemCmd::WritebackDirty || packet.cmd == MemCmd::WriteClean;
  if (!seat_.coherent) return dirty ? std::optional(Intent::kWrite) : std::nullopt;
  const Addr line = line_of(packet);
  const bool copies = packet.isBlockCached() || packet.hasSharers() || packet.cmd == MemCmd::WriteClean;
  if (copies) {
    if (dirty) written_early_.insert(line);
    return std::nullopt;
  }
  const bool early = written_early_.erase(line) > 0;
  return dirty || early ? Intent::kWriteBack : Intent::kCleanEvict;
}

void Host::give(const Access& access) {
  DPRINTF(CxlHost, "access %s of %d bytes at %#x, ready at %d\n", name_of(access.intent), access.bytes,
          access.address, access.ready);
  ++unanswered_;
  path_.give(seat_.number, access);
}

bool Host::request(PacketPtr packet) {
  DPRINTF(CxlHost, "request %s\n", packet->print());
  if (packet->cacheResponding() ||
      packet->isExpressSnoop()) {  // a cache of this host has the line, and answers
    ended_.reset(packet);
    return true;
  }
  requests_probe_.notify(probing::PacketInfo(packet));
  if (recalls() && packet->isWrite()) {
    take_in(packet);
    return true;
  }
  const std::optional<Intent> intent = intent_of(*packet);
  const Tick ready = curTick() + packet->headerDelay + (packet->isWrite() ? packet->payloadDelay : 0);
  packet->headerDelay = 0;
  packet->payloadDelay = 0;
  const Addr line = line_of(*packet);
  // A line that is asked for anew, and nobody else of the host has it: its last copy has left unseen.
  if ((intent == Intent::kOwn || intent == Intent::kShare) && !packet->hasSharers() &&
      written_early_.erase(line) > 0)
    give({address_of(line), line_bytes_, Intent::kWriteBack, curTick(), nullptr});
  const bool answered = packet->needsResponse();
  HeldRequest* const held = answered ? &hold(packet, ready) : nullptr;
  if (packet->isWrite()) memory_.access(packet);
  const bool leaves = intent == Intent::kWriteBack || intent == Intent::kCleanEvict;
  if (intent)
    give({address_of(packet->getAddr()), packet->getSize(), *intent, leaves ? curTick() : ready, held});
  if (!answered) ended_.reset(packet);
  return true;
}

// A written line that Ruby gives up. Its directory does nothing with the line until it hears that the bytes
// are here, and hears so at once: a recall may wait for that, and what the path does then wait for the
// recall.
void Host::take_in(PacketPtr packet) {
  packet->headerDelay = 0;
  packet->payloadDelay = 0;
  const Addr line = line_of(*packet);
  if (!recalls_.brings(line)) give({address_of(line), line_bytes_, Intent::kWriteBack, curTick(), nullptr});
  memory_.access(packet);
  answers_.push_back(packet);
  // Not from within the request: its sender is in the midst of it.
  if (!take_in_event_.scheduled()) schedule(take_in_event_, curTick());
}

HeldRequest& Host::hold(PacketPtr packet, Tick ready) {
  if (free_held_.empty()) {
    all_held_.push_back(std::make_unique<HeldRequest>(name() + ".held"));
    free_held_.push_back(all_held_.back().get());
  }
  HeldRequest& held = *free_held_.back();
  free_held_.pop_back();
  held.hold(packet, line_bytes_, ready, order_++);
  held_.emplace(packet->getBlockAddr(line_bytes_), &held);
  return held;
}

void Host::let_go(HeldRequest& held) {
  const auto [first, last] = held_.equal_range(held.packet()->getBlockAddr(line_bytes_));
  for (auto it = first; it != last; ++it) {
    if (it->second != &held) continue;
    held_.erase(it);
    break;
  }
  free_held_.push_back(&held);
}

// ---- Answers

void Host::answered(const Answer& answer) {
  --unanswered_;
  if (answer.intent == Intent::kCleanEvict) {
    ++stats_->evictions;
  } else if (answer.intent == Intent::kWrite || answer.intent == Intent::kWriteBack) {
    ++stats_->writes;
  } else {
    ++stats_->reads;
    stats_->readLatency += answer.latency;
    for (std::size_t i = 0; i < stats_->readSegments.size(); ++i)
      stats_->readSegments[i] += static_cast<double>(answer.segments[i]);
  }
  if (answer.held == nullptr) return drained_if_empty();
  let_go(*answer.held);
  PacketPtr packet = answer.held->release();
  // A store-conditional whose copy was taken meanwhile gets the line, and fails: no load-locked for the
  // memory to watch.
  if (packet->cmd == MemCmd::SCUpgradeFailReq) memory_.functionalAccess(packet);
  if (!packet->isResponse()) memory_.access(packet);
  if (answer.shared && !packet->hasSharers()) packet->setHasSharers();
  DPRINTF(CxlHost, "answer %s\n", packet->print());
  answers_.push_back(packet);
  if (!waits_for_retry_) send_answers();
}

void Host::send_answers() {
  waits_for_retry_ = false;
  while (!answers_.empty()) {
    const probing::PacketInfo answer(answers_.front());  // once it is sent it may be gone
    if (!cpu_side_.sendTimingResp(answers_.front())) {
      waits_for_retry_ = true;
      return;
    }
    answers_probe_.notify(answer);
    answers_.pop_front();
  }
  drained_if_empty();
}

// ---- Snoops

void Host::snoop(std::uint64_t number, Addr address, bool to_share) {
  const Addr line = address - offset_ + memory_.start();
  if (recalls()) {
    ++stats_->snoops;
    ++snoops_out_;
    return recalls_.take(number, line);
  }
  // Caches lose their copies at once, and give the bytes of a dirty one: this and no other request does both.
  // None stays where one might: a cache that keeps a dirty line as its owner takes it back from all of gem5
  // in no time, and not from other hosts.
  Packet packet(std::make_shared<Request>(line, line_bytes_, 0, requestor_), MemCmd::ReadExReq, line_bytes_);
  packet.setExpressSnoop();
  auto number_of = std::make_unique<SnoopNumber>(number);
  packet.senderState = number_of.get();
  // Requests of the line that wait here come after this snoop.
  const auto [first, last] = held_.equal_range(line);
  for (auto it = first; it != last; ++it) it->second->snoop(packet, order_++);
  cpu_side_.sendTimingSnoopReq(&packet);
  DPRINTF(CxlHost, "snoop %s: %s\n", packet.print(), packet.cacheResponding() ? "dirty" : "not dirty");
  ++stats_->snoops;
  const bool early = written_early_.erase(line) > 0;
  if (packet.cacheResponding()) {
    ++stats_->dirtySnoops;
    ++snoops_out_;
    static_cast<void>(number_of.release());  // it comes back with the bytes
    return;
  }
  // As if a copy stayed, others get the line to share, and this host, too, when it asks again.
  path_.snooped(seat_.number, number,
                early                 ? Snooped::kDirty
                : to_share && shares_ ? Snooped::kClean
                                      : Snooped::kNothing);
}

bool Host::snoop_answer(PacketPtr packet) {
  DPRINTF(CxlHost, "snoop answered %s\n", packet->print());
  const std::unique_ptr<Packet> answer(packet);
  const std::unique_ptr<Packet::SenderState> state(packet->popSenderState());
  write(*packet);
  --snoops_out_;
  path_.snooped(seat_.number, static_cast<const SnoopNumber&>(*state).number, Snooped::kDirty);
  drained_if_empty();
  return true;
}

// No cache of Ruby has the line any more.
void Host::taken(std::uint64_t number, bool dirty) {
  DPRINTF(CxlHost, "taken: %s\n", dirty ? "dirty" : "not dirty");
  if (dirty) ++stats_->dirtySnoops;
  --snoops_out_;
  path_.snooped(seat_.number, number, dirty ? Snooped::kDirty : Snooped::kNothing);
  drained_if_empty();
}

// The bytes of a line that a cache has given up.
void Host::write(Packet& answer) {
  Packet dirty(answer.req, MemCmd::WriteReq, line_bytes_);
  dirty.dataStatic(answer.getPtr<std::uint8_t>());
  memory_.functionalAccess(&dirty);
}

// ---- Without time

Tick Host::atomic(PacketPtr packet) {
  if (!packet->isEviction()) ask_others(*packet);
  // The owner of a dirty line, in another cache of this host, gives it.
  if (packet->cacheResponding()) return 0;
  requests_probe_.notify(probing::PacketInfo(packet));
  const std::optional<Intent> intent = intent_of(*packet);
  const Access access = {address_of(packet->getAddr()), packet->getSize(),
                         intent.value_or(Intent::kCleanEvict), curTick(), nullptr};
  if (packet->isEviction() && !packet->isBlockCached()) untimed_.erase(line_of(*packet));
  if (seat_.coherent && !packet->isEviction() && packet->fromCache()) untimed_.insert(line_of(*packet));
  memory_.access(packet);
  if (packet->isResponse()) answers_probe_.notify(probing::PacketInfo(packet));
  return access.intent == Intent::kCleanEvict ? 0 : path_.estimate(seat_.number, access);
}

// Hosts that share keep copies beside those that are read, so that a load-locked leaves the reservations of
// others alone: store-conditionals of two hosts in step would else fail for ever.
void Host::ask_others(Packet& packet) {
  const bool to_share = shares_ && packet.isRead() && !packet.needsWritable();
  for (Host* const other : memory_.hosts())
    if (other != this && !other->recalls() && other->take(line_of(packet), to_share) && to_share)
      packet.setHasSharers();
}

bool Host::take(Addr line, bool to_share) {
  Packet snoop(std::make_shared<Request>(line, line_bytes_, 0, requestor_),
               to_share ? MemCmd::ReadSharedReq : MemCmd::ReadExReq, line_bytes_);
  snoop.allocate();
  snoop.setExpressSnoop();
  cpu_side_.sendAtomicSnoop(&snoop);
  if (snoop.cacheResponding()) write(snoop);
  return snoop.hasSharers();
}

void Host::functional(PacketPtr packet) {
  packet->pushLabel(name());
  // A dirty copy of another host is newer than the memory.
  for (Host* const other : memory_.hosts()) {
    if (other == this || packet->isResponse()) continue;
    if (other->recalls()) other->recalls_.sendFunctional(packet);
    else other->cpu_side_.sendFunctionalSnoop(packet);
  }
  if (!packet->isResponse()) memory_.functionalAccess(packet);
  for (PacketPtr answer : answers_)
    if (packet->trySatisfyFunctional(answer)) break;
  packet->popLabel();
}

}  // namespace gem5::cxl
