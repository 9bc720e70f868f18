// A folder in which a test writes what an emulator would tell, and removes it at the end.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "program/feed/directory.hpp"
#include "program/feed/writer.hpp"

namespace cxloom::test {

class FeedBench {
 public:
  FeedBench() {
    std::string pattern = testing::TempDir() + "feedXXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  FeedBench(const FeedBench&) = delete;
  FeedBench& operator=(const FeedBench&) = delete;
  ~FeedBench() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }

  /// A writer of that ring.
  FeedWriter write(FeedControl& control, const FeedWriter::RingIdentity& ring) const {
    FeedWriter writer;
    EXPECT_EQ(writer.open(path_.c_str(), control, ring), 0);
    return writer;
  }

 private:
  std::string path_;
};

}  // namespace cxloom::test
