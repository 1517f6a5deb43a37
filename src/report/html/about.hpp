#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/build.hpp"

namespace dadsim::report {

/// How many training samples of each class each site holds.
struct ClassTable {
  static constexpr std::size_t kMostNumbers = 200'000;  ///< of a page
  bool too_many = false;                                ///< there would be more: the lists are empty
  std::vector<std::string> sites;                       ///< as hosts are called
  std::vector<std::vector<std::int64_t>> samples;       ///< per site and class
};

/// What a page says of the scenario beside its result.
struct About {
  std::string description{};       ///< of the scenario; may be empty
  std::string scenario{};          ///< the text of its file; may be empty
  std::vector<std::string> set{};  ///< what was set beside it, "path=value"
  std::string build = dadsim::build();
  ClassTable classes{};  ///< empty where samples have no classes, or nothing was learned
};

/// For the page alone; text stays text there.
std::string to_json(const About& about);

}  // namespace dadsim::report
