#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace dadsim::fuzz {

/// A file in memory for readers that take a path. A process has one such file, whose path is reused and removed at the
/// end.
class ContentFile {
 public:
  explicit ContentFile(const std::string& name)
      : path_("/dev/shm/dadsim-fuzz-" + std::to_string(::getpid()) + "-" + name) {}
  ~ContentFile() { std::remove(path_.c_str()); }
  ContentFile(const ContentFile&) = delete;
  ContentFile& operator=(const ContentFile&) = delete;

  const std::string& write(std::string_view content) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file.flush()) std::abort();
    return path_;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace dadsim::fuzz
