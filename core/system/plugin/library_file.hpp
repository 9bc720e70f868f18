// A shared library as a file, read without loading it: mapping a file that is cut off, or running the
// initialisers of one that does not fit, ends the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace cxloom {

class LibraryFile {
 public:
  /// Throws InputError unless it is a whole library for this machine.
  explicit LibraryFile(const std::string& path);

  /// It gives this symbol to others.
  bool defines(const std::string& symbol) const { return symbols_.contains(symbol); }
  /// The bytes that a symbol stands for, as the file has them; none if there are none.
  std::vector<char> contents(const std::string& symbol);

 private:
  struct Extent {
    std::uint64_t start = 0;
    std::uint64_t size = 0;
  };
  struct Segment {
    Extent memory;
    Extent file;
  };

  void check(const Extent& extent) const;  // is it inside of the file
  std::vector<char> bytes(const Extent& extent);
  template <class T>
  std::vector<T> records(const Extent& extent);
  template <class T>
  T record(std::uint64_t start);

  void read_segments();
  void read_symbols();

  std::ifstream in_;
  std::uint64_t size_ = 0;
  std::vector<Segment> segments_;
  std::map<std::string, Extent> symbols_;  // in memory
};

}  // namespace cxloom
