// Lines that are taken back from caches of gem5's Ruby, by its protocol CXL_MESI in this folder.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

#include <mem/packet.hh>
#include <mem/port.hh>

namespace gem5::cxl {

/// A read by this port comes back when no cache has a copy of the line; what had been written there has come
/// to the host before, as a write.
class Recalls : public RequestPort {
 public:
  /// No cache has the line of this number any more, and whether it had been written there.
  using Ended = std::function<void(std::uint64_t number, bool dirty)>;
  /// Whether Ruby waits for the answer to a read of the line.
  using Awaited = std::function<bool(Addr line)>;

  Recalls(const std::string& name, unsigned line_bytes, RequestorID requestor, Ended ended, Awaited awaited)
      : RequestPort(name),
        line_bytes_(line_bytes),
        requestor_(requestor),
        ended_(std::move(ended)),
        awaited_(std::move(awaited)) {}
  ~Recalls() override;

  void take(std::uint64_t number, Addr line);
  /// A line has come that had been written. Whether it is one that is being taken.
  bool brings(Addr line);

 protected:
  bool recvTimingResp(PacketPtr packet) override;
  void recvReqRetry() override;

 private:
  struct Recall {
    std::uint64_t number;
    bool dirty;
  };

  void send(Addr line);
  void send_waiting();

  const unsigned line_bytes_;
  const RequestorID requestor_;
  const Ended ended_;
  const Awaited awaited_;
  std::unordered_map<Addr, Recall> recalls_;  // by line: a home asks for one once at a time
  std::deque<PacketPtr> waiting_;             // that Ruby has had no room for
  bool waits_for_retry_ = false;
};

}  // namespace gem5::cxl
