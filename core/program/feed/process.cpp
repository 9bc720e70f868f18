#include "program/feed/process.hpp"

#include "program/feed/blocks.hpp"

namespace cxloom {

void FeedProcess::read_blocks() {
  cxloom::read_blocks(head(), static_cast<const std::uint64_t*>(ring_.pages.at(kFeedHeadBytes)), blocks_);
}

void FeedProcess::find_block(std::uint64_t number) {
  read_blocks();
  if (number >= blocks_.size()) refuse_feed("a block that was never described");
}

void FeedProcess::inherit(FeedProcess& parent) {
  parent.read_blocks();
  const std::uint32_t inherited = head().inherited;
  if (inherited > parent.blocks_.size()) refuse_feed("a fork that knows more blocks than its parent");
  blocks_.assign(parent.blocks_.begin(), parent.blocks_.begin() + inherited);
  ++parent.forks_seen_;
}

}  // namespace cxloom
