#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace dadsim::cli {

/// Prose of an algorithm or compressor: its page in docs/algorithms, which is built into the program. Prose that the
/// page lacks is empty.
struct MethodPage {
  std::string description;                                   ///< one sentence
  std::map<std::string, std::string, std::less<>> sections;  ///< text by title, "What is sent" without its unit

  std::string section(std::string_view title) const;
};

/// Returns the page of a file without its extension: "dad", "compress-dgc". All is empty if there is none.
const MethodPage& method_page(const std::string& file);

/// Returns the pages of docs/algorithms by file name: README.md and one for each algorithm and compressor. What the
/// registries know (family, parameters, exactness, weights of sites, composition) is printed anew between the prose.
std::map<std::string, std::string> method_pages();

}  // namespace dadsim::cli
