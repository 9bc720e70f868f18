#include "core/support/naive_persist.hpp"

#include <memory>
#include <utility>

#include "base/error.hpp"
#include "base/schema.hpp"
#include "component/component_time.hpp"
#include "device/switch/core.hpp"
#include "device/switch/persist_buffer.hpp"
#include "device/switch/switching_device.hpp"

namespace cxloom::test {

namespace {

using State = PersistEntry::State;

bool same_line(const Message& a, const Message& b) {
  return LineAddress::of(a.address) == LineAddress::of(b.address);
}

class NaiveBuffer final : public PersistBuffer {
 public:
  NaiveBuffer(const PersistRules& rules, const SwitchParams& params, SwitchCore& core, Component& owner,
              SystemContext& context)
      : PersistBuffer(*params.persist_buffer, params.switching_time, core, owner, context),
        rules_(rules),
        params_(*params.persist_buffer),
        core_(core) {}

 private:
  bool concerns(const Message& message) const override {
    if (!PersistBuffer::concerns(message)) return false;
    return rules_.look_in_queue || message.opcode == Opcode::kMemWr ||
           entries().newest(LineAddress::of(message.address));
  }

  void come(Message& message) override {
    const bool reads = message.opcode == Opcode::kMemRd && !entries().owns(message);
    const Message* const write = reads && !rules_.answer_from_entries ? queued_write(message) : nullptr;
    if (!write) return PersistBuffer::come(message);
    core_.release(vc_of(message), message.port, core_.now());
    const Time end = core_.now() + params_.tag_time + params_.data_time;
    message.charge(Segment::kPersistBuffer, end);
    message.version = write->version;
    answer(message, Opcode::kMemData, end);
  }

  // The newest; null: none.
  const Message* queued_write(const Message& read) const {
    const Message* found = nullptr;
    for (const Message* each = queue().first(); each; each = each->next) {
      if (each->opcode == Opcode::kMemWr && same_line(*each, read)) found = each;
    }
    return found;
  }

  PersistEntry* entry_for(const Message& message) override {
    PersistEntry* const newest = own_entries().newest(LineAddress::of(message.address));
    return newest && !rules_.second_entry ? newest : PersistBuffer::entry_for(message);
  }

  void store(const Message& message, PersistEntry& entry, Time at) override {
    if (entry.state == State::kDrain) {  // under way with older data
      entry.bytes |= bytes_of(message.address, message.size);
      entry.stored = at;
      entry.version = message.version;
      return;
    }
    PersistBuffer::store(message, entry, at);
    if (!rules_.masks) entry.bytes = ~LineBytes{0};
    if (!rules_.own_tags) entry.drain.tag = message.tag;
  }

  void drain_if_due(PersistEntry& stored) override {
    if (stored.state != State::kDrain) PersistBuffer::drain_if_due(stored);
  }

  void drain_sent(PersistEntry& entry) override {
    PersistBuffer::drain_sent(entry);
    if (!rules_.empty_when_answered) end_drain(entry);
  }

  PersistEntry& entry_of(const Message& answer) override {
    if (rules_.own_tags) return PersistBuffer::entry_of(answer);
    for (std::uint32_t i = 0; i < entries().count(); ++i) {
      PersistEntry& entry = own_entries().at(i);
      if (entry.state == State::kDrain && entry.drain.tag == answer.tag) return entry;
    }
    throw InternalError("an answer to no drain");
  }

  void drain_answered(Message& answer) override {
    if (!rules_.empty_when_answered) return;
    if (rules_.answers_pass) return PersistBuffer::drain_answered(answer);
    enqueue(answer);
    serve();
  }

  void drain_failed(PersistEntry& entry, bool may_help) override {
    if (rules_.keeps_failed) return PersistBuffer::drain_failed(entry, may_help);
    end_drain(entry);
    serve();
  }

  void try_again() override {
    if (rules_.drains_again) PersistBuffer::try_again();
  }

  void lose_contents() override {
    PersistBuffer::lose_contents();
    if (rules_.survives) return;
    for (std::uint32_t i = 0; i < entries().count(); ++i) {
      PersistEntry& entry = own_entries().at(i);
      if (entry.state != State::kDirty || entry.older) continue;
      entry.stuck = false;
      own_entries().begin_drain(entry);
      own_entries().end_drain(entry);
    }
  }

  bool serve_next(Message& first) override {
    if (first.channel != Channel::kS2MNDR) return PersistBuffer::serve_next(first);
    leave_queue(first);
    end_drain(entry_of(first));
    return true;
  }

  PersistRules rules_;
  PersistBufferParams params_;
  SwitchCore& core_;
};

class NaiveSwitch final : public SwitchingDevice {
 public:
  NaiveSwitch(const SwitchParams& params, const PersistRules& rules, const DeviceContext& context)
      : SwitchingDevice(without_buffer(params), context),
        buffer_(std::make_unique<NaiveBuffer>(rules, params, core(), *this, context.system_context)) {
    if (rules.same_ways) core().persist_in(std::move(buffer_));
  }

  // A system that has begun is not checked for ways past a buffer any more.
  void start() override {
    if (buffer_) core().persist_in(std::move(buffer_));
    SwitchingDevice::start();
  }
  void receive(Message& message) override {
    message.charge(Segment::kSwitching, now());
    core().forward(message);
  }

 private:
  static SwitchParams without_buffer(SwitchParams params) {
    params.persist_buffer.reset();
    return params;
  }

  std::unique_ptr<NaiveBuffer> buffer_;
};

}  // namespace

Registry with_rules(const PersistRules& rules) {
  Registry registry = builtin_registry();
  registry.devices.add_factory<SwitchParams>("naive-switch",
                                             [rules](const SwitchParams& params, DeviceContext& context) {
                                               return std::make_unique<NaiveSwitch>(params, rules, context);
                                             });
  return registry;
}

}  // namespace cxloom::test
