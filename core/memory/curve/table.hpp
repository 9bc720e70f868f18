// Latency as a function of bandwidth and read share, from measured points.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/parameters.hpp"
#include "base/units.hpp"

namespace cxloom {

/// One measurement: at this share of reads and this bandwidth an access took this long.
struct CurvePoint {
  double reads = 1.0;
  Bandwidth bandwidth;
  Time latency;

  static void describe(Schema<CurvePoint>& schema);
};

/// For each read share a curve: points of rising bandwidth, straight lines between them. Between two shares
/// their curves are mixed, each at the same fraction of its largest bandwidth; beyond the lowest and the
/// highest share they hold as they are.
class CurveTable {
 public:
  /// Throws InputError at `points[i]`.
  explicit CurveTable(const std::vector<CurvePoint>& points);
  /// Reads a table (CSV or TSV, by its header: reads, bandwidth_gb_per_s, latency_ns; # begins a comment).
  /// Throws InputError at `file` with the line of the error.
  static CurveTable from_file(const std::string& path);

  /// The largest bandwidth at a read share, in bytes per nanosecond.
  double capacity(double reads) const;
  /// In nanoseconds, at `load` of the capacity, from 0 to 1.
  double latency(double reads, double load) const;
  /// The least latency of any point.
  double least_latency() const;

 private:
  struct Row {
    double reads;
    double bandwidth;   // bytes per nanosecond
    double latency;     // ns
    std::size_t place;  // index or line, for errors
  };
  struct Curve {
    double reads;
    std::vector<Row> points;

    double capacity() const { return points.back().bandwidth; }
    double latency(double bandwidth) const;
  };
  /// Two neighbouring curves and how far the share lies from the first to the second.
  struct Between {
    const Curve* low;
    const Curve* high;
    double weight;
  };

  CurveTable() = default;
  /// Builds the curves from rows; `complain(row, detail)` throws.
  template <class Complain>
  void build(const std::vector<Row>& rows, Complain complain);
  Between at(double reads) const;

  std::vector<Curve> curves_;  // of rising read share
};

}  // namespace cxloom
