// ChampSim's memory controller as a system of cxloom. It stands in the place of ChampSim's
// inc/dram_controller.h and src/dram_controller.cc, and has what the rest of ChampSim asks of them;
// docs/champsim.md.
#ifndef CXLOOM_CHAMPSIM_DRAM_CONTROLLER_H
#define CXLOOM_CHAMPSIM_DRAM_CONTROLLER_H

#include <cxloom/cxloom.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "address.h"
#include "channel.h"
#include "chrono.h"
#include "dram_stats.h"
#include "operable.h"

// ChampSim prints the counts of each channel of its own DRAM. Here there is none: the summary of cxloom has
// them.
struct DRAM_CHANNEL {
  using stats_type = dram_stats;
  stats_type roi_stats, sim_stats;
};

namespace cxloom::integrations {

// The system that all lines of last-level caches come from and go to.
//
// A configuration of ChampSim has no place for it, so the environment names it:
//   CXLOOM_SYSTEM    a spec, as `cxloom resolve` prints it
//   CXLOOM_HOST      the host of the spec whose accesses these are; "host" if unset
//   CXLOOM_WRITES    writes on their way at most, the rest waits in the cache above; 64 if unset
//   CXLOOM_SUMMARY   where the summary goes at the end; nowhere if unset
//
// What is wrong ends the program with code 2 and a line that says why.
class ChampsimMemory {
 public:
  using Channel = champsim::channel;

  ChampsimMemory() {
    const std::string host = setting("CXLOOM_HOST", "host");
    const std::string writes = setting("CXLOOM_WRITES", "64");
    most_writes_ = std::strtoul(writes.c_str(), nullptr, 10);
    if (most_writes_ == 0 || writes.find_first_not_of("0123456789") != std::string::npos)
      stop("CXLOOM_WRITES is \"" + writes + "\", no number from 1");
    open(setting("CXLOOM_SYSTEM", ""));
    device_ = cxloom_device(simulation_.get(), host.c_str());
    if (device_ < 0) stop("CXLOOM_HOST: there is no device \"" + host + "\" in the system");
    if (cxloom_answers(simulation_.get(), device_, &ChampsimMemory::answered, this) != 0) fail();
  }
  ~ChampsimMemory() {
    const std::string path = setting("CXLOOM_SUMMARY", "");
    if (path.empty()) return;
    char* const text = cxloom_finish(simulation_.get()) == 0 ? cxloom_summary(simulation_.get()) : nullptr;
    std::ofstream file(path);
    if (!text || !(file << text << '\n'))
      std::fprintf(stderr, "cxloom: no summary in %s: %s\n", path.c_str(), cxloom_error(simulation_.get()));
    cxloom_free(text);
  }
  ChampsimMemory(const ChampsimMemory&) = delete;
  ChampsimMemory& operator=(const ChampsimMemory&) = delete;

  // Lets everything happen up to this time; gives how many accesses were answered.
  long run_until(std::int64_t now) {
    now_ = now;
    answers_ = 0;
    if (cxloom_next_event(simulation_.get()) <= now && cxloom_run_until(simulation_.get(), now) < 0) fail();
    return answers_;
  }
  void new_window(std::int64_t now) {
    if (cxloom_run_until(simulation_.get(), now) < 0 || cxloom_new_window(simulation_.get()) != 0) fail();
  }

  void read(const Channel::request_type& request, Channel& channel) {
    if (free_.empty()) {
      free_.push_back(reads_.size());
      reads_.push_back({Channel::response_type{request}, nullptr});
    }
    const std::size_t slot = free_.back();
    free_.pop_back();
    reads_[slot] = {Channel::response_type{request}, request.response_requested ? &channel : nullptr};
    ++reads_out_;
    give(request, CXLOOM_READ, slot);
  }
  bool write(const Channel::request_type& request) {
    if (writes_out_ == most_writes_) return false;
    ++writes_out_;
    give(request, CXLOOM_WRITE, kWrite);
    return true;
  }
  // An address that no memory has is seen before the first access: ChampSim uses all of its physical memory.
  void check_map(std::uint64_t size) {
    for (const std::uint64_t address : {std::uint64_t{0}, (size - 1) / 64 * 64}) {
      cxloom_access access{};
      access.address = address;
      access.bytes = 64;
      access.intent = CXLOOM_READ;
      access.memory = CXLOOM_MAPPED;
      if (cxloom_estimate(simulation_.get(), device_, &access) < 0)
        stop("physical_memory has " + std::to_string(size) + " bytes: " + cxloom_error(simulation_.get()));
    }
  }
  std::size_t reads_out() const { return reads_out_; }
  std::size_t writes_out() const { return writes_out_; }

 private:
  struct Read {
    Channel::response_type response;
    Channel* channel;  // nullptr: nobody waits for it
  };
  struct Close {
    void operator()(cxloom_simulation* simulation) const { cxloom_close(simulation); }
  };
  static constexpr std::uint64_t kWrite = UINT64_MAX;  // the tag of every write

  [[noreturn]] static void stop(const std::string& text) {
    std::fprintf(stderr, "cxloom: %s\n", text.c_str());
    std::exit(2);
  }
  [[noreturn]] void fail() const { stop(cxloom_error(simulation_.get())); }

  static std::string setting(const char* name, const char* unset) {
    const char* const value = std::getenv(name);
    return value ? value : unset;
  }

  void open(const std::string& path) {
    if (path.empty()) stop("CXLOOM_SYSTEM names no file: `cxloom resolve SPEC` prints what it wants");
    std::ifstream file(path);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) stop("CXLOOM_SYSTEM: \"" + path + "\" cannot be read");
    char* error = nullptr;
    simulation_.reset(cxloom_open(text.str().c_str(), nullptr, &error));
    if (simulation_) return;
    const std::string why = error ? error : "out of memory";
    cxloom_free(error);
    stop(path + ": " + why);
  }

  void give(const Channel::request_type& request, int intent, std::uint64_t tag) {
    cxloom_access access{};
    access.address = request.address.template to<std::uint64_t>() / 64 * 64;
    access.tag = tag;
    access.ready = now_;
    access.bytes = 64;
    access.intent = intent;
    access.memory = CXLOOM_MAPPED;
    if (cxloom_give(simulation_.get(), device_, &access) != 0) fail();
  }

  static void answered(void* user, const cxloom_answer* answer) {
    auto& memory = *static_cast<ChampsimMemory*>(user);
    if (answer->failed) stop("an access was answered without data");
    ++memory.answers_;
    if (answer->tag == kWrite) {
      --memory.writes_out_;
      return;
    }
    --memory.reads_out_;
    const Read& read = memory.reads_[answer->tag];
    if (read.channel) read.channel->returned.push_back(read.response);
    memory.free_.push_back(answer->tag);
  }

  std::unique_ptr<cxloom_simulation, Close> simulation_;
  int device_ = -1;
  std::int64_t now_ = 0;
  std::size_t most_writes_ = 0;
  std::vector<Read> reads_;        // by tag
  std::vector<std::size_t> free_;  // tags
  std::size_t reads_out_ = 0;
  std::size_t writes_out_ = 0;
  long answers_ = 0;
};

}  // namespace cxloom::integrations

// ChampSim copies it to read the counts of channels: a copy is of the same memory.
class MEMORY_CONTROLLER : public champsim::operable {
  using channel_type = champsim::channel;

 public:
  std::vector<DRAM_CHANNEL> channels;

  // The arguments are ChampSim's; of its DRAM only the period of the controller and the size count.
  MEMORY_CONTROLLER(champsim::chrono::picoseconds /*dbus_period*/, champsim::chrono::picoseconds period,
                    std::size_t /*t_rp*/, std::size_t /*t_rcd*/, std::size_t /*t_cas*/, std::size_t /*t_ras*/,
                    champsim::chrono::microseconds /*refresh_period*/, std::vector<channel_type*>&& above,
                    std::size_t /*rq_size*/, std::size_t /*wq_size*/, std::size_t channel_count,
                    champsim::data::bytes channel_width, std::size_t rows, std::size_t columns,
                    std::size_t ranks, std::size_t bankgroups, std::size_t banks,
                    std::size_t /*refreshes_per_period*/)
      : champsim::operable(period),
        above_(std::move(above)),
        bytes_(static_cast<long long>(channel_count * rows * columns * ranks * bankgroups * banks) *
               channel_width.count()),
        memory_(std::make_shared<cxloom::integrations::ChampsimMemory>()) {
    memory_->check_map(static_cast<std::uint64_t>(bytes_.count()));
  }

  // A cycle of the controller: what has been answered goes up, what has come goes out.
  long operate() final {
    long progress = memory_->run_until(current_time.time_since_epoch().count());
    for (channel_type* const channel : above_) {
      const auto reads = [this, channel](const auto& request) {
        if (!warmup) memory_->read(request, *channel);
        else if (request.response_requested) channel->returned.emplace_back(request);
        return true;
      };
      progress += take(channel->RQ, reads) + take(channel->PQ, reads);
      progress +=
          take(channel->WQ, [this](const auto& request) { return warmup || memory_->write(request); });
    }
    // ChampSim takes long silence for a deadlock. An access on its way is none.
    return progress + static_cast<long>(memory_->reads_out() + memory_->writes_out());
  }

  // Measures begin anew when ChampSim's do.
  void begin_phase() final { memory_->new_window(current_time.time_since_epoch().count()); }

  void print_deadlock() final {
    std::printf("cxloom: %zu reads and %zu writes on their way\n", memory_->reads_out(),
                memory_->writes_out());
  }

  champsim::data::bytes size() const { return bytes_; }

 private:
  // Takes requests from the front, as long as they are accepted.
  template <typename Queue, typename Accepts>
  static long take(Queue& queue, Accepts accepts) {
    auto next = queue.begin();
    while (next != queue.end() && accepts(*next)) ++next;
    const auto taken = static_cast<long>(std::distance(queue.begin(), next));
    queue.erase(queue.begin(), next);
    return taken;
  }

  std::vector<channel_type*> above_;
  champsim::data::bytes bytes_;
  std::shared_ptr<cxloom::integrations::ChampsimMemory> memory_;
};

#endif
