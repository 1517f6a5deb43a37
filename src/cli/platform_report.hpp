#pragma once

#include <string>

#include "report/document/document.hpp"
#include "sim/platform.hpp"
#include "spec/platform_specification.hpp"

namespace dadsim::cli {

/// Every member is documented in docs/output-platform.md. For people at most 110 columns wide, except for rows of the
/// table of links.
report::Document document_of(const std::string& file, const spec::PlatformSpec& platform,
                             const sim::PlatformReport& report);

}  // namespace dadsim::cli
