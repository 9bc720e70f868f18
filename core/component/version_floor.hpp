// The floor of a line of persistent memory: the version below which it must not fall, by the answers that its
// requesters got.
#pragma once

#include <algorithm>
#include <cstdint>

namespace cxloom {

/// The reason why a version is too old, if it is.
enum class BrokenRule : std::uint8_t {
  kNone,
  kAnswered,  ///< a write that was answered, and made after this version had taken effect
  kRead,      ///< a version that a read brought, and that is known to have come after this one
};

/// A version has taken effect at the latest when its write is answered, or when a read that brought it
/// returns: it is *settled* then. Each line is a register whose writes all differ. A read of it that begins
/// now may bring version u, and the history of the line be linearizable, exactly if no other settled version
/// v was written, nor a read begun that brought v, after u was settled: the zones of u and v do not clash
/// (Gibbons and Korach 1997). What recovery leaves is such a read of each line.
///
/// Times are numbers of what has happened, in its order.
class VersionFloor {
 public:
  /// The write of a version is answered.
  void answered(std::uint32_t version, std::uint64_t written) {
    settled(version, written);
    if (written < answered_.at) return;
    answered_ = {version, written};
  }
  /// A read that began then has brought a version, written then.
  void read(std::uint32_t version, std::uint64_t written, std::uint64_t begun) {
    settled(version, written);
    if (version == latest_.version) {
      latest_.at = std::max(latest_.at, begun);
    } else if (begun > latest_.at) {
      other_ = latest_;
      latest_ = {version, begun};
    } else if (begun > other_.at) {
      other_ = {version, begun};
    }
  }

  /// The rule that a version breaks which was settled then.
  BrokenRule broken_by(std::uint32_t version, std::uint64_t settled) const {
    if (answered_.at > settled) return BrokenRule::kAnswered;
    if (written_.at > settled || seen_beside(version).at > settled) return BrokenRule::kRead;
    return BrokenRule::kNone;
  }
  /// The version that stands against that one.
  std::uint32_t needed_beside(std::uint32_t version, std::uint64_t settled) const {
    if (answered_.at > settled) return answered_.version;
    return written_.at > settled ? written_.version : seen_beside(version).version;
  }

 private:
  struct Known {
    std::uint32_t version = 0;
    std::uint64_t at = 0;
  };

  void settled(std::uint32_t version, std::uint64_t written) {
    if (written >= written_.at) written_ = {version, written};
  }
  const Known& seen_beside(std::uint32_t version) const {
    return latest_.version == version ? other_ : latest_;
  }

  Known answered_;  // the answered version that was written last
  Known written_;   // the settled version that was written last
  Known latest_;    // the version that reads brought, and when the last of these began
  Known other_;     // `latest_` of other versions
};

}  // namespace cxloom
