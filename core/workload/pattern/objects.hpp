// The pattern of a program with objects: each has a range of addresses, a share of the accesses, and a
// pattern.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/schema.hpp"
#include "workload/pattern/pattern.hpp"
#include "workload/stream/latest_accesses.hpp"
#include "workload/stream/object_range.hpp"

namespace cxloom {

struct ObjectParams {
  std::string name;
  Bytes size;
  double accesses = 1.0;
  KindSpec pattern{"random", Value(Value::Map{})};
  double reads = 1.0;

  static void describe(Schema<ObjectParams>& schema);
};

struct ObjectsParams {
  std::vector<ObjectParams> objects;
  Address base;
  Bytes align{4096};

  static void describe(Schema<ObjectsParams>& schema);
  /// The addresses of each, one behind the other in the order in which they are written.
  std::vector<ObjectRange> laid_out() const;
};

/// Draws for each access the object that it is of; that object's pattern says which block.
class Objects final : public AccessStream {
 public:
  using Params = ObjectsParams;
  Objects(const Params& params, const PatternContext& context);
  bool next(Access& access) override;
  std::optional<AddressRange> range() const override { return range_; }
  std::uint64_t left_at_least() const override;
  bool may_store_past() const override;
  bool add_demand(std::vector<DemandPart>& parts) const override;

 private:
  struct Object {
    std::unique_ptr<AccessStream> stream;
    double until = 0.0;  // the sum of the shares up to its own
    LatestAccesses latest;
  };

  std::vector<Object> objects_;
  AddressRange range_;
  std::uint64_t made_ = 0;
  RandomStream random_;
};

/// The objects of a pattern of this kind, or the source and destination of a copy engine; none if it is
/// another.
std::vector<ObjectRange> objects_of(const std::string& kind, const Value& params);

}  // namespace cxloom
