#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace dadsim {

/// Writes `content` to `path` completely or not at all: first to a file next to it, flushed to disk, then renamed over
/// it. "-" is standard output; text for a terminal is made safe (see for_terminal). A symbolic link stays, and its
/// target is written; a target that is no regular file (a pipe, a device, a descriptor such as /dev/stdout) is written
/// to directly. The permissions of an existing file stay. Throws OutputError with the path and the system's reason, and
/// for a file that was read (whole_file.hpp); Cancelled if the user ends the wait for a reader of a pipe.
void write_file_atomically(const std::string& path, std::string_view content);

/// Writes the content in parts through `put`, so that it may be larger than memory.
using PutContent = std::function<void(std::string_view part)>;
void write_file_atomically(const std::string& path, const std::function<void(const PutContent& put)>& produce);

/// Writes the content unchanged, even to a terminal, and flushes it. Throws OutputError.
void write_to_standard_output(std::string_view content);

/// Checks whether `path` can be written later. Throws OutputError if its folder is missing or not writable, or if the
/// path is a folder or a write-protected file.
void check_writable(const std::string& path);

}  // namespace dadsim
