// Files for a test to read: in a folder of this process, as tests run side by side, which goes with it.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace cxloom::test {

/// Writes a file and returns its path, which ends with `name`.
inline std::string write_file(const std::string& name, const std::string& text) {
  struct Folder {
    std::filesystem::path path{std::filesystem::path(testing::TempDir()) /
                               ("cxloom-test-" + std::to_string(getpid()))};
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
  };
  static const Folder folder;
  const std::string path = folder.path / name;
  std::ofstream(path) << text;
  return path;
}

}  // namespace cxloom::test
