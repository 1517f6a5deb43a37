#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dadsim {

/// Returns the contents of a file whose bytes may be compressed by gzip, at most `most` bytes; other bytes are
/// unchanged. `path`: for messages. Throws InputError for a damaged or truncated compressed file.
std::string unpacked(const std::string& path, std::string bytes, std::size_t most);

/// Throws EnvironmentError if `error` (errno) does not concern one file: no memory, no file descriptor, a failing
/// device.
void throw_if_denied(const std::string& path, int error);

/// Returns the bytes of a file, at most `most`; none if it cannot be opened (errno has the reason). Throws
/// EnvironmentError like throw_if_denied(), and InputError if the file cannot be read to its end, so that a part is not
/// mistaken for the file.
std::optional<std::string> whole_file(const std::string& path, std::size_t most = std::string::npos);

/// Limit on a file that is read whole: largest size in bytes, and advice for larger files.
struct InputLimit {
  std::size_t most;
  const char* smaller;  ///< advice instead of a larger file: "use a part of the log"
};
inline constexpr InputLimit kMostOfLog{std::size_t{512} << 20U, "use a part of the log"};
inline constexpr InputLimit kMostOfTable{std::size_t{16} << 20U, "use a file with fewer rows"};

/// Returns the contents of a user's file, decompressed if gzipped; the name is recorded (note_input). `form`: what
/// the file has to be. Throws InputError for a folder, a device, a file larger than the limit or unreadable;
/// EnvironmentError.
std::string read_input(const std::string& path, const std::string& form, const InputLimit& limit);

/// Records that this process reads `path`, so that no output overwrites it. Must be called by all code that opens a
/// user's file. Thread-safe.
void note_input(const std::string& path);

/// Returns the recorded paths, each once.
std::vector<std::string> noted_inputs();

}  // namespace dadsim
