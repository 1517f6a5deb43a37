#include "support/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"

namespace dadsim {

void throw_if_denied(const std::string& path, int error) {
  if (error != ENOMEM && error != EMFILE && error != ENFILE && error != EIO && error != EINTR) return;
  throw EnvironmentError(fmt::format("'{}' cannot be read: {}", path, std::strerror(error)));
}

std::optional<std::string> whole_file(const std::string& path, std::size_t most) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) {
    throw_if_denied(path, errno);
    return std::nullopt;
  }
  std::string content;
  std::array<char, std::size_t{1} << 14U> block;
  while (const std::size_t count =
             std::fread(block.data(), 1, std::min(block.size(), most - content.size()), file.get()))
    content.append(block.data(), count);
  if (std::ferror(file.get()) != 0) {
    throw_if_denied(path, errno);
    throw InputError(Diagnostic{path, 0, fmt::format("cannot be read: {}", std::strerror(errno)),
                                "a file that can be read to its end"});
  }
  return content;
}

}  // namespace dadsim
