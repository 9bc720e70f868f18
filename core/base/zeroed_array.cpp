#include "base/zeroed_array.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace cxloom {

namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20U;
// Reads all over a table wait for the machine's page tables less often if its pages are huge. Larger tables
// take usual pages: a huge page takes all of its memory, and the time to clear it, for the first byte.
constexpr std::size_t kMostInHugePages = std::size_t{256} << 20U;

bool in_huge_pages(std::size_t bytes) { return bytes >= kHugePage && bytes <= kMostInHugePages; }
std::size_t whole_pages(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

}  // namespace

void* take_zeroed(std::size_t bytes) {
  if (!in_huge_pages(bytes)) {
    void* const memory = std::calloc(bytes, 1);
    if (!memory && bytes != 0) throw std::bad_alloc();
    return memory;
  }
  // One page more than needed, so that there is a huge page's beginning in it; what lies around it is given
  // back.
  const std::size_t size = whole_pages(bytes);
  void* const map =
      mmap(nullptr, size + kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(map);
  const std::size_t before = (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before != 0) munmap(begin, before);
  munmap(begin + before + size, kHugePage - before);
  // Advice: a machine that does not take it gives usual pages.
#ifdef MADV_HUGEPAGE
  static_cast<void>(madvise(begin + before, size, MADV_HUGEPAGE));
#endif
  return begin + before;
}

void give_back_zeroed(void* memory, std::size_t bytes) {
  if (in_huge_pages(bytes)) {
    munmap(memory, whole_pages(bytes));
  } else {
    std::free(memory);
  }
}

}  // namespace cxloom
