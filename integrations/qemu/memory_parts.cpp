#include "memory_parts.hpp"

#include <cstdio>

namespace cxloom::qemu {

bool MemoryParts::read(const char* folder) {
  char name[4096 + 16];
  std::snprintf(name, sizeof name, "%s/memory", folder);
  std::FILE* const file = std::fopen(name, "re");
  if (file == nullptr) return false;
  unsigned long long begin = 0;
  unsigned long long bytes = 0;
  unsigned long long place = 0;
  int found = 0;
  count_ = 0;
  while ((found = std::fscanf(file, "%llx %llx %llx", &begin, &bytes, &place)) == 3 && count_ < kMost)
    parts_[count_++] = {begin, bytes, place};
  std::fclose(file);
  return found == EOF && count_ > 0;
}

}  // namespace cxloom::qemu
