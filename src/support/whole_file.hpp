#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace dadsim {

/// Returns the contents of a file `path` whose bytes may be compressed by gzip, at most `most` bytes of them; other
/// bytes unchanged. Throws InputError for a damaged or truncated compressed file.
std::string unpacked(const std::string& path, std::string bytes, std::size_t most);

/// Throws EnvironmentError if `error` (errno) could affect any file, unlike a missing or forbidden one: no memory, no
/// descriptor, a failing device.
void throw_if_denied(const std::string& path, int error);

/// Returns the bytes of a file, at most `most`; none if it cannot be opened (errno has the reason). Throws
/// EnvironmentError as above, and InputError if it can be opened but not read to its end: a part must not pass for the
/// file.
std::optional<std::string> whole_file(const std::string& path, std::size_t most = std::string::npos);

/// Most bytes of a file that is read whole.
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

/// Records that this process reads `path`, so that no output is written there. Every opener of a user's file calls it,
/// whatever the format. Safe to call from several threads.
void note_input(const std::string& path);

/// Returns the recorded paths, each once.
std::vector<std::string> noted_inputs();

}  // namespace dadsim
