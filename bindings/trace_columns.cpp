#include "trace_columns.hpp"

#include <optional>
#include <utility>

#include "base/error.hpp"

namespace nb = nanobind;

namespace cxloom {

namespace {

template <class T>
ColumnIn<T> column_in(const nb::dict& columns, const char* name) {
  return nb::cast<ColumnIn<T>>(columns[name]);
}

}  // namespace

void append_columns(const nb::dict& columns, std::vector<Access>& accesses) {
  const auto address = column_in<std::uint64_t>(columns, "address");
  const auto kind = column_in<std::uint8_t>(columns, "kind");
  const auto size = column_in<std::uint16_t>(columns, "size");
  const auto thread = column_in<std::uint32_t>(columns, "thread");
  const auto gap = column_in<std::uint32_t>(columns, "instruction_gap");
  const auto dependence = column_in<std::uint32_t>(columns, "dependence");
  const auto timestamp = column_in<std::int64_t>(columns, "timestamp");
  const auto role = column_in<std::uint8_t>(columns, "role");
  const auto cycles = column_in<std::uint32_t>(columns, "cycles");
  const auto dependence_cycles = column_in<std::uint16_t>(columns, "dependence_cycles");
  std::optional<ColumnIn<std::uint16_t>> process;
  if (columns.contains("process")) process = column_in<std::uint16_t>(columns, "process");
  const std::size_t count = address.size();
  for (const std::size_t other :
       {kind.size(), size.size(), thread.size(), gap.size(), dependence.size(), timestamp.size(), role.size(),
        cycles.size(), dependence_cycles.size(), process ? process->size() : count}) {
    if (other != count) throw InputError({"the columns of a batch differ in length", {}, {}, {}});
  }
  accesses.reserve(accesses.size() + count);
  for (std::size_t i = 0; i < count; ++i) {
    Access& access = accesses.emplace_back();
    access.address = Address{address.data()[i]};
    ensure(kind.data()[i] < kTraceKinds, "an access of a kind that there is not");
    set_trace_kind(access, kind.data()[i]);
    access.size = size.data()[i];
    access.thread = thread.data()[i];
    access.instruction_gap = gap.data()[i];
    access.dependence = dependence.data()[i];
    access.timed = timestamp.data()[i] >= 0;
    access.timestamp = Time{access.timed ? timestamp.data()[i] : 0};
    ensure(role.data()[i] < kAccessRoles, "an access of a role that there is not");
    access.role = static_cast<AccessRole>(role.data()[i]);
    access.cycles = cycles.data()[i];
    access.dependence_cycles = dependence_cycles.data()[i];
    if (process) access.process = process->data()[i] & kLastProcess;
  }
}

// The last reference may go where the GIL is not held.
static std::shared_ptr<nb::object> held_anywhere(nb::object object) {
  return {new nb::object(std::move(object)), [](nb::object* last) {
            const nb::gil_scoped_acquire gil;
            delete last;
          }};
}

TraceStream::Want want_of(nb::object told) {
  return [held = held_anywhere(std::move(told))](std::uint32_t thread) {
    const nb::gil_scoped_acquire gil;
    (*held)(thread);
  };
}

TraceStream::Refill refill_from(nb::object feed) {
  return [held = held_anywhere(std::move(feed))](std::vector<Access>& accesses) {
    const nb::gil_scoped_acquire gil;
    const nb::object next = (*held)();
    if (next.is_none()) return false;
    if (nb::isinstance<AccessBatch>(next)) {
      const std::vector<Access>& batch = nb::cast<const AccessBatch&>(next).accesses;
      accesses.insert(accesses.end(), batch.begin(), batch.end());
    } else {
      append_columns(nb::cast<nb::dict>(next), accesses);
    }
    return true;
  };
}

TraceStream::Again again_from(nb::object reopen) {
  return [held = held_anywhere(std::move(reopen))] {
    const nb::gil_scoped_acquire gil;
    return refill_from((*held)());
  };
}

}  // namespace cxloom
