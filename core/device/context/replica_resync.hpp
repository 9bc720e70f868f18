// Copies to a memory that comes back what its copy of a region lacks, over the links.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/units.hpp"
#include "component/replica_set.hpp"
#include "kernel/event_handler.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class Replicator;

class ReplicaResync final : public EventHandler, private LineCopier {
 public:
  /// Lines under way.
  static constexpr std::size_t kAtOnce = 64;
  /// The tag of its messages: no pool of requests has so many.
  static constexpr std::uint32_t kTag = 0xffffffffU;

  ReplicaResync(Replicator& replicator, ReplicaSet& set, std::size_t from, std::size_t to);

  void begin() { go_on(); }
  /// A message of one was answered: a line was read or written, or could not be.
  static void answered(Message& message);

  std::string name() const override { return "resynchronisation"; }
  void wake(std::uint8_t kind, std::uint64_t payload) override;

 private:
  enum Wake : std::uint8_t { kNext, kSend };
  /// A line under way. Its message is its first member, so that an answer finds it.
  struct Slot {
    Message message;
    ReplicaResync* resync = nullptr;
    LineAddress line;
    bool used = false;
  };

  void quiet(LineAddress line) override;
  void go_on();
  void begin_line(Slot& slot);
  void send(Slot& slot, std::size_t copy, Opcode opcode);
  void came_back(Slot& slot);
  void end(Slot& slot, bool copied);
  void rest();

  Replicator& replicator_;
  ReplicaSet& set_;
  std::size_t from_;
  std::size_t to_;
  std::array<Slot, kAtOnce> slots_;
  std::size_t used_ = 0;
  RateMeter meter_;
  Time next_;             // the next line may begin
  bool awaited_ = false;  // an event comes at that time
  bool given_up_ = false;
  bool over_ = false;
};

}  // namespace cxloom
