#include "support/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "support/output_error.hpp"

namespace dadsim {
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

void write_all(int descriptor, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw OutputError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

void check_writable(const std::string& path) {
  if (path == "-") return;
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    throw OutputError(fmt::format("cannot write '{}': it is a folder; name a file", path));
  }
  const std::string folder = folder_of(path);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw OutputError(fmt::format("cannot write '{}': folder '{}': {}", path, folder, std::strerror(errno)));
  }
}

void write_file_atomically(const std::string& path, std::string_view content) {
  if (path == "-") {
    if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() || std::fflush(stdout) != 0) {
      throw OutputError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
    }
    return;
  }
  check_writable(path);
  // A device or a pipe (/dev/stdout, /dev/null) cannot be renamed over: write straight to it.
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) throw OutputError(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
    try {
      write_all(descriptor, content, path);
    } catch (...) {
      ::close(descriptor);
      throw;
    }
    ::close(descriptor);
    return;
  }
  std::string beside = path + ".XXXXXX";
  const int descriptor = ::mkstemp(beside.data());
  if (descriptor < 0)
    throw OutputError(fmt::format("cannot create a file beside '{}': {}", path, std::strerror(errno)));
  try {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(descriptor, 0666 & ~mask);
    write_all(descriptor, content, path);
    if (::fsync(descriptor) != 0) throw OutputError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
    ::close(descriptor);
  } catch (...) {
    ::close(descriptor);
    ::unlink(beside.c_str());
    throw;
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(beside.c_str());
    throw OutputError(fmt::format("cannot write '{}': {}", path, std::strerror(reason)));
  }
}

}  // namespace dadsim
