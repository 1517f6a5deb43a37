#pragma once

#include <functional>
#include <string>

#include "scenario/language/catalog.hpp"
#include "scenario/xml/findings.hpp"

namespace dadsim::scenario {

/// What every part of the reader needs.
struct ReadContext {
  const std::string& path;  ///< of the file that is read
  const Catalog& catalog;
  Findings& findings;
};

/// How the path of a file is printed.
using PathText = std::function<std::string(const std::string&)>;

}  // namespace dadsim::scenario
