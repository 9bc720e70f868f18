// Keeps memory of a device coherent by bias (HDM-D): each page is biased to the host, which then may hold its
// lines, or to the device, which then uses them without asking anybody. docs/model/bias.md has what it does.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "coherence/home/dcoh.hpp"

namespace cxloom {

/// The side that may use a page without asking.
enum class Bias : std::uint8_t {
  kHost,    ///< the host: it may hold lines, and the device asks for them
  kDevice,  ///< the device: nobody else holds a line
};

struct BiasParams : DirectoryParams {
  LineFilterParams filter;
  Bytes page{4096};
  Bias initial = Bias::kHost;
  std::uint32_t flip_after = 1;

  static void describe(Schema<BiasParams>& schema);
  static void estimate(const BiasParams& params, MemoryEstimate& memory) {
    estimate_filter(params.filter, memory);
    constexpr std::uint64_t kBytesOfQuestion = 640;  // a page that flips asks for all of its lines
    memory.add("page", to_text(params.page), 1, params.page.count() / kLineBytes * kBytesOfQuestion);
  }
};

/// A coherency agent whose snoop filter has the lines in the device's own cache only. The host's are not
/// followed line by line: a page that is biased to the host stands for them.
class BiasAgent final : public Dcoh {
 public:
  struct Page {
    Bias bias = Bias::kHost;
    bool flips = false;                          ///< to the device: requests to it wait
    std::uint32_t host = DirectoryPeers::kNone;  ///< the host that may have copies; kNone: nobody has any
    std::uint32_t asked = 0;       ///< times that the device has asked for a line since the host came last
    std::uint32_t under_way = 0;   ///< requests of the host for copies, and questions for lines
    Transaction* cause = nullptr;  ///< of a flip: the request that waits for it, or what takes the page back
    std::vector<Transaction*> waiting;
  };

  /// `memory`: the agent of the device's memory.
  BiasAgent(const BiasParams& params, Endpoint& endpoint, const ComponentContext& context,
            const VictimRegistry& victims, Agent& memory);

  Coherence coherence() const override { return Coherence::kHdmD; }
  void expect_host(NodeId host) override { host_ = peer_of(host); }
  void recall(NodeId cache) override;
  void end_recall(NodeId cache) override;
  void cut_off(NodeId cache) override;
  void receive(Message& message) override;
  void failed() override;
  /// By number, the pages that somebody has used.
  const std::unordered_map<std::uint64_t, Page>& pages() const { return pages_; }
  /// A host may have asked for copies.
  bool knows_host() const { return host_ != DirectoryPeers::kNone; }
  /// It was presumed dead since.
  bool host_gone() const { return gone_.contains(host_); }
  /// In a system parts of which fail: the host may have the line alone.
  bool host_has_alone(LineAddress line) const { return alone_.contains(line.number()); }

 private:
  Wish wish_of(const Message& request) const override;
  bool take_notice(Transaction& transaction) override;
  bool take_out_of_turn(Message& message) override;
  bool ask_first(Transaction& transaction) override;
  void asked(Transaction& transaction) override;
  void closed(LineAddress line) override;
  void address_snoop(Snoop& snoop, SnoopFor purpose, std::uint8_t lines) override;
  LineState grant(Transaction& transaction, bool failed) override;

  bool owns(LineAddress line, std::uint32_t peer) const override;
  void presume_dead(std::uint32_t peer) override;
  void take_back(LineAddress line) override;

  bool from_device(const Message& request) const { return request.source == endpoint().id(); }
  /// It is that of the device itself, or nobody's.
  bool is_own(std::uint32_t peer) const {
    return peer == DirectoryPeers::kNone || peer == peers().known(endpoint().id());
  }
  Page& page_of(LineAddress line);
  /// The host that may have lines of a page, or is to be asked for them: kNone if there is none.
  std::uint32_t asked_host(const Page& page) const {
    const std::uint32_t host = page.host == DirectoryPeers::kNone ? host_ : page.host;
    return gone_.contains(host) ? DirectoryPeers::kNone : host;
  }
  std::uint32_t know_host(const Message& request);
  void part_from(NodeId cache);
  void ask_host(Transaction& transaction, LineAddress line, std::uint32_t host, SnoopFor purpose);
  void leave_page(Page& page);
  /// A host keeps that of a line which it may have had alone.
  void host_keeps(LineAddress line, std::uint32_t host, MetaValue meta) {
    if (!losses() || meta == MetaValue::kAny) return;
    const auto found = alone_.find(line.number());
    if (found != alone_.end() && found->second == host) alone_.erase(found);
  }
  void begin_flip(Page& page, Transaction& cause);
  void flip(Page& page);
  void end_flip(Page& page);
  void response(Message& message);

  std::uint64_t page_lines_;
  Bias initial_;
  std::uint32_t flip_after_;
  std::unordered_map<std::uint64_t, Page> pages_;
  std::uint32_t host_ = DirectoryPeers::kNone;  // the one that reaches it, or that has asked for copies
  std::uint32_t copies_ = 0;                    // that hosts ask for, under way
  std::vector<NodeId> former_;                  // hosts that it has been unbound from
  // In a system parts of which fail.
  std::unordered_set<std::uint32_t> gone_;  // hosts presumed dead, which have asked for no copy since
  std::unordered_map<std::uint64_t, std::uint32_t> alone_;  // lines that a host may have alone, and which
};

}  // namespace cxloom
