// Stands in for Ramulator 2 where it is not installed: the interface that the adapter uses, and the simplest
// memory behind it. Reads take a fixed number of cycles, writes are done when they are issued, one every two
// cycles; a write to a line that is buffered is done within `send`. A configuration has lines such as
// `memory_system.controllers.0.dram.channel_width: 32`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace Ramulator {

using Addr_t = std::int64_t;

/// What the next memory systems do; tests set it.
struct Behaviour {
  std::int64_t read_cycles = 48;
  std::size_t queue = 32;
  float period_ns = 0.416F;
  bool hangs = false;
};
inline Behaviour behaviour;

class ConfigNode {
 public:
  using Seq = std::vector<ConfigNode>;
  ConfigNode operator[](const std::string& key) const {
    const auto found = below_.find(key);
    return found == below_.end() ? ConfigNode{} : found->second;
  }
  const Seq& seq() const {
    items_.clear();
    for (const auto& [key, item] : below_) items_.push_back(item);
    if (items_.empty()) throw std::runtime_error("ConfigNode is not a sequence");
    return items_;
  }
  template <class T>
  T as(T otherwise = {}) const {
    std::istringstream in(text_);
    T value{};
    return in >> value ? value : otherwise;
  }
  ConfigNode& at(const std::string& key) { return below_[key]; }
  void set(std::string text) { text_ = std::move(text); }

 private:
  std::string text_;
  std::map<std::string, ConfigNode> below_;
  mutable Seq items_;
};

namespace Config {
inline ConfigNode parse_config_string(const std::string& text) {
  ConfigNode top;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) throw std::runtime_error("yaml: no mapping: " + line);
    ConfigNode* node = &top;
    std::istringstream path(line.substr(0, colon));
    for (std::string step; std::getline(path, step, '.');) node = &node->at(step);
    node->set(line.substr(colon + 2));
  }
  return top;
}
}  // namespace Config

struct Request {
  struct Type {
    enum : int { Read = 0, Write = 1 };
  };
  Addr_t addr = -1;
  int type_id = -1;
  std::int64_t depart = -1;
  std::function<void(Request&)> callback;
};

class IFrontEnd;

class IMemorySystem {
 public:
  virtual ~IMemorySystem() = default;
  void connect_frontend(IFrontEnd* /*frontend*/) {}
  bool send(Request& request) {
    if (request.type_id == Request::Type::Write) {
      if (buffered(request.addr)) {
        request.callback(request);
        return true;
      }
      if (writes_.size() >= behaviour.queue) return false;
      writes_.push_back(request);
      return true;
    }
    if (reads_.size() >= behaviour.queue) return false;
    request.depart = cycle_ + behaviour.read_cycles;
    reads_.push_back(request);
    return true;
  }
  void tick() {
    ++cycle_;
    if (behaviour.hangs) return;
    while (!reads_.empty() && reads_.front().depart <= cycle_) {
      Request done = std::move(reads_.front());
      reads_.pop_front();
      done.callback(done);
    }
    if (!writes_.empty() && cycle_ % 2 == 0) {
      Request done = std::move(writes_.front());
      writes_.pop_front();
      done.callback(done);
    }
  }
  float get_tCK() { return behaviour.period_ns; }
  int get_tx_bytes() { return 64; }

 private:
  bool buffered(Addr_t address) const {
    return std::any_of(writes_.begin(), writes_.end(),
                       [&](const Request& write) { return write.addr == address; });
  }
  std::deque<Request> reads_;
  std::deque<Request> writes_;
  std::int64_t cycle_ = 0;
};

class IFrontEnd {
 public:
  virtual ~IFrontEnd() = default;
  void connect_memory_system(IMemorySystem* memory) { memory_ = memory; }
  bool receive_external_requests(int type, Addr_t address, int /*source*/,
                                 std::function<void(Request&)> callback, int size_bytes) {
    if (size_bytes != memory_->get_tx_bytes()) throw std::runtime_error("a request of another size");
    Request request{address, type, -1, std::move(callback)};
    return memory_->send(request);
  }

 private:
  IMemorySystem* memory_ = nullptr;
};

struct Factory {
  static IFrontEnd* create_frontend(const ConfigNode& /*config*/) { return new IFrontEnd; }
  static IMemorySystem* create_memory_system(const ConfigNode& config) {
    if (config["memory_system"]["impl"].as<std::string>("") != "GenericDRAM") {
      throw std::runtime_error("unknown implementation of memory_system");
    }
    return new IMemorySystem;
  }
};

}  // namespace Ramulator
