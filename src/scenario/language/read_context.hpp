#pragma once

#include <functional>
#include <string>

#include "scenario/language/catalog.hpp"
#include "scenario/xml/findings.hpp"

namespace dadsim::scenario {

/// Context that every part of the reader needs.
struct ReadContext {
  const std::string& path;  ///< path of the file being read
  const Catalog& catalog;
  Findings& findings;
};

/// Maps the path of a file to its printed form.
using PathText = std::function<std::string(const std::string&)>;

}  // namespace dadsim::scenario
