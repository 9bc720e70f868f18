// Media of DRAM: cuts accesses into bursts, hands them to the sub-channels, and reports when they are done.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernel/event_source.hpp"
#include "kernel/windowed.hpp"
#include "memory/dram/controller/channel.hpp"
#include "memory/dram/controller/params.hpp"
#include "memory/dram/device/mapping.hpp"
#include "memory/media/context.hpp"
#include "memory/media/media.hpp"

namespace cxloom {

struct MeasureInfo;

class DramMedia final : public Media {
 public:
  using Params = DramParams;
  DramMedia(const DramParams& params, const MediaContext& context);

  void access(Message& message, Address address, Time ready) override;
  void wake(std::uint8_t kind, std::uint64_t payload) override;
  std::optional<Bytes> capacity() const override { return Bytes{config_.capacity()}; }
  DramMedia* dram() override { return this; }
  std::string answers_early() const override { return config_.posted_writes ? "posted_writes" : ""; }
  std::string described() const override;
  std::string held_back() const override;
  void open_window(Time now) override;
  void close_window(Time now) override;
  void report(MeasureSink& sink) const override;
  void resources(ResourceSink& sink) const override;
  static std::vector<MeasureInfo> measures();
  static std::vector<std::string> traits() { return {"forgets"}; }

  const DramConfig& config() const { return config_; }
  /// How far apart lines are that lie side by side in a row; a line, if that is more than 4 MiB.
  std::uint64_t bytes_between_lines_of_a_row() const;
  /// Refreshes of its ranks.
  struct Refreshes {
    Time cycle;     ///< after which each set of banks is refreshed again, a whole number of picoseconds
    Time duration;  ///< that banks are busy with one
  };
  /// None: it has none.
  std::optional<Refreshes> refreshes() const;
  /// Shows every command from now on to `log`.
  void watch(DramCommandLog* log);
  /// All commands before `now` are shown, where otherwise they are worked out when somebody waits for what
  /// they do.
  void catch_up(Time now);
  /// So are those of everything that still waits; nothing may arrive any more. Throws SimulationError if the
  /// scheduler lets none of it go.
  void drain();

 private:
  /// A sub-channel and the wake-ups it has coming.
  struct WakeUp {
    Time at = Time::max();
    Clock clock = kNeverClock;  ///< the first edge from then on
  };
  struct SubChannel {
    std::unique_ptr<DramChannel> channel;
    WakeUp next{};                 ///< its next one
    std::vector<WakeUp> others{};  ///< after it, the first of them last
  };
  /// An access whose bursts are on their way.
  struct PendingAccess {
    Message* message = nullptr;
    std::uint32_t bursts = 0;  ///< of a free entry: the free one after it
    Clock first = 0;
  };
  static constexpr std::uint32_t kNoAccess = ~std::uint32_t{0};

  void advance(SubChannel& sub_channel, Clock limit);
  std::uint32_t new_access(Message& message, std::uint32_t bursts);
  void add_access();
  void wake_by(SubChannel& sub_channel, Clock clock);
  static void wake_earlier(SubChannel& sub_channel);
  void finish(const DramChannel::Done& done);
  DramCounters counted(Time now);

  Kernel& kernel_;
  const Component& owner_;
  MediaClient& client_;
  EventSource source_;
  DramConfig config_;
  DramClock clock_;
  DramMapping mapping_;
  std::uint64_t burst_bytes_;  ///< a power of two
  unsigned burst_bits_;
  bool always_rmw_;
  std::vector<SubChannel> sub_channels_;
  bool failed_ = false;  // something threw in a sub-channel, such as a policy of a plug-in
  std::vector<PendingAccess> accesses_;
  std::uint32_t free_ = kNoAccess;  ///< the last one that became free
  CountsInWindow<DramCounters> counts_;
  std::array<std::uint32_t, 2> most_queued_{};  // of reads and of writes, in the window
};

}  // namespace cxloom
