#include "coherence/home/bias_params.hpp"

#include <bit>

#include "base/schema.hpp"

namespace cxloom {

namespace {

constexpr std::uint64_t kLargestPage = 2U << 20U;  // a flip asks for all lines of a page at once

}  // namespace

void BiasParams::describe(Schema<BiasParams>& schema) {
  schema.doc(
      "Coherence by bias (HDM-D): while a page is biased to the host, the device asks it for each line that "
      "it needs; while it is biased to the device, the device asks nobody.");
  describe_lookups(schema);
  schema.field("filter", &BiasParams::filter)
      .doc("Its snoop filter, of the lines in the device's own cache. What the host holds takes no entries.");
  schema.field("page", &BiasParams::page)
      .where(
          [](const Bytes& value) {
            return value.count() >= kLineBytes && value.count() <= kLargestPage &&
                   std::has_single_bit(value.count());
          },
          "a power of two from 64B to 2MiB")
      .doc("What is biased as a whole.")
      .source("CXL 3.x: the granularity is the device's choice, for example 4 KiB");
  schema.choice("initial", &BiasParams::initial, {{"host", Bias::kHost}, {"device", Bias::kDevice}})
      .doc("The bias of a page that nobody has used yet.");
  schema.field("flip_after", &BiasParams::flip_after)
      .doc(
          "Times that the device has to ask for a line of a page, with no request of the host between, until "
          "the page flips to the device: the host gives up all of its lines. 0: never. It flips to the host "
          "as soon as the host asks for a copy.");
}

}  // namespace cxloom
