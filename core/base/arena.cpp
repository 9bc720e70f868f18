#include "base/arena.hpp"

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace cxloom {

namespace {

/// Gives blocks of 2 MiB or more as whole huge pages, where the machine has them.
class HugePages final : public std::pmr::memory_resource {
 public:
  static constexpr std::size_t kPage = std::size_t{2} << 20U;

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (bytes < kPage) return ::operator new(bytes, std::align_val_t{alignment});
    const std::size_t whole = (bytes + kPage - 1) & ~(kPage - 1);
    void* const block = ::operator new(whole, std::align_val_t{kPage});
    // Advice: a machine that does not take it gives usual pages.
#ifdef MADV_HUGEPAGE
    static_cast<void>(madvise(block, whole, MADV_HUGEPAGE));
#endif
    return block;
  }
  void do_deallocate(void* block, std::size_t bytes, std::size_t alignment) override {
    ::operator delete(block, std::align_val_t{bytes < kPage ? alignment : kPage});
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

std::pmr::memory_resource& huge_pages() {
  static HugePages pages;
  return pages;
}

// Blocks grow by half: from the third on they are huge pages. A page that nobody has written takes no memory.
constexpr std::size_t kFirst = std::size_t{1} << 20U;

}  // namespace

Arena::Arena() : memory_(kFirst, &huge_pages()) {}

}  // namespace cxloom
