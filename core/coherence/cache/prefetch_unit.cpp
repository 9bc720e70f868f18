#include "coherence/cache/prefetch_unit.hpp"

#include <array>

#include "base/kind_registry.hpp"
#include "base/measure_table.hpp"
#include "component/component_time.hpp"
#include "protocol/address_map.hpp"

namespace cxloom {

namespace {

constexpr std::array kPrefetchMeasures{
    measure<&PrefetchCounts::issued>("prefetches", "",
                                     "lines that were asked for in the window ahead of their use. This and "
                                     "what follows is absent where nothing prefetches"),
    measure<&PrefetchCounts::useful>(
        "prefetches_useful", "",
        "lines that were used in the window for the first time since they had come so"),
    measure<&PrefetchCounts::late>("prefetches_late", "",
                                   "lines that were used in the window for the first time while they were "
                                   "still on their way so: a miss that waits for them"),
    measure<&PrefetchCounts::useless>("prefetches_useless", "",
                                      "lines that left the cache in the window, or were taken away, and had "
                                      "not been used since they had come so"),
    measure<&PrefetchCounts::failed>("prefetches_failed", "",
                                     "lines that did not come in the window because a link was down, and "
                                     "that nobody had asked for meanwhile"),
    measure<&PrefetchCounts::dropped>(
        "prefetches_dropped", "",
        "lines that were not asked for in the window because all registers for prefetches were taken"),
};

}  // namespace

std::vector<MeasureInfo> PrefetchCounts::measures() { return infos_of(kPrefetchMeasures); }

void PrefetchCounts::report(MeasureSink& sink) const { report_all(kPrefetchMeasures, *this, sink); }

PrefetchUnit::PrefetchUnit(std::unique_ptr<Prefetcher> prefetcher, Endpoint& endpoint, Cache& cache)
    : prefetcher_(std::move(prefetcher)), endpoint_(endpoint), cache_(cache), counts_(endpoint.kernel()) {}

std::unique_ptr<PrefetchUnit> PrefetchUnit::make(const KindSpec& prefetcher, const CacheKinds& kinds,
                                                 Endpoint& endpoint, Cache& cache) {
  auto made = with_path("prefetch", [&] {
    PrefetcherContext context;
    return kinds.prefetchers.make(prefetcher, context);
  });
  if (!made) return nullptr;
  return std::make_unique<PrefetchUnit>(std::move(made), endpoint, cache);
}

void PrefetchUnit::accessed(const Request& request, bool hit, Time looked_up) {
  const LineAddress line = LineAddress::of(request.address);
  const Found found = used(line) ? Found::kFirstUse : hit ? Found::kHit : Found::kMiss;
  wanted_.clear();
  prefetcher_->accessed({line, request.thread(), found}, wanted_);
  for (const LineAddress each : wanted_) {
    if (!worth_asking(each, line)) continue;
    if (under_way() < prefetcher_->params().registers) {
      ask(each, request, looked_up);
    } else {
      ++counts_->dropped;
    }
  }
}

bool PrefetchUnit::used(LineAddress line) {
  const Ahead* const ahead = ahead_.find(key_of(line));
  if (!ahead) return false;
  ++(ahead->here ? counts_->useful : counts_->late);
  ahead_.erase(key_of(line));
  return true;
}

// Never what only a use would have a right to: memory that is kept coherent by bias lets one host cache it.
bool PrefetchUnit::worth_asking(LineAddress line, LineAddress trigger) const {
  const std::uint64_t page = prefetcher_->lines_of_page();
  if (line.number() / page != trigger.number() / page || cache_.concerns(line)) return false;
  const AddressMap& map = endpoint_.address_map();
  const auto place = map.find(line.address());
  if (!place || place->coherence != Coherence::kHdmD) return place.has_value();
  const auto from = map.find(trigger.address());
  return from->coherence == Coherence::kHdmD && from->home == place->home;
}

// It is looked up where the access was, and leaves behind it.
void PrefetchUnit::ask(LineAddress line, const Request& trigger, Time looked_up) {
  Request& request = requests_.take();
  request.id = trigger.id;
  request.set_thread(trigger.thread());
  request.address = line.address();
  request.size = kLineBytes;
  request.target = endpoint_.id();
  request.begin(endpoint_.id(), endpoint_.now());
  request.charge(Segment::kCache, looked_up);
  ahead_.place(key_of(line)) = {key_of(line), false};
  ++counts_->issued;
  cache_.fetch(request);
}

void PrefetchUnit::came(Request& request) {
  const LineAddress line = LineAddress::of(request.address);
  if (ahead_.find(key_of(line))) {
    if (request.failed) {
      ++counts_->failed;
      ahead_.erase(key_of(line));
    } else {
      ahead_.at(key_of(line)).here = true;
    }
  }
  if (!request.failed) prefetcher_->filled(line, true);
  requests_.give_back(request);
}

void PrefetchUnit::left(LineAddress line) {
  if (!is_ahead(line)) return;
  ++counts_->useless;
  ahead_.erase(key_of(line));
}

}  // namespace cxloom
