#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace dadsim {

/// The content of a file `path` whose bytes may be packed by gzip: what they are of, the first `most` bytes of it;
/// other bytes as they are. Throws InputError where a packed file is damaged or breaks off.
std::string unpacked(const std::string& path, std::string bytes, std::size_t most);

/// Throws EnvironmentError where `error` (errno) is what every file may meet with, as against one that is not there or
/// not for everybody: no memory, no descriptor, a device that fails.
void throw_if_denied(const std::string& path, int error);

/// The bytes of a file, the first `most` of them; nothing where it cannot be opened (errno says why). Throws
/// EnvironmentError as above, and InputError where it can be opened and not be read to its end: what came before is no
/// other file.
std::optional<std::string> whole_file(const std::string& path, std::size_t most = std::string::npos);

/// Bytes of a file that is read whole.
struct InputLimit {
  std::size_t most;
  const char* smaller;  ///< what to give instead of a larger file: "a part of the log"
};
inline constexpr InputLimit kMostOfLog{std::size_t{512} << 20U, "a part of the log"};
inline constexpr InputLimit kMostOfTable{std::size_t{16} << 20U, "a file with fewer rows"};

/// The content of a file that a user named, unpacked if gzip packed it; the name is noted (input_files.hpp). `form`:
/// what the file has to be. Throws InputError where it is a folder, a device, larger than the limit, or cannot be read;
/// EnvironmentError.
std::string read_input(const std::string& path, const std::string& form, const InputLimit& limit);

}  // namespace dadsim
