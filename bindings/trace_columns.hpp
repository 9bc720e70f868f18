// Batches of accesses between C++ and Python: one NumPy array a column, without work per access in Python.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "workload/stream/access_stream.hpp"
#include "workload/trace/stream.hpp"

namespace cxloom {

/// In the column `timestamp`: not given.
inline constexpr std::int64_t kNoTimestamp = -1;

template <class T>
using ColumnOf = nanobind::ndarray<nanobind::numpy, T, nanobind::ndim<1>, nanobind::c_contig>;
template <class T>
using ColumnIn = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// A new array of one field of each access, or of what else there is.
template <class T, class Record, class Field>
ColumnOf<T> column_of(const std::vector<Record>& accesses, Field&& field, std::size_t from = 0) {
  const std::size_t count = accesses.size() - std::min(from, accesses.size());
  auto values = std::make_unique<T[]>(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = field(accesses[from + i]);
  T* data = values.get();
  nanobind::capsule owner(values.release(),
                          [](void* pointer) noexcept { delete[] static_cast<T*>(pointer); });
  return ColumnOf<T>(data, {count}, owner);
}

/// The columns in the order of the format: address, kind, size, thread, instruction_gap, dependence,
/// timestamp, role, cycles, dependence_cycles. Behind them, if any access says its process, those.
inline nanobind::tuple columns_of(const std::vector<Access>& accesses) {
  const bool of_machine =
      std::ranges::any_of(accesses, [](const Access& access) { return access.process != 0; });
  return nanobind::make_tuple(
      column_of<std::uint64_t>(accesses, [](const Access& access) { return access.address.value(); }),
      column_of<std::uint8_t>(accesses, [](const Access& access) { return trace_kind(access); }),
      column_of<std::uint16_t>(accesses, [](const Access& access) { return access.size; }),
      column_of<std::uint32_t>(accesses, [](const Access& access) { return access.thread; }),
      column_of<std::uint32_t>(accesses, [](const Access& access) { return access.instruction_gap; }),
      column_of<std::uint32_t>(accesses, [](const Access& access) { return access.dependence; }),
      column_of<std::int64_t>(
          accesses, [](const Access& access) { return access.timed ? access.timestamp.ps() : kNoTimestamp; }),
      column_of<std::uint8_t>(accesses,
                              [](const Access& access) { return static_cast<std::uint8_t>(access.role); }),
      column_of<std::uint32_t>(accesses, [](const Access& access) { return access.cycles; }),
      column_of<std::uint16_t>(accesses, [](const Access& access) { return access.dependence_cycles; }),
      of_machine ? nanobind::cast(column_of<std::uint16_t>(
                       accesses, [](const Access& access) { return std::uint16_t{access.process}; }))
                 : nanobind::none());
}

/// Consecutive accesses on their way between a parser, Python and a simulation.
struct AccessBatch {
  std::vector<Access> accesses;
};

/// Appends the accesses of a batch: a dict with one array for each column, by the column's name; that of
/// processes may be missing.
void append_columns(const nanobind::dict& columns, std::vector<Access>& accesses);

/// Feeds a TraceStream from a Python callable that gives the next batch, as columns or as an AccessBatch, or
/// None at the end. Takes the GIL for as long as the callable runs, so that the simulation may run without
/// it; what it raises comes out of TraceStream::next.
TraceStream::Refill refill_from(nanobind::object feed);
/// A callable that makes another feed of the same trace, from its beginning; called with the GIL or without.
TraceStream::Again again_from(nanobind::object reopen);
/// A callable that is told the number of a thread.
TraceStream::Want want_of(nanobind::object told);

}  // namespace cxloom
