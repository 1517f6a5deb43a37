#pragma once

#include <string>
#include <string_view>

namespace dadsim::report {

/// Escapes `text` for HTML and XML, between tags and between the double quotes of an attribute.
std::string escaped(std::string_view text);

}  // namespace dadsim::report
