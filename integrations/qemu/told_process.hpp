// Processes and mappings of a guest, on their way to the reader. There must be room for their words.
#pragma once

#include <cxloom/program_feed.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "guest_kernel.hpp"

namespace cxloom::qemu {

template <std::size_t kBytes>
void put_name(FeedWriter& writer, std::uint64_t first, const char (&name)[kBytes]) {
  std::uint64_t words[kBytes / sizeof(std::uint64_t)];
  std::memcpy(words, name, sizeof words);
  for (const std::uint64_t word : words) writer.ahead(first++) = word;
}

inline void put_process(FeedWriter& writer, const GuestKernel::Process& process) {
  static_assert(sizeof process.name == feed::kProcessNameWords * sizeof(std::uint64_t));
  writer.ahead(0) = feed::event(FeedEvent::kProcess, process.space & feed::kAddressMask);
  writer.ahead(1) = process.pid;
  writer.ahead(2) = process.parent & feed::kAddressMask;
  put_name(writer, 3, process.name);
  writer.publish(feed::kProcessWords);
}

inline void put_mapping(FeedWriter& writer, const GuestKernel::Mapping& mapping) {
  static_assert(sizeof mapping.name == feed::kMappingNameWords * sizeof(std::uint64_t));
  writer.ahead(0) = feed::event(FeedEvent::kMapping, mapping.space & feed::kAddressMask);
  writer.ahead(1) = mapping.begin;
  writer.ahead(2) = mapping.end;
  put_name(writer, 3, mapping.name);
  writer.publish(feed::kMappingWords);
}

}  // namespace cxloom::qemu
