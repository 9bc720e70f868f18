// Tables of the project's documents, so that tests can hold them to what the program does.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace cxloom::test {

/// Cells by the heads of their columns.
using DocsRow = std::map<std::string, std::string>;

/// The rows of the first table in a document ("docs/model/ordering.md") whose first columns have these heads.
/// A test that finds none fails: throws std::runtime_error.
std::vector<DocsRow> docs_table(const std::string& document, const std::vector<std::string>& heads);

/// "a, b" by commas, or by another mark, without the spaces around.
std::vector<std::string> split(const std::string& text, char mark = ',');

}  // namespace cxloom::test
