// Fills a flit of 68 B: four slots, of which slot 0 shares its 16 bytes with the flit header and carries no
// data.
#pragma once

#include "protocol/flit/filling.hpp"
#include "protocol/flit/geometry.hpp"

namespace cxloom {

class Packer68 {
 public:
  static constexpr const FlitGeometry& kFlit = geometry(FlitMode::k68B);

  explicit Packer68(FlitFilling& filling) : filling_(filling) {}

  /// The slots from the `first` on: slot 0 may have a MAC. No more data are under way than fit beside a
  /// header.
  void pack(unsigned first);

 private:
  void place_header();

  FlitFilling& filling_;
};

}  // namespace cxloom
