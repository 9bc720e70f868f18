// NVM of four banks and round times, for tests.
#pragma once

#include "core/support/media_bench.hpp"
#include "memory/nvm/media.hpp"

namespace cxloom::test {

using NvmBench = MediaBench<NvmMedia>;

/// 100 ns to read, 200 ns to write; 10 ns to put a write into the buffer, 20 ns to read from it.
inline NvmMediaParams nvm_media() {
  using namespace literals;
  NvmMediaParams params;
  params.read_latency = 100_ns;
  params.write_latency = 200_ns;
  params.buffer_write_latency = 10_ns;
  params.buffer_read_latency = 20_ns;
  params.banks = 4;
  params.write_buffer = 8;
  return params;
}

/// The media with blocks of 256 B.
inline NvmMediaParams nvm_blocks() {
  using namespace literals;
  NvmMediaParams params = nvm_media();
  params.block = 256_B;
  return params;
}

}  // namespace cxloom::test
