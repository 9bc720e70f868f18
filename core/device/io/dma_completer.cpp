#include "device/io/dma_completer.hpp"

#include <algorithm>
#include <utility>

#include "coherence/common/write_pull.hpp"
#include "component/component_time.hpp"
#include "component/line_versions.hpp"
#include "component/memory_access.hpp"
#include "component/observed_scope.hpp"
#include "kernel/event_handler.hpp"

namespace cxloom {

DmaCompleter::DmaCompleter(Time io_time, Endpoint& endpoint) : Agent(endpoint), io_time_(io_time) {
  endpoint.add(*this);
  for (const Channel channel :
       {Channel::kIo, Channel::kS2MNDR, Channel::kS2MDRS, Channel::kH2DRsp, Channel::kH2DData})
    behind_[static_cast<std::size_t>(channel)] = endpoint.put_before(channel, *this);
}

Time DmaCompleter::now() const { return endpoint().now(); }

void DmaCompleter::expect(NodeId initiator, DmaInitiator& engine) {
  if (senders_.size() <= initiator.index()) senders_.resize(initiator.index() + 1);
  senders_[initiator.index()] = std::make_unique<Sender>(
      Sender{.node = initiator, .engine = &engine, .completion = engine.completion()});
}

Address DmaCompleter::begin_of(const Message& message, std::uint32_t line) {
  if (line == 0) return message.address;
  return Address{(LineAddress::of(message.address).number() + line) * kLineBytes};
}

std::uint16_t DmaCompleter::bytes_of(const Message& message, std::uint32_t line) {
  const std::uint64_t from = begin_of(message, line).value();
  const std::uint64_t end =
      std::min(message.address.value() + message.size, (from / kLineBytes + 1) * kLineBytes);
  return static_cast<std::uint16_t>(end - from);
}

void DmaCompleter::receive(Message& message) {
  Sender* const sender = message.channel == Channel::kIo ? sender_of(message) : nullptr;
  if (sender || (message.channel != Channel::kIo && (message.tag & kOwn) != 0)) {
    endpoint().release(message, now());
    const ObservedScope handling(*this, message);
    return sender ? take(message, *sender) : answered(message);
  }
  Agent* const other = behind_[static_cast<std::size_t>(message.channel)];
  ensure(other != nullptr, "a message of CXL.io, or an answer of memory, that nobody here waits for");
  endpoint().deliver(message, *other);
}

// ---- Requests

void DmaCompleter::take(Message& message, Sender& sender) {
  Job& job = jobs_.take();
  job.message = &message;
  job.sender = &sender;
  job.flight = message.account->of(Segment::kPortDelay) + message.account->of(Segment::kPropagation);
  const std::uint64_t end = message.address.value() + message.size;
  job.lines = static_cast<std::uint32_t>((end + kLineBytes - 1) / kLineBytes -
                                         LineAddress::of(message.address).number());
  ensure(job.lines >= 1 && job.lines <= kMostLines, "a DMA request above 4 KiB");
  job.undone = job.lines;
  const Time ready = now() + io_time_;
  message.charge(Segment::kController, ready);
  endpoint().kernel().schedule(ready, endpoint().source(), *this, 0, payload_of(job));
}

// Its memory may be accessed, behind the requests before it.
void DmaCompleter::wake(std::uint8_t /*kind*/, std::uint64_t payload) {
  Job& job = object_of<Job>(payload);
  Sender& sender = *job.sender;
  (sender.last ? sender.last->next : sender.first) = &job;
  sender.last = &job;
  access_lines(sender);
}

void DmaCompleter::access_lines(Sender& sender) {
  while (sender.first && sender.under_way < sender.completion.lines) {
    Job& job = *sender.first;
    if (job.begun + 1 == job.lines) {
      sender.first = job.next;
      if (!sender.first) sender.last = nullptr;
    }
    access(job);
  }
}

// The account of a line begins as a copy of its request's.
void DmaCompleter::access(Job& job) {
  const Message& message = *job.message;
  Request& line = lines_.take();
  if (line_of_.size() <= line.index) line_of_.resize(line.index + 1);
  const std::uint32_t number = job.begun++;
  line_of_[line.index] = {&job, number};
  line.id = message.tag;
  line.kind = message.opcode == Opcode::kMRd ? AccessKind::kRead : AccessKind::kWrite;
  line.begin(endpoint().id(), message.age);
  line.account = *message.account;
  line.charge(Segment::kRequesterQueue, now());
  line.address = begin_of(message, number);
  line.size = bytes_of(message, number);
  ++job.sender->under_way;
  send(line, *job.sender);
}

// As a requester without a cache does: it keeps no copy. Who keeps lines coherent snoops the caches of this
// device, too, since the request is the engine's.
void DmaCompleter::send(Request& line, const Sender& sender) {
  const AddressMap::DecodedAddress place = place_of(*this, line.id, line.address);
  const bool read = line.kind == AccessKind::kRead;
  Message& message = line.message;
  Opcode opcode = read ? Opcode::kMemRd : Opcode::kMemWr;
  if (place.coherence == Coherence::kHdmH) {
    opcode = read ? Opcode::kRdCurr : write_past_caches(line.size);
  } else if (place.coherent()) {
    message.snp = read ? SnpType::kSnpCur : SnpType::kSnpInv;
  }
  address_to(place, *this, message, opcode, line.address, line.size);
  if (place.coherent()) message.requester = sender.node;
  message.account = &line.account;
  message.tag = kOwn | line.index;
  transmit(message, line.account.mark());
}

// ---- Answers

void DmaCompleter::answered(Message& message) {
  SystemContext& context = endpoint().system_context();
  if (message.persistent && context.versions) [[unlikely]]
    context.versions->returns(endpoint().kernel(), message);
  if (message.opcode == Opcode::kWritePull || message.opcode == Opcode::kGoWritePull)
    send_pulled_data(*this, message, now());
  if (message.channel == Channel::kD2HData) return;  // the answer to the write comes when they are there
  Request& line = lines_.at(message.tag & ~kOwn);
  ensure(line.account.mark() == now(), "a line of a DMA request whose time is not accounted for");
  const auto [job, number] = line_of_[line.index];
  Sender& sender = *job->sender;
  job->answered.set(number);
  job->failed.set(number, message.failed);
  --job->undone;
  --sender.under_way;
  if (line.kind == AccessKind::kRead) {
    complete_in_order(*job, line);
  } else if (job->undone == 0) {
    end_write(*job, line);
  }
  lines_.give_back(line);
  access_lines(sender);
}

// Completions end at multiples of `most_bytes`.
void DmaCompleter::complete_in_order(Job& job, const Request& latest) {
  const std::uint64_t first = LineAddress::of(job.message->address).number();
  const std::uint64_t lines = job.sender->completion.most_bytes / kLineBytes;
  while (job.sent < job.lines) {
    const std::uint64_t boundary = ((first + job.sent) / lines + 1) * lines - first;
    const auto end = static_cast<std::uint32_t>(std::min<std::uint64_t>(boundary, job.lines));
    for (std::uint32_t line = job.sent; line < end; ++line) {
      if (!job.answered[line]) return;
    }
    complete_part(job, end, latest);
    job.sent = end;
  }
  jobs_.give_back(job);
}

// The lines up to `end`. What was waited for is the latest answer, and so its account goes along.
void DmaCompleter::complete_part(const Job& job, std::uint32_t end, const Request& latest) {
  const Message& asked = *job.message;
  Request& packet = endpoint().system_context().posted.take(endpoint().kernel());
  packet.begin(job.sender->node, latest.created());
  packet.account = latest.account;
  packet.id = asked.tag;
  packet.address = begin_of(asked, job.sent);
  std::uint32_t bytes = 0;
  for (std::uint32_t line = job.sent; line < end; ++line) {
    bytes += bytes_of(asked, line);
    packet.failed |= job.failed[line];
  }
  packet.size = static_cast<std::uint16_t>(bytes);
  Message& message = packet.message;
  message.opcode = Opcode::kCplD;
  message.channel = Channel::kIo;
  message.address = packet.address;
  message.size = packet.failed ? std::uint16_t{0} : packet.size;
  message.failed = packet.failed;
  message.account = &packet.account;
  message.hops = static_cast<std::uint16_t>(asked.hops + latest.message.hops);
  message.source = endpoint().id();
  message.destination = job.sender->node;
  transmit(message, now());
}

void DmaCompleter::end_write(Job& job, const Request& latest) {
  Message& message = *job.message;
  *message.account = latest.account;
  message.failed |= job.failed.any();
  message.hops = static_cast<std::uint16_t>(message.hops + latest.message.hops);
  DmaInitiator& engine = *job.sender->engine;
  Kernel& own = endpoint().kernel();
  const Time at = now() + job.flight;
  if (&engine.its_kernel() == &own) {
    own.schedule(at, endpoint().source(), engine.taken(), DmaInitiator::kTaken, payload_of(message));
  } else {
    own.send(engine.its_kernel(), at, endpoint().source(), engine.taken(), DmaInitiator::kTaken,
             payload_of(message));
  }
  jobs_.give_back(job);
}

std::string DmaCompleter::activity() const {
  return jobs_.live() == 0 ? std::string() : counted(jobs_.live(), "DMA request") + " at work";
}

}  // namespace cxloom
