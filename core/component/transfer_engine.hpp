// The role of a device whose DMA engine moves blocks of memory on demand: a task graph or a work of copies
// gives it transfers, and it tells them when they end.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.hpp"
#include "component/roles.hpp"

namespace cxloom {

class DmaInitiator;

/// A block of memory on its way between a device and system memory, given piece by piece.
class Transfer {
 public:
  enum class Way : std::uint8_t {
    kIn,   ///< from system memory to the device: the engine reads
    kOut,  ///< from the device to system memory: the engine writes
  };
  /// Bytes in system memory that follow each other; at least one. They may lie in several regions of the
  /// address map and over several memories.
  struct Extent {
    Address at;
    Bytes size;
  };
  virtual ~Transfer() = default;

  /// The next piece, in the order in which they are moved; nothing: that was all, and it is not called again.
  /// Called when the engine has room to begin that piece, during an event of the engine. A first call that
  /// gives nothing is a transfer of no bytes, which takes the launch alone.
  virtual std::optional<Extent> next() = 0;
  /// The last byte has arrived (in), or the engine knows that its memory has taken it (out). Called once, in
  /// an event at `at`, and the engine does not touch the transfer again. It may begin others in this call.
  virtual void done(Time at) = 0;
  /// Instead of `done`: a part of it was lost by a failure of a link or a device, or answered without data,
  /// and what else was under way has ended. Which bytes have arrived is not known.
  virtual void failed(Time at) = 0;
};

/// Moves blocks between the memory of its device and system memory. A stream is a queue: its transfers are
/// worked on one after the other, in the order in which they were given. Streams share the engine in turns.
class TransferEngine {
 public:
  static constexpr RoleKind kRole = RoleKind::kTransferEngine;

  /// How many there are; they are numbered from zero.
  virtual std::uint32_t streams() const = 0;
  /// Begins a transfer, now, after what its stream has been given before; the engine adds the time of a
  /// launch. `transfer` lives until it is `done` or `failed`. To be called in an event of the engine's own
  /// part of the system, once the simulation has started. Throws InternalError for a stream that there is
  /// not.
  virtual void begin(std::uint32_t stream, Transfer::Way way, Transfer& transfer) = 0;
  /// Transfers that were begun and have not ended, of all streams.
  virtual std::uint64_t transfers() const = 0;
  /// Bytes of the memory of its device.
  virtual Bytes memory() const = 0;
  /// Its DMA requests; null: it moves blocks by other means.
  virtual DmaInitiator* dma() { return nullptr; }

 protected:
  ~TransferEngine() = default;
};

}  // namespace cxloom
