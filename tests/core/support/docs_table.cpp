#include "core/support/docs_table.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace cxloom::test {

namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string> cells(const std::string& line) {
  const std::string row = trimmed(line);
  if (row.size() < 2 || row.front() != '|' || row.back() != '|') return {};
  return split(row.substr(1, row.size() - 2), '|');
}

// Tests run in the project's folder, or in one inside it.
std::ifstream opened(const std::string& document) {
  for (std::filesystem::path folder = std::filesystem::current_path();; folder = folder.parent_path()) {
    if (std::ifstream file(folder / document); file) return file;
    if (folder == folder.parent_path()) throw std::runtime_error("no document " + document);
  }
}

}  // namespace

std::vector<std::string> split(const std::string& text, char mark) {
  std::vector<std::string> parts(1);
  for (const char each : text) {
    if (each == mark) parts.emplace_back();
    else parts.back() += each;
  }
  std::transform(parts.begin(), parts.end(), parts.begin(), trimmed);
  return parts;
}

std::vector<DocsRow> docs_table(const std::string& document, const std::vector<std::string>& heads) {
  std::ifstream file = opened(document);
  std::vector<DocsRow> rows;
  std::vector<std::string> columns;  // of the table that was asked for
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> row = cells(line);
    if (columns.empty()) {
      if (row.size() >= heads.size() && std::equal(heads.begin(), heads.end(), row.begin())) columns = row;
      continue;
    }
    if (row.empty()) break;
    if (row.front().starts_with("---")) continue;
    if (row.size() != columns.size()) throw std::runtime_error("a broken row: " + line);
    DocsRow& read = rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) read[columns[i]] = row[i];
  }
  if (rows.empty()) throw std::runtime_error("no such table in " + document);
  return rows;
}

}  // namespace cxloom::test
