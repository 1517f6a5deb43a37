#pragma once

#include <cstddef>
#include <string>

namespace dadsim {

/// The content of a file `path` whose bytes may be packed by gzip: what they are of, the first `most` bytes of it;
/// other bytes as they are. Throws InputError where a packed file is damaged or breaks off.
std::string unpacked(const std::string& path, std::string bytes, std::size_t most);

}  // namespace dadsim
