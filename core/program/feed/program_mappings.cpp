#include "program/feed/program_mappings.hpp"

#include <fstream>
#include <sstream>
#include <string>
#include <utility>

namespace cxloom {

// proc(5): begin-end permissions offset device inode path, which begins with / if it is one.
std::vector<ProgramMapping> mappings_of(std::uint32_t process, std::uint64_t offset) {
  std::vector<ProgramMapping> mappings;
  std::ifstream lines("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    ProgramMapping mapping;
    char dash = 0;
    std::string skipped;
    words >> std::hex >> mapping.begin >> dash >> mapping.end >> skipped >> mapping.offset >> skipped >>
        skipped;
    if (!words || dash != '-' || mapping.begin < offset) continue;
    mapping.begin -= offset;
    mapping.end -= offset;
    const std::size_t path = line.find('/');
    if (path != std::string::npos) mapping.path = line.substr(path);
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

}  // namespace cxloom
