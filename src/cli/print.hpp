#pragma once

#include <string_view>

namespace dadsim::cli {

/// To standard output. Throws OutputError where that cannot be written.
void print(std::string_view text);

}  // namespace dadsim::cli
