// A host and a device at the two ends of a link, as far as back-invalidation goes: they send and answer what
// the flow of a snoop and of its conflict needs. They keep no data and no states of lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "component/component.hpp"
#include "component/component_time.hpp"
#include "core/support/link_bench.hpp"
#include "protocol/flit/flit.hpp"

namespace cxloom::test {

/// What both have in common: one port, a log of what came in, and receive buffers that may stay occupied.
class BackInvalidationMock : public Component {
 public:
  BackInvalidationMock(Kernel& kernel, std::string name, Messages& messages, Time response)
      : Component(ComponentContext{kernel, std::move(name), NodeId{0}, 1}),
        messages_(messages),
        response_(response) {}

  struct Arrival {
    Time time;
    const Message* message;
  };
  std::vector<Arrival> arrivals;
  std::size_t count(Channel channel) const {
    return static_cast<std::size_t>(std::count_if(arrivals.begin(), arrivals.end(), [&](const Arrival& each) {
      return each.message->channel == channel;
    }));
  }

  /// It never frees a buffer of this class.
  void hoards(Channel channel) { hoarded_ |= 1U << static_cast<unsigned>(channel); }

  Message& send(Opcode opcode, Address address = {}, std::uint16_t size = 64) {
    Message& message = messages_.make(opcode, size);
    message.address = address;
    port(0).send(message, now());
    return message;
  }

  /// Something of a class that nobody answers.
  void send_in(Channel channel) {
    Message& message = messages_.make(is_data_class(channel) ? Opcode::kMemData : Opcode::kMemRd);
    message.channel = channel;
    port(0).send(message, now());
  }

  void receive(Message& message) final {
    arrivals.push_back({now(), &message});
    if ((hoarded_ >> static_cast<unsigned>(message.channel) & 1U) == 0) port(0).release(message, now());
    answer(message);
  }
  void wake(std::uint8_t kind, std::uint64_t payload) final {
    responded(static_cast<Opcode>(kind), Address{payload});
  }

 protected:
  virtual void answer(const Message& message) = 0;
  /// An answer is due.
  virtual void responded(Opcode opcode, Address address) = 0;
  void respond(Opcode opcode, Address address) {
    kernel().schedule(now() + response_, source(), *this, static_cast<std::uint8_t>(opcode), address.value());
  }

 private:
  Messages& messages_;
  Time response_;
  std::uint32_t hoarded_ = 0;
};

/// Answers a BISnp with BIRspI. Where a write of its own to the line is not complete, it first asks with
/// BIConflict whether the device has served it, and learns that from the order of Cmp and BI-ConflictAck.
class SnoopedHost final : public BackInvalidationMock {
 public:
  using BackInvalidationMock::BackInvalidationMock;

  /// Writes a line, unless a write to it is under way.
  void write(Address address) {
    if (!writes_[address.value()].complete()) return;
    ++writes_[address.value()].sent;
    send(Opcode::kMemWr, address);
  }
  /// Completions of writes to a line that have come in.
  std::uint64_t completed(Address address) { return writes_[address.value()].completed; }

  std::uint64_t early_conflicts = 0;  ///< the device had not served the write
  std::uint64_t late_conflicts = 0;   ///< it had

 private:
  struct Writes {
    std::uint64_t sent = 0;
    std::uint64_t completed = 0;
    bool complete() const { return sent == completed; }
  };
  void answer(const Message& message) override {
    Writes& writes = writes_[message.address.value()];
    switch (message.opcode) {
      case Opcode::kCmp: ++writes.completed; break;
      case Opcode::kBISnpInv:
        if (writes.complete()) respond(Opcode::kBIRspI, message.address);
        else send(Opcode::kBIConflict, message.address);
        break;
      case Opcode::kBIConflictAck:
        ++(writes.complete() ? late_conflicts : early_conflicts);
        respond(Opcode::kBIRspI, message.address);
        break;
      default: break;
    }
  }
  void responded(Opcode opcode, Address address) override { send(opcode, address); }

  std::map<std::uint64_t, Writes> writes_;
};

/// Completes writes after its response time, in their order, and answers a BIConflict behind what it has
/// completed.
class SnoopingDevice final : public BackInvalidationMock {
 public:
  using BackInvalidationMock::BackInvalidationMock;

  /// Snoops a line, unless a snoop of it is under way.
  void snoop(Address address) {
    if (std::exchange(snooped_[address.value()], true)) return;
    ++snoops;
    send(Opcode::kBISnpInv, address);
  }
  /// How many completions of writes to its line each BI-ConflictAck must not pass.
  std::map<const Message*, std::uint64_t> behind;
  std::uint64_t snoops = 0;

 private:
  void answer(const Message& message) override {
    switch (message.opcode) {
      case Opcode::kMemWr: respond(Opcode::kCmp, message.address); break;
      case Opcode::kBIConflict: {
        const Message& sent = send(Opcode::kBIConflictAck, message.address);
        behind[&sent] = completed_[message.address.value()];
        break;
      }
      case Opcode::kBIRspI: snooped_[message.address.value()] = false; break;
      default: break;
    }
  }
  void responded(Opcode opcode, Address address) override {
    ++completed_[address.value()];
    send(opcode, address);
  }

  std::map<std::uint64_t, std::uint64_t> completed_;
  std::map<std::uint64_t, bool> snooped_;
};

}  // namespace cxloom::test
