#include "trace_columns.hpp"

#include "base/error.hpp"

namespace nb = nanobind;

namespace cxloom {

namespace {

template <class T>
ColumnIn<T> column_in(nb::handle batch, const char* name) {
  return nb::cast<ColumnIn<T>>(batch.attr(name));
}

}  // namespace

void append_batch(nb::handle batch, std::vector<Access>& accesses) {
  const auto address = column_in<std::uint64_t>(batch, "address");
  const auto kind = column_in<std::uint8_t>(batch, "kind");
  const auto size = column_in<std::uint16_t>(batch, "size");
  const auto thread = column_in<std::uint32_t>(batch, "thread");
  const auto gap = column_in<std::uint32_t>(batch, "instruction_gap");
  const auto dependence = column_in<std::uint32_t>(batch, "dependence");
  const auto timestamp = column_in<std::int64_t>(batch, "timestamp");
  const std::size_t count = address.size();
  for (const std::size_t other :
       {kind.size(), size.size(), thread.size(), gap.size(), dependence.size(), timestamp.size()}) {
    if (other != count) throw InputError({"the columns of a batch differ in length", {}, {}, {}});
  }
  accesses.reserve(accesses.size() + count);
  for (std::size_t i = 0; i < count; ++i) {
    Access& access = accesses.emplace_back();
    access.address = Address{address.data()[i]};
    access.kind = kind.data()[i] == 0 ? AccessKind::kRead : AccessKind::kWrite;
    access.size = size.data()[i];
    access.thread = thread.data()[i];
    access.instruction_gap = gap.data()[i];
    access.dependence = dependence.data()[i];
    access.timed = timestamp.data()[i] >= 0;
    access.timestamp = Time{access.timed ? timestamp.data()[i] : 0};
  }
}

TraceStream::Refill refill_from(nb::object batches) {
  // The last reference may go where the GIL is not held.
  const std::shared_ptr<nb::object> iterator(new nb::object(nb::iter(batches)), [](nb::object* object) {
    const nb::gil_scoped_acquire gil;
    delete object;
  });
  return [iterator](std::vector<Access>& accesses) {
    const nb::gil_scoped_acquire gil;
    const nb::object batch = nb::steal(PyIter_Next(iterator->ptr()));
    if (!batch.is_valid()) {
      if (PyErr_Occurred() != nullptr) nb::raise_python_error();
      return false;
    }
    append_batch(batch, accesses);
    return true;
  };
}

}  // namespace cxloom
