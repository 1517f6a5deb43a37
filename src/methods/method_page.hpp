#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace dadsim::methods {

constexpr const char* kSent = "What is sent";
constexpr const char* kOnFailure = "On a failure";

// Beginnings and ends of the section kSent, by kind of method.
constexpr std::string_view kBeginOfCompressor = "A message of n numbers has ";
constexpr std::string_view kBeginOfEvents = "The messages are ";
constexpr std::string_view kBeginOfSteps = "In floats per layer and step, a site sends ";
constexpr std::string_view kOfCompressor = " bytes.";
constexpr std::string_view kOfEvents = ". The model has d parameters.";
constexpr std::string_view kOfSteps =
    ". A layer has p inputs and q outputs, and a site has N rows; r is the rank, and S the number of sites.";

constexpr std::string_view kFamily = "Family: ";
constexpr std::string_view kFooter = "[All algorithms](README.md)";

/// Prose about an algorithm or compressor: its page in docs/algorithms, which is built into the program. Sections that
/// the page lacks are empty.
struct MethodPage {
  std::string description;  ///< one sentence
  /// Text by title; "What is sent" is without its unit, and "On a failure" is a clause.
  std::map<std::string, std::string, std::less<>> sections;

  std::string section(std::string_view title) const;
};

/// Returns the page docs/algorithms/FILE.md, for example of "dad" or "compress-dgc"; empty if there is none.
const MethodPage& method_page(const std::string& file);

/// Returns the text of docs/algorithms/README.md.
std::string_view overview_page();

}  // namespace dadsim::methods
