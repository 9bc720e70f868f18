#include "memory/compressed/params.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/memory_estimate.hpp"
#include "base/schema.hpp"

namespace cxloom {

void CompressedParams::describe(Schema<CompressedParams>& schema) {
  const auto power_of_two = [](const Bytes& bytes) { return std::has_single_bit(bytes.count()); };
  schema.doc(
      "Media that keep each block of data compressed in other media: a read reads and decompresses its "
      "block, a write of less than a block does so, too, and then compresses and writes it. What the other "
      "media measure follows, with backing_ before the names.");
  schema.field("block", &CompressedParams::block)
      .min(Bytes{kLineBytes})
      .max(Bytes{32'768})
      .where(power_of_two, "a power of two")
      .doc("Bytes that are compressed together: a `sector` at least, and a `page` at most.")
      .source("IBM MXT (Tremaine et al., IBM J. R&D 45(2), 2001)");
  schema.field("sector", &CompressedParams::sector)
      .min(Bytes{kLineBytes})
      .where(power_of_two, "a power of two")
      .doc("A compressed block takes whole sectors of so many bytes of the other media.")
      .source("IBM MXT");
  schema.field("page", &CompressedParams::page)
      .min(Bytes{kLineBytes})
      .where(power_of_two, "a power of two")
      .doc("Bytes whose blocks have one ratio.")
      .source("own choice: a page of a host");
  schema.field("ratio", &CompressedParams::ratio)
      .min(1.0)
      .max(64.0)
      .doc(
          "Bytes of a block / those that it takes compressed, before these are rounded up to sectors; of the "
          "mean page.")
      .source("IBM MXT: about 2 of memories of servers");
  schema.field("spread", &CompressedParams::spread)
      .min(0.0)
      .max(1.0)
      .doc(
          "The ratio of a page is drawn evenly from ratio x (1 - spread) to ratio x (1 + spread), by its "
          "address and the seed; below 1 a block is kept as it is.")
      .source("own choice: all pages alike");
  schema.field("compress_time", &CompressedParams::compress_time)
      .doc("Time of an engine for a block that is compressed.")
      .source("own choice");
  schema.field("decompress_time", &CompressedParams::decompress_time)
      .doc("Time of an engine for a block that is decompressed.")
      .source("own choice");
  schema.field("engines", &CompressedParams::engines)
      .min(1)
      .doc("Engines, each of which compresses or decompresses a block at a time.")
      .source("own choice");
  schema.field("backing", &CompressedParams::backing)
      .category("media")
      .required()
      .doc("The media that hold the compressed blocks.");
  schema.rule("sector must be at most block, and block at most page", [](const CompressedParams& params) {
    return params.sector <= params.block && params.block <= params.page;
  });
}

std::uint64_t CompressedParams::stored(double compressed_by) const {
  const double bytes = static_cast<double>(block.count()) / std::max(compressed_by, 1.0);
  const double sectors = std::ceil(bytes / static_cast<double>(sector.count()));
  return std::min(block.count(), static_cast<std::uint64_t>(sectors) * sector.count());
}

// A block takes k of n sectors where the ratio is n / k or more, but less than n / (k - 1).
std::uint64_t CompressedParams::place() const {
  const double low = ratio * (1.0 - spread);
  const double high = ratio * (1.0 + spread);
  const std::uint64_t most = block.count() / sector.count();
  if (high <= low) return stored(ratio);
  double mean = 0;  // in sectors
  double below = 0;
  for (std::uint64_t sectors = most; sectors > 0; --sectors) {
    const double up_to = sectors > 1 ? static_cast<double>(most) / static_cast<double>(sectors - 1) : high;
    const double share = std::max(std::min(up_to, high) - std::max(below, low), 0.0) / (high - low);
    mean += share * static_cast<double>(sectors);
    below = up_to;
  }
  constexpr double kRounding = 1e-9;
  return static_cast<std::uint64_t>(std::ceil(mean - kRounding)) * sector.count();
}

void CompressedParams::estimate(const CompressedParams& params, MemoryEstimate& memory) {
  memory.add_media("backing", params.backing);
}

}  // namespace cxloom
