#include "system/run/block_check.hpp"

#include <algorithm>
#include <limits>

#include "base/error.hpp"
#include "component/transfer_engine.hpp"
#include "device/requester/requester.hpp"

namespace cxloom {

namespace {

void check_ends(const BlockOrder& order) {
  if (order.bytes == 0) throw InputError({"a transfer of no bytes", {}, "1 byte or more", {}});
  if (!order.from && !order.to)
    throw InputError({"a transfer from the device to itself", {}, "an address at one of its ends", {}});
  for (const auto& end : {order.from, order.to}) {
    if (end && order.bytes - 1 > std::numeric_limits<std::uint64_t>::max() - end->value())
      throw InputError({"a transfer past the end of all addresses",
                        to_text(*end) + " + " + to_text(Bytes{order.bytes}),
                        {},
                        {}});
  }
}

void check_engine(const BlockOrder& order, const std::string& device, const TransferEngine& engine) {
  if (order.from && order.to) {
    throw InputError({"a DMA engine moves blocks between the memory of its device and system memory",
                      to_text(*order.from) + " to " + to_text(*order.to),
                      "'" + device + "' itself at one end, or a host for a copy within system memory",
                      {}});
  }
  if (order.bytes > engine.memory().count()) {
    throw InputError({"a transfer is larger than the memory of '" + device + "'",
                      to_text(Bytes{order.bytes}),
                      "at most " + to_text(engine.memory()) + ", its hbm.capacity",
                      {}});
  }
}

// Lines that are read are written as they are.
void check_copy(const BlockOrder& order) {
  const std::uint64_t from = order.from->value();
  const std::uint64_t to = order.to->value();
  if ((from - to) % kLineBytes != 0) {
    throw InputError({"a copy within system memory that shifts bytes within their lines",
                      to_text(*order.from) + " to " + to_text(*order.to),
                      "addresses that differ by a multiple of 64",
                      {}});
  }
  if (std::max(from, to) - std::min(from, to) < order.bytes) {
    throw InputError({"a copy onto itself",
                      to_text(*order.from) + " to " + to_text(*order.to) + ", " + to_text(Bytes{order.bytes}),
                      "ends that do not overlap",
                      {}});
  }
}

}  // namespace

void check_block(const BlockOrder& order, const std::string& device, const Requester& requester,
                 const TransferEngine* engine) {
  check_ends(order);
  if (engine) return check_engine(order, device, *engine);
  if (requester.traits().has_cores) {
    throw InputError({"'" + device + "' has cores, which make accesses of programs",
                      {},
                      "a device with a DMA engine, or a host or an accelerator without `core`",
                      {}});
  }
  if (order.from && order.to) check_copy(order);
}

void check_block_mapped(const BlockOrder& order, const AddressMap& map, const Requester& requester) {
  for (const auto& end : {order.from, order.to}) {
    if (!end) continue;
    for (std::uint64_t offset = 0; offset < order.bytes;) {
      Access access;
      access.address = Address{end->value() + offset};
      access.size = static_cast<std::uint16_t>(
          std::min(kLineBytes - access.address.value() % kLineBytes, order.bytes - offset));
      requester.check_mapped(access);
      const auto* const region = map.region_of(access.address);
      offset += region->size - (access.address.value() - region->base);
    }
  }
}

}  // namespace cxloom
