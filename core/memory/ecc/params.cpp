#include "memory/ecc/params.hpp"

#include "base/schema.hpp"
#include "memory/ecc/media.hpp"

namespace cxloom {

void InlineEccParams::describe(Schema<InlineEccParams>& schema) {
  schema.doc(
      "ECC that is kept among the data of other media, as LPDDR controllers without pins for it have: it "
      "takes capacity, and accesses. What these measure follows, with backing_ before the names.");
  schema.field("data_lines", &InlineEccParams::data_lines)
      .min(1)
      .max(1024)
      .doc(
          "Lines of data that share a line of ECC, in one row of DRAM: of n + 1 lines n are left to the "
          "memory.")
      .source(
          "8 bits for 64 (SECDED) are a line for 8; i.MX 8M Plus gives an eighth of its memory (7), Grace a "
          "sixteenth (15)");
  schema.field("cache", &InlineEccParams::cache)
      .min(Bytes{kLineBytes})
      .doc(
          "Bytes of lines of ECC that the controller keeps, written back when they leave: a multiple of "
          "`ways` lines.")
      .source("own choice: 256 lines; no size is published");
  schema.field("ways", &InlineEccParams::ways)
      .doc("Lines in a set of it; 0 means fully associative. The oldest used leaves.")
      .source("own choice");
  schema.field("backing", &InlineEccParams::backing)
      .category("media")
      .required()
      .doc("The media that hold data and ECC.");
  schema.rule("cache must be a multiple of ways x 64 B", [](const InlineEccParams& params) {
    const std::uint64_t set = (params.ways == 0 ? 1 : std::uint64_t{params.ways}) * kLineBytes;
    return params.cache.count() >= set && params.cache.count() % set == 0;
  });
}

void InlineEccParams::estimate(const InlineEccParams& params, MemoryEstimate& memory) {
  memory.add("cache", to_text(params.cache), 1, InlineEccMedia::bytes_of_tables(params));
  memory.add_media("backing", params.backing);
}

}  // namespace cxloom
