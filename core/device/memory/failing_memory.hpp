// What a memory knows besides if its device may fail: the requests that were in it then, and the contents
// that are lost. docs/model/failures.md has the rules.
#pragma once

#include <cstdint>

#include "base/flat_table.hpp"
#include "base/units.hpp"
#include "protocol/message.hpp"

namespace cxloom {

class FailingMemory {
 public:
  /// The device fails. What is in it is gone, and so is all that its volatile memory holds.
  void fail();
  void work_again() { down_ = false; }
  /// It takes no requests.
  bool down() const { return down_; }
  /// From now on nothing that it holds or is sent is to be relied on. What its volatile memory holds is gone.
  void begin_viral();
  void end_viral() { viral_ = false; }
  /// A reset has cleared the volatile memory: it holds what is as good as any data.
  void clear() { lost_ = false; }

  /// A request has come in.
  void came(const Message& request) { present_.place(key_of(request)) = {key_of(request), failures_}; }
  /// The request is served, or refused. False: the device has failed since it came, and nobody is answered.
  bool ends(const Message& request);
  /// Marks what the request gets, an error or poison, and counts it. A write makes the lines that it covers
  /// whole.
  void serve(Message& request, std::uint64_t& viral_errors, std::uint64_t& poison_delivered);
  /// The data of a line are lost, and it has not been written as a whole since.
  bool lost(LineAddress line) const { return lost_ && !written_.find(line.number() + 1); }

 private:
  /// Something the request reads is lost.
  bool serves_poison(const Message& request);

  struct Present {
    std::uint64_t request = 0;   // 0: empty
    std::uint64_t failures = 0;  // before it came
    std::uint64_t key() const { return request; }
  };
  struct Written {
    std::uint64_t line = 0;  // 0: empty
    std::uint64_t key() const { return line; }
  };

  static std::uint64_t key_of(const Message& request) { return reinterpret_cast<std::uintptr_t>(&request); }

  FlatTable<Present> present_;
  std::uint64_t failures_ = 0;
  bool down_ = false;
  bool viral_ = false;  // every request that it answers ends with an error, and no write is kept
  bool lost_ = false;
  FlatTable<Written> written_;  // as a whole, since the contents were lost
};

}  // namespace cxloom
