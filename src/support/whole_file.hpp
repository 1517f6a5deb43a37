#pragma once

#include <optional>
#include <string>

namespace dadsim {

/// The bytes of a file; nothing where it cannot be opened (errno says why). Throws InputError where it can be opened
/// and not be read to its end: what came before is no other file.
std::optional<std::string> whole_file(const std::string& path);

}  // namespace dadsim
