#pragma once

#include <string>
#include <string_view>

namespace dadsim::report {

/// Quoted as RFC 4180 asks, where the text needs it.
std::string csv_field(std::string_view text);

/// Reads back as the same number; what is not finite is left empty.
std::string csv_field(double value);

}  // namespace dadsim::report
