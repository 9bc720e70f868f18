// The virtual CXL switches (VCS) of a switch: which of its ports belong together. docs/model/virtual_switch.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/parameters.hpp"

namespace cxloom {

struct VcsParams {
  std::string upstream;
  std::uint32_t vppbs = 16;
  std::vector<std::string> bind;

  static void describe(Schema<VcsParams>& schema);
};

/// A virtual PCI-to-PCI bridge: a place for a device in a virtual switch.
struct Vppb {
  std::uint32_t vcs = 0;
  std::uint32_t vppb = 0;
};

/// Ports are called by the device at their other end. It can be copied, to try what is to happen.
class VirtualSwitches {
 public:
  explicit VirtualSwitches(const std::vector<VcsParams>& params) : params_(params) {}

  /// What a port leads to.
  struct Neighbour {
    std::string name;
    bool requests;  ///< it makes requests, or passes on what others ask
    bool serves;    ///< it has memory, or passes on what others answer
  };
  /// By port: to be called when all are connected. Throws InputError below `vcs`.
  void connect(const std::vector<Neighbour>& neighbours);
  /// Puts a device that is not bound into a free place. Throws InputError for the key of the event that is wrong.
  void bind(const Vppb& place, const std::string& device);
  /// Takes out the device in a place. With `surprise`, what it answers to this virtual switch is an error from now on, until it
  /// is bound there again.
  void unbind(const Vppb& place, bool surprise);

  /// The port belongs to a virtual switch.
  bool owned(std::uint16_t port) const { return owner_[port] != kNobody; }
  /// A request that came in by a port may leave by another.
  bool joined(std::uint16_t input, std::uint16_t output) const {
    return owner_[input] != kNobody && owner_[input] == owner_[output];
  }
  /// An answer may, also one of or to something that has been unbound since, but not of or to what has been removed.
  bool may_answer(std::uint16_t input, std::uint16_t output) const {
    return joined(input, output) || !(is_gone(input, owner_[output]) || is_gone(output, owner_[input]));
  }

 private:
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};

  void check(const Vppb& place) const;
  /// The device at a port has been removed by surprise from that virtual switch; of nobody's: from any.
  bool is_gone(std::uint16_t port, std::uint32_t vcs) const {
    return vcs == kNobody ? std::ranges::find(gone_[port], true) != gone_[port].end() : gone_[port][vcs];
  }

  std::vector<VcsParams> params_;
  std::vector<std::vector<std::string>> places_;  // by virtual switch and vPPB: the device, or nothing
  std::vector<std::string> names_;                // by port
  std::vector<bool> serves_;                      // by port: devices may be bound there
  std::vector<std::uint32_t> owner_;              // by port: its virtual switch
  std::vector<std::vector<bool>> gone_;           // by port and virtual switch: removed by surprise
};

}  // namespace cxloom
