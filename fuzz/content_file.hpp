#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace dadsim::fuzz {

/// An in-memory file of this process for readers that take a path; reuses one path and removes it at the end.
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
