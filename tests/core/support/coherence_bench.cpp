#include "core/support/coherence_bench.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <utility>

#include "coherence/common/write_pull.hpp"
#include "coherence/home/agent.hpp"
#include "coherence/home/bias_agent.hpp"
#include "coherence/home/dcoh.hpp"
#include "component/component_time.hpp"
#include "component/memory_access.hpp"
#include "core/support/bench_memory.hpp"
#include "core/support/coherence_state.hpp"
#include "core/support/victims.hpp"
#include "kernel/kernel.hpp"
#include "protocol/address_map.hpp"

namespace cxloom::test {

Plan anything(std::uint32_t lines, std::uint32_t in_flight) {
  Plan plan{{}, true, in_flight};
  for (std::uint32_t line = 0; line < lines; ++line) {
    plan.steps.push_back(read_of(line));
    plan.steps.push_back(write_of(line));
  }
  return plan;
}

CacheAgentParams small_cache(std::uint32_t lines) {
  CacheAgentParams params;
  params.size = Bytes{lines * kLineBytes};
  params.ways = lines;
  params.access_time = {};
  params.atomic_time = Time{};
  return params;
}

HomeSetup small_home(std::uint32_t entries) {
  HomeSetup params;
  params.filter.entries = entries;
  params.lookup_time = {};
  return params;
}

// ---- Its parts

/// A requester with its cache, or one that keeps no copies and asks as a sequencer without a cache does.
class CoherenceBench::Host final : public Agent, private CacheAgent::Client {
 public:
  Host(MessageBench& bench, Endpoint& device, const HostSetup& setup, CoherenceOracle& oracle)
      : Agent(device),
        oracle_(oracle),
        plan_(setup.plan),
        results_(setup.plan.repeated ? 0 : setup.plan.steps.size()) {
    Agent* taker = this;
    if (setup.cache) {
      cache_ =
          std::make_unique<CacheAgent>(*setup.cache, Time{}, device, bench.context_of(device), cache_kinds(),
                                       static_cast<CacheAgent::Client&>(*this), setup.atomics);
      device.add(*cache_);
      for (const Channel channel : {Channel::kS2MBISnp, Channel::kH2DReq, Channel::kD2HReq})
        device.bind(channel, *cache_);
      taker = cache_.get();
    }
    for (const Channel channel : {Channel::kS2MNDR, Channel::kS2MDRS, Channel::kH2DRsp, Channel::kH2DData})
      device.bind(channel, *taker);
  }

  const CacheAgent* cache() const { return cache_.get(); }
  CacheAgent* losing_cache() { return cache_.get(); }
  const std::vector<std::optional<CoherenceOracle::Version>>& results() const { return results_; }
  bool idle() const { return requests_.live() == 0 && (!cache_ || cache_->prefetches() == 0); }

  /// How many of the steps of its plan may be next, and which.
  std::size_t options() const {
    if (requests_.live() == plan_.in_flight) return 0;
    if (plan_.repeated) return plan_.steps.size();
    if (issued_ == plan_.steps.size()) return 0;
    return plan_.steps[issued_].fenced && requests_.live() > 0 ? 0 : 1;
  }
  std::size_t option(std::size_t number) const { return plan_.repeated ? number : issued_; }
  const Step& step(std::size_t number) const { return plan_.steps[number]; }

  void issue(std::size_t number) {
    const Step& step = plan_.steps[number];
    Request& request = requests_.take();
    request.id = plan_.repeated ? 0 : number;
    request.kind = step.kind;
    request.size = step.size;
    request.keeps = step.keeps;
    request.address = LineAddress{step.line}.address();
    request.target = endpoint().id();
    request.begin(endpoint().id(), Time{});
    ++issued_;
    if (cache_) {
      cache_->access(request);
      return;
    }
    const bool read = request.kind == AccessKind::kRead;
    const bool atomic = request.kind == AccessKind::kAtomic;
    const AddressMap::DecodedAddress place = place_of(*this, 0, request.address);
    Opcode opcode = read ? Opcode::kMemRd : atomic ? Opcode::kMemAtomic : Opcode::kMemWr;
    if (place.coherence == Coherence::kHdmH) {
      opcode = read ? Opcode::kRdCurr : atomic ? Opcode::kAtomic : write_past_caches(request.size);
    } else {
      request.message.snp = read ? SnpType::kSnpCur : SnpType::kSnpInv;
    }
    send_request(*this, request, place, opcode, request.address, request.size, request.index);
  }

  void performed(LineAddress line, AccessKind kind, CoherenceOracle::Version version) {
    if (!plan_.repeated) performed_.push_back({line, kind, version});
  }

  // An answer to a requester without a cache.
  void receive(Message& message) override {
    if (message.opcode == Opcode::kWritePull || message.opcode == Opcode::kGoWritePull)
      send_pulled_data(*this, message, Time{});
    if (message.channel != Channel::kD2HData) answered(requests_.at(message.tag));
  }

  void write_state(StateText& text) const {
    if (cache_) test::write(*cache_, endpoint().id(), text);
    if (plan_.repeated) return;
    text << std::uint64_t{issued_};
    for (const auto& result : results_) (text << ',') << (result ? std::to_string(*result) : "-");
    text << '\n';
  }

 private:
  struct Performed {
    LineAddress line;
    AccessKind kind;
    CoherenceOracle::Version version;
  };

  void answered(Request& request) override {
    const LineAddress line = LineAddress::of(request.address);
    const auto found = std::find_if(performed_.begin(), performed_.end(), [&](const Performed& each) {
      return each.line == line && each.kind == request.kind;
    });
    const auto made = oracle_.take_made(request.message);
    if (made && !plan_.repeated) {
      results_[request.id] = made;
    } else if (found != performed_.end()) {
      results_[request.id] = found->version;
      performed_.erase(found);
    }
    requests_.give_back(request);
  }
  void written_back(NodeId /*target*/, std::uint16_t /*bytes*/) override {}
  void prefetched(NodeId /*target*/, std::uint16_t /*bytes*/) override {}
  void go_on() override {}

  CoherenceOracle& oracle_;
  Plan plan_;
  std::unique_ptr<CacheAgent> cache_;
  Pool<Request> requests_;
  std::size_t issued_ = 0;
  std::deque<Performed> performed_;  // without an answer yet
  std::vector<std::optional<CoherenceOracle::Version>> results_;
};

/// Tells the oracle, and the hosts what they read and wrote.
class CoherenceBench::Watch final : public ProtocolObserver {
 public:
  explicit Watch(CoherenceBench& bench) : bench_(bench) {}

  void sent(const Message& message, Time at) override { bench_.oracle_.sent(message, at); }
  void handling(const Message& message, NodeId node, Time now, const std::string& state) override {
    bench_.oracle_.handling(message, node, now, state);
  }
  void handled(const std::string& state) override { bench_.oracle_.handled(state); }
  void lost(const Message& message) override { bench_.oracle_.lost(message); }
  void performed(NodeId node, LineAddress line, AccessKind kind, Time now) override {
    bench_.oracle_.performed(node, line, kind, now);
    const CoherenceOracle::Version version = bench_.oracle_.in_cache(node, line);
    bench_.hosts_[node.index()]->performed(line, kind, version);
    if (bench_.logs_)
      bench_.log_.push_back("      " + bench_.bench_.name_of(node) +
                            (kind == AccessKind::kRead    ? " has read "
                             : kind == AccessKind::kWrite ? " has written "
                                                          : " has changed ") +
                            to_text(line.address()) + ", version " + std::to_string(version));
  }

 private:
  CoherenceBench& bench_;
};

// ---- The system

CoherenceBench::CoherenceBench(const CoherenceSetup& setup)
    : oracle_(*bench_.system_context().map), watch_(std::make_unique<Watch>(*this)) {
  for (std::uint32_t line = 0; line < setup.lines; ++line) lines_.emplace_back(line);
  bench_.set_order(setup.order);
  if (setup.fault) bench_.on_send(setup.fault);
  for (std::size_t i = 0; i < setup.hosts.size(); ++i) {
    Endpoint& device = bench_.add_device("host" + std::to_string(i));
    hosts_.push_back(std::make_unique<Host>(bench_, device, setup.hosts[i], oracle_));
    if (hosts_[i]->cache())
      oracle_.add(device.id(), *hosts_[i]->cache(), setup.hosts[i].cache->clean_evictions);
  }
  Endpoint& device = add_home(setup);
  oracle_.add(device.id(), *home_);
  RegionParams region;
  region.to = {device.name()};
  region.coherence = setup.home.coherence;
  bench_.system_context().map->add_region(region, {{device.name(), device.id(), Bytes{1U << 20U}}});
  bench_.watch(*watch_);
  if (setup.failure) let_fail(*setup.failure);
  bench_.start();
}

void CoherenceBench::let_fail(const FailureSetup& setup) {
  losses_ = std::make_unique<CoherenceLosses>(bench_, setup);
  for (const auto& host : hosts_) losses_->add(host->losing_cache());
  losses_->add(*home_, [this] { memory_->lose(lines_); });
  oracle_.expect_losses([this](LineAddress line) {
    return memory_->lost(line) ? CoherenceOracle::Lost::kMemoryAndHome : CoherenceOracle::Lost::kNothing;
  });
  if (!setup.trusts_poison) return;
  bench_.on_send([](Message& message) {
    if (message.poisoned) message.failed = message.poisoned = false;
    return MessageBench::Fate::kQueued;
  });
}

CoherenceBench::~CoherenceBench() = default;

Endpoint& CoherenceBench::add_home(const CoherenceSetup& setup) {
  const HomeSetup& home = setup.home;
  Endpoint& device = home.in_first ? hosts_.front()->endpoint() : bench_.add_device("mem");
  memory_ = std::make_unique<BenchMemory>(bench_, device, setup.quick_memory);
  const ComponentContext context = bench_.context_of(device);
  const auto take_over = [&](auto params) {
    static_cast<DirectoryParams&>(params) = home;
    params.filter = home.filter;
    return params;
  };
  if (home.coherence == Coherence::kHdmH) {
    home_ =
        std::make_unique<HomeAgent>(take_over(HomeAgentParams{}), device, context, victims(), memory_.get());
  } else if (home.coherence == Coherence::kHdmD) {
    BiasParams params = take_over(BiasParams{});
    params.page = home.page;
    params.initial = home.initial;
    params.flip_after = home.flip_after;
    home_ = std::make_unique<BiasAgent>(params, device, context, victims(), *memory_);
  } else {
    home_ = std::make_unique<Dcoh>(home, device, context, victims(), memory_.get());
  }
  memory_->put_behind(*home_);
  if (home.in_first) bench_.queue_inside(device);
  return device;
}

std::size_t CoherenceBench::choices() const {
  std::size_t all = deliveries();
  for (std::size_t i = 0; i < hosts_.size(); ++i) all += options(i);
  return all + (losses_ && losses_->may_turn() ? 1 : 0);
}

std::size_t CoherenceBench::options(std::size_t host) const {
  return losses_ && losses_->crashed(host) ? 0 : hosts_[host]->options();
}

CoherenceBench::Issue CoherenceBench::issue(std::size_t choice) const {
  choice -= deliveries();
  std::size_t host = 0;
  for (; host < hosts_.size() && choice >= options(host); ++host) choice -= options(host);
  if (host == hosts_.size()) return {host, 0};
  return {host, hosts_[host]->option(choice)};
}

void CoherenceBench::perform(std::size_t choice) {
  if (losses_ && choice < deliveries()) return losses_->take(losses_->choices()[choice]);
  if (choice < deliveries()) {
    bench_.deliver(std::next(bench_.queues().begin(), static_cast<std::ptrdiff_t>(choice))->first);
    return;
  }
  const Issue next = issue(choice);
  if (next.host == hosts_.size()) return losses_->turn();
  hosts_[next.host]->issue(next.step);
  bench_.settle();
}

void CoherenceBench::run_step(std::size_t host) {
  hosts_[host]->issue(hosts_[host]->option(0));
  bench_.settle();
  while (deliveries() > 0) perform(0);
}

void CoherenceBench::take(std::size_t choice) {
  if (losses_) oracle_.settled();
  if (!logs_) {
    perform(choice);
    return;
  }
  log_.push_back(std::to_string(++steps_) + ". " + describe(choice));
  const std::vector<std::string> before = line_states();
  const auto tell = [&] {
    const std::vector<std::string> after = line_states();
    for (std::size_t i = 0; i < after.size(); ++i) {
      if (after[i] != before[i])
        log_.push_back("      " + before[i] + " becomes " + after[i].substr(after[i].rfind(' ') + 1));
    }
    for (const std::string& sent : bench_.take_sent()) log_.push_back("      sends " + sent);
  };
  try {
    perform(choice);
  } catch (...) {
    tell();
    throw;
  }
  tell();
}

std::string CoherenceBench::describe(std::size_t choice) const {
  if (losses_ && choice < deliveries()) return losses_->describe(losses_->choices()[choice]);
  if (choice < deliveries()) {
    const auto& queue = std::next(bench_.queues().begin(), static_cast<std::ptrdiff_t>(choice))->second;
    return bench_.describe(*queue.messages.front()) + " arrives";
  }
  const Issue next = issue(choice);
  if (next.host == hosts_.size()) return losses_->describe_turn();
  const Step& step = hosts_[next.host]->step(next.step);
  return "host" + std::to_string(next.host) +
         (step.kind == AccessKind::kRead    ? " is to read "
          : step.kind == AccessKind::kWrite ? " is to write "
          : step.kind == AccessKind::kFlush ? " is to flush "
                                            : " is to change ") +
         to_text(LineAddress{step.line}.address());
}

// "host0 has 0x40 as E"
std::vector<std::string> CoherenceBench::line_states() const {
  std::vector<std::string> states;
  const auto add = [&](const std::string& name, LineAddress line, std::string state) {
    std::replace(state.begin(), state.end(), ' ', '-');
    states.push_back(name + " has " + to_text(line.address()) + " as " + state);
  };
  for (const LineAddress line : lines_) {
    for (std::size_t i = 0; i < hosts_.size(); ++i) {
      if (hosts_[i]->cache()) add("host" + std::to_string(i), line, hosts_[i]->cache()->line_state(line));
    }
    add("home", line, home_->line_state(line));
  }
  return states;
}

bool CoherenceBench::idle() const {
  return bench_.queues().empty() && (!losses_ || losses_->idle()) &&
         std::all_of(hosts_.begin(), hosts_.end(), [](const auto& host) { return host->idle(); });
}

std::string CoherenceBench::violation() {
  if (!memory_->raced().empty()) return memory_->raced();
  if (idle()) {
    oracle_.idle();
  } else {
    oracle_.settled();
  }
  return oracle_.violation();
}

std::string CoherenceBench::fingerprint() const {
  StateText text(oracle_, lines_);
  for (const auto& host : hosts_) host->write_state(text);
  test::write(*home_, text);
  for (const auto& [key, queue] : bench_.queues()) {
    for (const Message* const message : queue.messages) {
      text.message(*message);
      const auto host = message->destination.index();
      if (host < hosts_.size() && hosts_[host]->cache())
        test::write_order(*hosts_[host]->cache(), *message, text);
      if (losses_ && (oracle_.is_snoop(*message) || home_->pulls(*message)))
        text.flag(!home_->awaits(*message), 'g');
    }
    if (losses_) losses_->write(key, text);
    text << (key.vc >= BenchMemory::kApart ? '/' : '|');
  }
  if (losses_) losses_->write(text);
  for (const LineAddress line : lines_) {
    text.flag(memory_->lost(line), '?');
    text.version(line, oracle_.latest(line)).version(line, oracle_.in_memory(line));
    if (const auto forwarded = oracle_.forwarded(line)) text.version(line, *forwarded);
  }
  return text.finish();
}

void CoherenceBench::keep_log() {
  logs_ = true;
  bench_.keep_log();
}

CoherenceBench::Results CoherenceBench::results() const {
  Results all;
  for (const auto& host : hosts_) all.push_back(host->results());
  return all;
}

}  // namespace cxloom::test
