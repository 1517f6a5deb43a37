#include "support/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "support/file_identity.hpp"
#include "support/interrupt.hpp"
#include "support/last_resort.hpp"
#include "support/output_error.hpp"
#include "support/terminal.hpp"
#include "support/whole_file.hpp"

namespace dadsim {
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

[[noreturn]] void cannot(const char* what, const std::string& path, int reason) {
  throw OutputError(fmt::format("cannot {} '{}': {}", what, path, std::strerror(reason)));
}

/// A file descriptor that this object closes.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return number_; }  // NOLINT(google-explicit-constructor): for system calls
  /// Closes the descriptor, and returns the result: network file systems report failed writes only then.
  int close() { return ::close(std::exchange(number_, -1)); }

 private:
  int number_;
};

bool exists(const std::string& path, struct stat& status) { return ::stat(path.c_str(), &status) == 0; }

void write_all(int descriptor, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw OutputError(fmt::format("cannot write '{}': {}", path, std::strerror(errno)));
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Refuses an output file that this process has read. Commands compare outputs with inputs before they run; this check
/// covers files that they did not know then.
void refuse_input(const std::string& path, const struct stat& output) {
  for (const std::string& input : noted_inputs()) {
    struct stat read {};
    if (exists(input, read) && read.st_dev == output.st_dev && read.st_ino == output.st_ino)
      throw OutputError(
          fmt::format("cannot write '{}': it is the same file as '{}', which was read; use another file", path, input));
  }
}

}  // namespace

void check_writable(const std::string& path) {
  if (path == "-") return;
  if (const std::optional<int> descriptor = descriptor_of(path)) {
    const int flags = ::fcntl(*descriptor, F_GETFL);
    if (flags < 0) cannot("write", path, errno);
    if ((flags & O_ACCMODE) == O_RDONLY)
      throw OutputError(fmt::format("cannot write '{}': it is open only for reading", path));
    return;
  }
  const std::string target = destination_of(path);
  struct stat status {};
  if (exists(target, status)) {
    if (S_ISDIR(status.st_mode)) throw OutputError(fmt::format("cannot write '{}': it is a folder; name a file", path));
    // Refuses a write-protected file, which a privileged user (root) could otherwise overwrite.
    if (S_ISREG(status.st_mode) && (status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)) == 0)
      throw OutputError(fmt::format("cannot write '{}': it is write-protected", path));
    if (::access(target.c_str(), W_OK) != 0) cannot("write", path, errno);
    if (!S_ISREG(status.st_mode)) return;
  }
  const std::string folder = folder_of(target);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw OutputError(fmt::format("cannot write '{}': folder '{}': {}", path, folder, std::strerror(errno)));
  }
}

void write_to_standard_output(std::string_view content) {
  if (std::fwrite(content.data(), 1, content.size(), stdout) != content.size() || std::fflush(stdout) != 0) {
    throw OutputError(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
  }
}

void write_file_atomically(const std::string& path, std::string_view content) {
  write_file_atomically(path, [&](const PutContent& put) { put(content); });
}

void write_file_atomically(const std::string& path, const std::function<void(const PutContent& put)>& produce) {
  if (path == "-") {
    const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
    return produce([&](std::string_view part) {
      is_terminal ? write_to_standard_output(for_terminal(part)) : write_to_standard_output(part);
    });
  }
  check_writable(path);
  if (const std::optional<int> descriptor = descriptor_of(path)) {
    std::fflush(stdout);
    return produce([&](std::string_view part) { write_all(*descriptor, part, path); });
  }
  // Writes to the target of a symbolic link, and keeps the link.
  const std::string target = destination_of(path);
  struct stat status {};
  const bool there = exists(target, status);
  // Writes directly to a device or a pipe (/dev/null, a shell's >(…)), which renaming cannot replace.
  if (there && !S_ISREG(status.st_mode)) {
    int opened = -1;
    // Opening a pipe blocks until it has a reader; the user may interrupt the wait.
    while ((opened = ::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY)) < 0 && errno == EINTR) {
      if (interrupted().load()) throw Cancelled();
    }
    if (opened < 0) cannot("open", path, errno);
    const Descriptor descriptor(opened);
    return produce([&](std::string_view part) { write_all(descriptor, part, path); });
  }
  if (there) refuse_input(path, status);
  std::string beside = target + ".XXXXXX";
  Descriptor descriptor(::mkostemp(beside.data(), O_CLOEXEC));
  if (descriptor < 0)
    throw OutputError(fmt::format("cannot create a file next to '{}': {}", path, std::strerror(errno)));
  const HalfWritten half_written(beside);
  try {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    if (::fchmod(descriptor, there ? status.st_mode & 0777 : 0666 & ~mask) != 0) cannot("write", path, errno);
    produce([&](std::string_view part) { write_all(descriptor, part, path); });
    if (::fsync(descriptor) != 0 || descriptor.close() != 0) cannot("write", path, errno);
    if (::rename(beside.c_str(), target.c_str()) != 0) cannot("write", path, errno);
  } catch (...) {
    ::unlink(beside.c_str());
    throw;
  }
}

}  // namespace dadsim
