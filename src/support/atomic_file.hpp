#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace dadsim {

/// Writes `content` to `path` whole or not at all: beside it first, flushed to disk, then renamed over it.
/// "-" is standard output, and a terminal there is shown no more than it may be (see for_terminal). A symbolic link
/// stays, and what it points at is written; what is no regular file (a pipe, a device, a descriptor as /dev/stdout) is
/// written to as it is. The permissions of a file that was there stay. Throws OutputError with the path and the
/// system's reason, and where the file was read (input_files.hpp); Cancelled if the user ends the wait for a reader of
/// a pipe.
void write_file_atomically(const std::string& path, std::string_view content);

/// What is put, part by part, is the content: so that what is larger than memory may be written.
using PutContent = std::function<void(std::string_view part)>;
void write_file_atomically(const std::string& path, const std::function<void(const PutContent& put)>& produce);

/// As it is, terminal or not; flushed. Throws OutputError.
void write_to_standard_output(std::string_view content);

/// Says before anything runs whether `path` could be written later: throws OutputError if its folder is missing or not
/// writable, if the path is a folder, or a file that is write-protected.
void check_writable(const std::string& path);

}  // namespace dadsim
