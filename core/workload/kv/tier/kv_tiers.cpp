#include "workload/kv/tier/kv_tiers.hpp"

#include <utility>

namespace cxloom {

KvTiers::KvTiers(std::vector<std::shared_ptr<KvTier>> tiers, KvInclusion inclusion, KvWrites writes)
    : tiers_(std::move(tiers)),
      inclusion_(inclusion),
      writes_(writes),
      leaving_(tiers_.size()),
      entered_(tiers_.size()) {}

void KvTiers::find(std::span<const KvBlock> blocks, std::vector<std::uint8_t>& where) const {
  where.clear();
  for (const KvBlock block : blocks) {
    std::size_t tier = 0;
    while (tier < count() && !tiers_[tier]->readable(block)) ++tier;
    if (tier == count()) return;
    where.push_back(static_cast<std::uint8_t>(tier));
  }
}

void KvTiers::use(std::uint64_t request, std::span<const KvBlock> blocks, std::vector<KvTraffic>& traffic) {
  for (const auto& tier : tiers_) tier->begins(request, blocks);
  for (auto& entered : entered_) entered.clear();
  for (std::size_t i = blocks.size(); i-- > 0;) {
    if (inclusion_ == KvInclusion::kExclusive) use_exclusive(blocks[i], traffic);
    else use_inclusive(blocks[i], traffic);
  }
}

std::vector<KvBlock> KvTiers::begin_write(std::size_t tier) {
  std::vector<KvBlock> blocks = std::exchange(entered_[tier], {});
  tiers_[tier]->begin_write(blocks);
  return blocks;
}

bool KvTiers::insert(std::size_t tier, KvBlock block) {
  if (!tiers_[tier]->insert(block, leaving_[tier])) return false;
  entered_[tier].push_back(block);
  return true;
}

std::size_t KvTiers::tier_of(KvBlock block) const {
  std::size_t tier = 0;
  while (tier < count() && !tiers_[tier]->has(block)) ++tier;
  return tier;
}

void KvTiers::use_inclusive(KvBlock block, std::vector<KvTraffic>& traffic) {
  const bool was_here = tier_of(block) < count();
  bool stored = false;
  for (std::size_t i = 0; i < count(); ++i) {
    if (tiers_[i]->has(block)) {
      tiers_[i]->use(block);
      stored = true;
      continue;
    }
    // Written back, a block is in the first tier that takes it, and in the next ones when it leaves.
    if (writes_ == KvWrites::kBack && stored) continue;
    // What comes nearer than it was is fetched. Behind that it is written as a new block is.
    const bool fetched = was_here && !stored;
    if (!insert(i, block)) continue;
    ++(fetched ? traffic[i].fetched : traffic[i].stored);
    stored = stored || !fetched || writes_ == KvWrites::kBack;
    if (writes_ == KvWrites::kBack) demote(i, traffic);
    else leaving_[i].clear();
  }
}

void KvTiers::use_exclusive(KvBlock block, std::vector<KvTraffic>& traffic) {
  const std::size_t from = tier_of(block);
  // The block leaves its place before others move, so that its room counts. Where no tier before takes it, it
  // is back behind them.
  for (std::size_t i = 0; i < from; ++i) {
    if (!insert(i, block)) continue;
    if (from < count()) {
      tiers_[from]->remove(block);
      ++traffic[i].fetched;
    } else {
      ++traffic[i].stored;
    }
    demote(i, traffic);
    return;
  }
  if (from < count()) tiers_[from]->use(block);
}

void KvTiers::demote(std::size_t from, std::vector<KvTraffic>& traffic) {
  // The blocks that left go on to the next tier that takes them, and push others out of it in turn.
  for (std::size_t i = from; i < count(); ++i) {
    std::vector<KvBlock>& leaving = leaving_[i];
    for (const KvBlock block : leaving) {
      for (std::size_t next = i + 1; next < count(); ++next) {
        if (tiers_[next]->has(block)) break;
        if (!insert(next, block)) continue;
        ++traffic[next].demoted;
        break;
      }
    }
    leaving.clear();
  }
}

}  // namespace cxloom
