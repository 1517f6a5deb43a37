#include "support/whole_file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "support/diagnostics.hpp"

namespace dadsim {

std::optional<std::string> whole_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) return std::nullopt;
  std::string content;
  std::array<char, std::size_t{1} << 14U> block;
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get()))
    content.append(block.data(), count);
  if (std::ferror(file.get()) != 0) {
    throw InputError(Diagnostic{path, 0, fmt::format("cannot be read: {}", std::strerror(errno)),
                                "a file that can be read to its end"});
  }
  return content;
}

}  // namespace dadsim
