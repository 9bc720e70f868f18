// ASTRA-sim's remote memory as a system of cxloom: loads and stores of tensors are transfers of the running
// system, which contend in its links and memories. By ASTRA-sim's AstraRemoteMemoryAPI and cxloom's C
// interface alone; docs/astra-sim.md.
#pragma once

#include <cxloom/cxloom.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <astra-sim/common/AstraRemoteMemoryAPI.hh>
#include <astra-sim/system/Callable.hh>
#include <astra-sim/system/Sys.hh>
#include <astra-sim/system/WorkloadLayerHandlerData.hh>
#include <astra-sim/workload/Workload.hh>

namespace cxloom::integrations {

struct RemoteMemoryOptions {
  std::string system;                ///< a spec, as `cxloom resolve` prints it
  std::vector<std::string> devices;  ///< which make the transfers of NPU 0, 1, ...: a gpu each, or a host
  std::uint64_t base = 0;            ///< first address of the tensors of NPU 0
  /// Bytes of addresses of an NPU, behind those of the one before it. A trace has no addresses: each tensor
  /// is behind the one before it, and the first again where there is no room left.
  std::uint64_t window = std::uint64_t{1} << 30;
  /// Ticks (ns) between two looks at the system while tensors are on their way, at least. 1: ends are exact
  /// to the tick; more: they come up to so much later, with fewer events.
  std::uint64_t step = 1;
  /// Whether a node stores its tensor. ASTRA-sim's interface does not say: without it all are loads.
  std::function<bool(const AstraSim::WorkloadLayerHandlerData&)> stores = {};
};

/// One for all NPUs, as ASTRA-sim's own memories are. What goes wrong while ASTRA-sim runs ends it by
/// Sys::sys_panic, for ASTRA-sim catches what its callables throw.
class RemoteMemory final : public AstraSim::AstraRemoteMemoryAPI, private AstraSim::Callable {
 public:
  /// Throws std::invalid_argument for options that make no sense, and std::runtime_error with cxloom's error.
  explicit RemoteMemory(RemoteMemoryOptions options) : options_(std::move(options)) {
    if (options_.devices.empty()) throw std::invalid_argument("remote memory without devices");
    if (options_.step == 0 || options_.window < 64)
      throw std::invalid_argument("a step is 1 tick or more, and a window 64 bytes or more");
    char* error = nullptr;
    simulation_.reset(cxloom_open(options_.system.c_str(), nullptr, &error));
    if (!simulation_) {
      const std::string text = error ? error : "out of memory";
      cxloom_free(error);
      throw std::runtime_error(text);
    }
    for (auto device = options_.devices.begin(); device != options_.devices.end(); ++device) {
      if (std::find(options_.devices.begin(), device, *device) != device) continue;  // of several NPUs
      if (cxloom_drive(simulation_.get(), device->c_str()) != 0)
        throw std::runtime_error(cxloom_error(simulation_.get()));
    }
    offsets_.assign(options_.devices.size(), 0);
  }

  void set_sys(int id, AstraSim::Sys* sys) override {
    if (id < 0 || static_cast<std::size_t>(id) >= options_.devices.size())
      panic("NPU " + std::to_string(id) + " has no device: there are " +
            std::to_string(options_.devices.size()));
    systems_[id] = sys;
  }

  /// Begins a transfer, now; the node ends when the last byte has arrived.
  void issue(std::uint64_t tensor_size, AstraSim::WorkloadLayerHandlerData* node) override {
    const auto npu = static_cast<std::size_t>(node->sys_id);
    catch_up();
    if (tensor_size == 0) {
      ended_.push_back(node);
    } else {
      auto flight = std::make_unique<Flight>(Flight{this, node, tensor_size});
      const std::uint64_t at = place(npu, tensor_size);
      const bool stores = options_.stores && options_.stores(*node);
      if (cxloom_transfer(simulation_.get(), options_.devices[npu].c_str(), tensor_size,
                          stores ? CXLOOM_ITSELF : at, stores ? at : CXLOOM_ITSELF, &RemoteMemory::moved,
                          flight.get()) != 0)
        panic(cxloom_error(simulation_.get()));
      flights_.push_back(std::move(flight));
    }
    look_again(node->sys_id);
  }

  /// Ends the system and gives its summary, as `cxloom run --json` prints it; to be called once ASTRA-sim has
  /// ended.
  std::string finish() {
    if (cxloom_finish(simulation_.get()) != 0) throw std::runtime_error(cxloom_error(simulation_.get()));
    char* const text = cxloom_summary(simulation_.get());
    if (!text) throw std::runtime_error(cxloom_error(simulation_.get()));
    std::string summary = text;
    cxloom_free(text);
    return summary;
  }

 private:
  static constexpr std::int64_t kTick = 1000;  // ps
  struct Flight {
    RemoteMemory* memory;
    AstraSim::WorkloadLayerHandlerData* node;
    std::uint64_t bytes;
  };
  struct Close {
    void operator()(cxloom_simulation* simulation) const { cxloom_close(simulation); }
  };

  [[noreturn]] static void panic(const std::string& text) {
    AstraSim::Sys::sys_panic("cxloom: " + text);
    throw std::runtime_error(text);  // sys_panic does not come back
  }

  static void moved(void* user, std::int64_t /*picoseconds*/, std::uint64_t bytes) {
    Flight* const flight = static_cast<Flight*>(user);
    RemoteMemory& memory = *flight->memory;
    if (bytes != flight->bytes) memory.failure_ = "a tensor was answered without data";
    memory.ended_.push_back(flight->node);
    const auto is_it = [flight](const auto& each) { return each.get() == flight; };
    memory.flights_.erase(std::find_if(memory.flights_.begin(), memory.flights_.end(), is_it));
  }

  std::uint64_t place(std::size_t npu, std::uint64_t bytes) {
    if (bytes > options_.window)
      panic("a tensor of " + std::to_string(bytes) + " bytes and a window of " +
            std::to_string(options_.window));
    std::uint64_t& offset = offsets_[npu];
    if (bytes > options_.window - offset) offset = 0;
    const std::uint64_t at = options_.base + npu * options_.window + offset;
    offset = std::min(options_.window, offset + (bytes + 63) / 64 * 64);
    return at;
  }

  // Brings the system to ASTRA-sim's time.
  void catch_up() {
    const auto now = static_cast<std::int64_t>(AstraSim::Sys::boostedTick()) * kTick;
    if (cxloom_run_until(simulation_.get(), now) != 0) panic(cxloom_error(simulation_.get()));
    if (!failure_.empty()) panic(failure_);
  }

  // Another look at the next event of the system, rounded up to a tick, by an NPU that waits and so lives
  // until then.
  void look_again(int npu) {
    const std::uint64_t now = AstraSim::Sys::boostedTick();
    std::uint64_t at = now;
    if (ended_.empty()) {
      if (flights_.empty()) return;
      const std::int64_t next = cxloom_next_event(simulation_.get());
      if (next == INT64_MAX) panic("tensors are on their way, and nothing is left to happen");
      const auto ticks = static_cast<std::uint64_t>((next + kTick - 1) / kTick);
      at = std::max(ticks, now + options_.step);
    }
    if (armed_ && *armed_ >= now && *armed_ <= at) return;
    armed_ = at;
    systems_.at(npu)->register_event(this, AstraSim::EventType::General, nullptr, at - now);
  }

  void call(AstraSim::EventType /*type*/, AstraSim::CallData* /*data*/) override {
    armed_.reset();
    catch_up();
    // A node that ends may let others begin.
    const auto nodes = std::exchange(ended_, {});
    for (AstraSim::WorkloadLayerHandlerData* const node : nodes)
      node->workload->call(AstraSim::EventType::General, node);
    if (!ended_.empty()) look_again(ended_.front()->sys_id);
    else if (!flights_.empty()) look_again(flights_.front()->node->sys_id);
  }

  RemoteMemoryOptions options_;
  std::unique_ptr<cxloom_simulation, Close> simulation_;
  std::map<int, AstraSim::Sys*> systems_;
  std::vector<std::uint64_t> offsets_;            // of the next tensor of each NPU
  std::vector<std::unique_ptr<Flight>> flights_;  // oldest first
  std::vector<AstraSim::WorkloadLayerHandlerData*> ended_;
  std::optional<std::uint64_t> armed_;  // tick of the next look
  std::string failure_;
};

}  // namespace cxloom::integrations
