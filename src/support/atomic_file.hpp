#pragma once

#include <string>
#include <string_view>

namespace dadsim {

/// Writes `content` to `path` whole or not at all: beside it first, flushed to disk, then renamed over it.
/// "-" is standard output. Throws OutputError with the path and the system's reason.
void write_file_atomically(const std::string& path, std::string_view content);

/// Says before anything runs whether `path` could be written later: throws OutputError if its folder is missing or not
/// writable, or if the path is a folder.
void check_writable(const std::string& path);

}  // namespace dadsim
