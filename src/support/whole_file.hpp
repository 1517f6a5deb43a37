#pragma once

#include <optional>
#include <string>

namespace dadsim {

/// Throws EnvironmentError where `error` (errno) is what every file may meet with, as against one that is not there or
/// not for everybody: no memory, no descriptor, a device that fails.
void throw_if_denied(const std::string& path, int error);

/// The bytes of a file, the first `most` of them; nothing where it cannot be opened (errno says why). Throws
/// EnvironmentError as above, and InputError where it can be opened and not be read to its end: what came before is no
/// other file.
std::optional<std::string> whole_file(const std::string& path, std::size_t most = std::string::npos);

}  // namespace dadsim
