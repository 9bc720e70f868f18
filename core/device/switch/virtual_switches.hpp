// The virtual CXL switches (VCS) of a switch: which of its ports belong together.
// docs/model/virtual_switch.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "component/roles.hpp"
#include "device/switch/vcs_params.hpp"

namespace cxloom {

/// A virtual PCI-to-PCI bridge: a place for a device in a virtual switch.
struct Vppb {
  std::uint32_t vcs = 0;
  std::uint32_t vppb = 0;
};

/// Ports are named by the device at their other end. It can be copied, to try what is to happen.
class VirtualSwitches {
 public:
  explicit VirtualSwitches(const std::vector<VcsParams>& params) : params_(params) {}

  /// What a port leads to.
  struct Neighbour {
    std::string name;
    bool requests;                    ///< it makes requests, or passes on what others ask
    bool is_device;                   ///< it may be bound: no host without memory
    std::size_t logical_devices = 0;  ///< of its memory
  };
  /// By port: to be called when all are connected. Throws InputError below `vcs`.
  void connect(std::vector<Neighbour> neighbours);
  /// Puts what is not bound into a free place. Throws InputError for the key of the event that is wrong.
  void bind(const Vppb& place, const BoundParams& bound);
  /// Takes out what is in a place. With `surprise`, what it answers to this virtual switch is an error from
  /// now on, until it is bound there again.
  void unbind(const Vppb& place, bool surprise);

  // A bit for each LD-ID.
  using LdSet = std::uint16_t;
  static LdSet lds_of(const BoundParams& bound) {
    return bound.ld ? static_cast<LdSet>(1U << *bound.ld) : kAllLds;
  }
  /// What of a device is bound to some place.
  LdSet bound_of(const std::string& device) const;
  const std::vector<VcsParams>& params() const { return params_; }

  /// The port belongs to a virtual switch.
  bool owned(std::uint16_t port) const { return owner_[port][0] != kNobody; }
  /// A request to a logical device (of a device without them: to any) that came in by a port may leave by
  /// another.
  bool joined(std::uint16_t input, std::uint16_t output, std::uint8_t ld) const {
    return owner_[input][ld] != kNobody && owner_[input][ld] == owner_[output][ld];
  }
  /// What is left to say about lines that caches have of something that has been unbound since, and not
  /// removed.
  bool may_finish(std::uint16_t input, std::uint16_t output, std::uint8_t ld) const;
  /// An answer may, also one of or to something that has been unbound since, but not of or to what has been
  /// removed.
  bool may_answer(std::uint16_t input, std::uint16_t output, std::uint8_t ld) const {
    return joined(input, output, ld) ||
           !(is_gone(input, owner_[output][ld], ld) || is_gone(output, owner_[input][ld], ld));
  }

 private:
  static constexpr std::size_t kLds = 16;  // LD-IDs have 4 bits
  static constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  static constexpr LdSet kAllLds = 0xffffU;

  static bool has(LdSet lds, std::uint8_t ld) { return (lds >> ld & 1U) != 0; }
  void check(const Vppb& place) const;
  void check_logical_device(const Neighbour& neighbour, const BoundParams& bound) const;
  void check_free(std::size_t port, const BoundParams& bound) const;
  std::vector<std::size_t> ports_to(const std::string& device) const;
  /// These LD-IDs belong to that virtual switch from now on.
  void give(std::size_t port, LdSet lds, std::uint32_t vcs);
  /// It belongs to that virtual switch, or did until it was unbound without surprise.
  bool knows(std::uint16_t port, std::uint32_t vcs, std::uint8_t ld) const {
    return owner_[port][ld] == vcs || has(left_[port][vcs], ld);
  }
  /// The device at a port has been removed by surprise from that virtual switch; of nobody's: from any.
  bool is_gone(std::uint16_t port, std::uint32_t vcs, std::uint8_t ld) const {
    if (vcs != kNobody) return has(gone_[port][vcs], ld);
    return std::ranges::any_of(gone_[port], [ld](LdSet lds) { return has(lds, ld); });
  }

  std::vector<VcsParams> params_;
  std::vector<std::vector<std::optional<BoundParams>>> places_;  // by virtual switch and vPPB
  std::vector<Neighbour> neighbours_;                            // by port
  // By port and LD-ID: its virtual switch. One for all LD-IDs, but where logical devices are bound apart.
  std::vector<std::array<std::uint32_t, kLds>> owner_;
  // By port and virtual switch: removed by surprise, and unbound without one.
  std::vector<std::vector<LdSet>> gone_;
  std::vector<std::vector<LdSet>> left_;
};

/// Has virtual CXL switches.
class VirtualSwitching {
 public:
  static constexpr RoleKind kRole = RoleKind::kVirtualSwitching;

  virtual VirtualSwitches& virtual_switches() = 0;

 protected:
  ~VirtualSwitching() = default;
};

}  // namespace cxloom
