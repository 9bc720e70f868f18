// The cache of a host or accelerator, write-back and write-allocate: hits end here, misses fetch a line, dirty victims are
// written back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/measure.hpp"
#include "component/endpoint.hpp"
#include "device/device_context.hpp"
#include "device/miss_table.hpp"
#include "kernel/pool.hpp"
#include "protocol/request.hpp"
#include "tags/cache_array.hpp"

namespace cxloom {

class CacheAgent final : public Agent {
 public:
  /// Who makes the requests.
  class Client {
   public:
    /// The request is done now, its account charged up to now.
    virtual void answered(Request& request) = 0;
    /// `bytes` of a dirty line have reached memory at `target`; 0: they were lost on the way.
    virtual void written_back(NodeId target, std::uint16_t bytes) = 0;
    /// All that this event has changed is changed: it may go on with what waited for it.
    virtual void go_on() = 0;

   protected:
    ~Client() = default;
  };

  /// `process_time` is what requests take to come here: write-backs pass the same pipeline.
  CacheAgent(const CacheParams& params, Time process_time, Endpoint& endpoint, const DeviceContext& context,
             Client& client);

  /// Takes a request of one line at most, charged up to its arrival.
  void access(Request& request);
  /// Write-backs on their way.
  std::uint64_t write_backs() const { return write_backs_.live(); }

  void receive(Message& message) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  void open_window(Time now) override;
  void close_window(Time now) override;
  void report(MeasureSink& sink) const override;
  static std::vector<MeasureInfo> measures();

 private:
  void answer_later(Request& request);
  void fill(const Message& message);
  void keep_line(LineAddress line, const Request& waiting);

  Client& client_;
  Time access_time_;
  Time pipeline_;  // from the making of a request until it leaves
  CacheArray array_;
  MissTable misses_;
  Pool<Message> write_backs_;  // on their way

  // Measuring.
  bool window_open_ = false;
  std::uint64_t hits_ = 0;
  std::uint64_t lookups_ = 0;
  std::uint64_t write_backs_completed_ = 0;
};

}  // namespace cxloom
