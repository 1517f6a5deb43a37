#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace dadsim::methods {

constexpr const char* kSent = "What is sent";
constexpr const char* kOnFailure = "On a failure";

// Ends of the section kSent, by kind of method.
constexpr std::string_view kOfCompressor = " bytes for n numbers.";
constexpr std::string_view kOfEvents = "; d is the number of parameters.";
constexpr std::string_view kOfSteps =
    ": floats of a site per layer and step; N rows, p inputs, q outputs, r rank, S sites.";

constexpr std::string_view kFamily = "Family: ";
constexpr std::string_view kFooter = "[All algorithms](README.md)";

/// Prose of an algorithm or compressor: its page in docs/algorithms, which is built into the program. Prose that the
/// page lacks is empty.
struct MethodPage {
  std::string description;                                   ///< one sentence
  std::map<std::string, std::string, std::less<>> sections;  ///< text by title, "What is sent" without its unit

  std::string section(std::string_view title) const;
};

/// Returns the page of a file without its extension: "dad", "compress-dgc". All is empty if there is none.
const MethodPage& method_page(const std::string& file);

/// Returns the text of docs/algorithms/README.md.
std::string_view overview_page();

}  // namespace dadsim::methods
