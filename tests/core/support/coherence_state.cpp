#include "core/support/coherence_state.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "coherence/cache/agent.hpp"
#include "coherence/cache/grants_in_vain.hpp"
#include "coherence/home/bias_agent.hpp"
#include "coherence/home/directory_agent.hpp"

namespace cxloom::test {

StateText& StateText::version(LineAddress line, CoherenceOracle::Version version) {
  versions_.push_back({line, version, text_.size()});
  return *this << '?';
}

StateText& StateText::message(const Message& message) {
  const LineAddress line = LineAddress::of(message.address);
  *this << kOpcodeNames[static_cast<std::size_t>(message.opcode)] << ' ';
  this->line(line) << '/' << std::uint64_t{message.lines} << ' ' << std::uint64_t{message.source.index()}
                   << '>' << std::uint64_t{message.destination.index()};
  if (message.source == message.destination) *this << "for" << std::uint64_t{message.requester.index()};
  if (is_downstream(message.channel))
    *this << '.' << static_cast<std::uint64_t>(message.snp) << static_cast<std::uint64_t>(message.meta);
  flag(message.failed, 'f').flag(message.poisoned, 'p').flag(message.completion != nullptr, 'c');
  if (const auto carried = oracle_.carried(message)) version(line, *carried);
  if (const auto before = oracle_.latest_before(message)) (*this << '<').version(line, *before);
  if (const auto made = oracle_.made(message)) (*this << '=').version(line, *made);
  return *this << ';';
}

std::string StateText::finish() {
  std::sort(versions_.begin(), versions_.end(), [](const Written& a, const Written& b) {
    return std::pair(a.line, a.version) < std::pair(b.line, b.version);
  });
  char rank = 'a';
  for (std::size_t i = 0; i < versions_.size(); ++i) {
    const bool same_line = i > 0 && versions_[i].line == versions_[i - 1].line;
    if (!same_line) rank = 'a';
    else if (versions_[i].version != versions_[i - 1].version) ++rank;
    text_[versions_[i].at] = rank;
  }
  return std::move(text_);
}

namespace {

// How many answers there were before does not matter: the number is that among the answers that have not
// come.
void write_order(const AnswerOrder& order, const Message& message, StateText& text) {
  const std::size_t home = message.source.index();
  const AnswerOrder::Answers none;
  const AnswerOrder::Answers& came = home < order.came().size() ? order.came()[home] : none;
  std::uint64_t missing = message.pushes > came.all_to ? message.pushes - came.all_to : 0;
  for (const std::uint32_t number : came.beyond) missing -= number <= message.pushes ? 1 : 0;
  text << '^' << missing;
}

void write_early(const AnswerOrder& order, StateText& text) {
  for (const Message* message = order.early().first(); message; message = message->next) {
    text << "early";
    text.message(*message);
    write_order(order, *message, text);
  }
}

void write_pages(const BiasAgent& home, StateText& text) {
  text.flag(home.knows_host(), 'h').flag(home.host_gone(), 'g');
  for (const LineAddress line : text.lines()) text.flag(home.host_has_alone(line), 'A');
  const std::map<std::uint64_t, BiasAgent::Page> in_order(home.pages().begin(), home.pages().end());
  for (const auto& [number, page] : in_order) {
    text << "page" << number << "HD"[static_cast<std::size_t>(page.bias)] << std::uint64_t{page.asked} << ','
         << std::uint64_t{page.under_way};
    text.flag(page.flips, 'f');
    if (page.cause) (text << "for").line(page.cause->line);
    for (const BiasAgent::Transaction* const waits : page.waiting) (text << '~').line(waits->line);
  }
}

// The flaw of what has come, and whether what was granted is in vain.
void write_losses(const GrantsInVain& in_vain, const CacheTransaction& transaction, StateText& text) {
  if (transaction.flaw != Flaw::kNone) text << 'F' << static_cast<std::uint64_t>(transaction.flaw);
  text.flag(transaction.snooped_first, 'b').flag(transaction.completion_comes(), 'c');
  if (transaction.granted == LineState::kInvalid || transaction.flaw == Flaw::kError) return;
  text.flag(in_vain.covers(transaction.home, transaction.grant), 'v')
      .flag(GrantsInVain::snooped_behind(transaction, transaction.grant), 'w');
}

}  // namespace

void write(const CacheAgent& cache, NodeId node, StateText& text) {
  for (std::uint32_t level = 0; level < cache.levels().count(); ++level) {
    const CacheArray& array = cache.levels().array(level);
    for (std::uint32_t set = 0; set < array.sets(); ++set) {
      array.newest_first(set, [&](Slot slot) {
        text.line(array.line(slot)) << "IEMS"[static_cast<std::size_t>(array.state(slot))];
      });
      text << '|';
    }
  }
  for (const LineAddress line : text.lines()) {
    const CacheTransaction* const transaction = cache.under_way(line);
    const bool has_data = transaction && transaction->data_in && transaction->flaw == Flaw::kNone;
    if (cache.prefetcher() && cache.prefetcher()->is_ahead(line)) text.line(line) << 'P';
    if (has_data || cache.held(line) != LineState::kInvalid)
      text.version(line, text.oracle().in_cache(node, line));
    if (!transaction) continue;
    text.line(line) << '+' << static_cast<std::uint64_t>(transaction->doing)
                    << static_cast<std::uint64_t>(transaction->granted);
    text.flag(transaction->miss, 'm').flag(transaction->data_in, 'd').flag(transaction->asked, 'a');
    if (cache.in_vain()) write_losses(*cache.in_vain(), *transaction, text);
    for (const Request* request = transaction->waiting.first(); request; request = request->next)
      text << (request == transaction->prefetch ? 'P' : "RWA"[static_cast<std::size_t>(request->kind)])
           << request->id;
    if (const CacheSnoop* const snoop = transaction->snoop) {
      text << '!' << std::uint64_t{snoop->lines_left} << static_cast<std::uint64_t>(snoop->left);
      text.message(*snoop->message);
    }
  }
  for (const Request* request = cache.mshrs().waiting().first(); request; request = request->next) {
    text << "rwa"[static_cast<std::size_t>(request->kind)] << request->id << '@';
    text.line(LineAddress::of(request->address));
  }
  write_early(cache.protocols().cxl_cache.order(), text);
  write_early(cache.protocols().cxl_bias.order(), text);
  text << '\n';
}

void write_order(const CacheAgent& cache, const Message& message, StateText& text) {
  const Channel channel = message.channel;
  if (channel == Channel::kH2DReq || channel == Channel::kH2DRsp)
    write_order(cache.protocols().cxl_cache.order(), message, text);
  const CacheTransaction* const transaction = cache.under_way(LineAddress::of(message.address));
  if (cache.in_vain() && !message.failed && (channel == Channel::kH2DRsp || channel == Channel::kS2MNDR)) {
    text.flag(cache.in_vain()->covers(message.source, message.pushes), 'v');
    if (transaction) text.flag(GrantsInVain::snooped_behind(*transaction, message.pushes), 'w');
  }
  const bool by_bias =
      channel == Channel::kS2MNDR && transaction && transaction->protocol == &cache.protocols().cxl_bias;
  if (channel == Channel::kD2HReq || by_bias) write_order(cache.protocols().cxl_bias.order(), message, text);
}

void write(const DirectoryAgent& home, StateText& text) {
  const SnoopFilter& filter = home.filter();
  for (std::uint32_t set = 0; set < filter.tags().sets(); ++set) {
    filter.tags().newest_first(set, [&](Slot slot) {
      text.line(filter.line(slot)) << "SE"[static_cast<std::size_t>(filter.state(slot))];
      text.flag(filter.pinned(slot), 'p');
      for (std::uint32_t node = 0; node < home.peers().by_node().size();
           ++node) {  // who asked first does not matter
        const std::uint32_t peer = home.peers().by_node()[node];
        if (peer != DirectoryPeers::kNone && filter.has_owner(slot, peer)) text << ',' << std::uint64_t{node};
      }
    });
    text << '|';
  }
  if (const LineLosses* const losses = home.losses()) {
    for (const LineAddress line : text.lines()) text.flag(losses->poisoned(line), '!');
    for (std::uint32_t peer = 0; peer < home.peers().count(); ++peer)
      text.flag(losses->has_forgotten(peer, home.answers_sent(home.peers().node(peer))), 'z');
  }
  for (const LineAddress line : text.lines()) {
    const DirectoryAgent::Transaction* const transaction = home.under_way(line);
    if (!transaction) continue;
    text.line(line) << '+' << std::uint64_t{transaction->snoops_left};
    text.flag(transaction->slot != kNoSlot, 'e').flag(transaction->asks, 'a').flag(transaction->in_page, 'p');
    text.flag(transaction->shared_outside, 's')
        .flag(transaction->forwarded, 'f')
        .flag(transaction->owed, 'o');
    text.flag(transaction->waits_for_write_backs, 'w').flag(transaction->ends_with_write_backs, 'x');
    if (transaction->write_backs > 0) text << 'b' << std::uint64_t{transaction->write_backs};
    if (transaction->request) text.message(*transaction->request);
    if (transaction->evicts_for) (text << "for").line(transaction->evicts_for->line);
    if (transaction->block) (text << "with").line(transaction->block->line);
    for (const Message* message = transaction->waiting.first(); message; message = message->next)
      (text << '~').message(*message);
  }
  for (const DirectoryAgent::Transaction* const transaction : home.want_room())
    (text << "room").line(transaction->line);
  for (const Message* message = home.outside().first(); message; message = message->next)
    (text << "out").message(*message);
  if (const auto* const bias = dynamic_cast<const BiasAgent*>(&home)) write_pages(*bias, text);
  text << '\n';
}

}  // namespace cxloom::test
