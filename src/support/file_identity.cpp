#include "support/file_identity.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <system_error>
#include <utility>

#include "support/parse_whole.hpp"

namespace dadsim {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // largest number of links that Linux follows

/// Returns whether the folder's file system ignores the case of names.
bool folds_case(const std::string& folder) {
  constexpr std::array<std::uint32_t, 6> kWithoutCase{0x4D44, 0x2011BAB0, 0x5346544E, 0xFF534D42, 0xFE534D42, 0x517B};
  struct statfs system {};
  if (::statfs(folder.c_str(), &system) == 0 &&
      std::ranges::count(kWithoutCase, static_cast<std::uint32_t>(system.f_type)) > 0) {
    return true;  // FAT, exFAT, NTFS, CIFS, SMB 2, SMB
  }
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return false;
  int flags = 0;
  constexpr int kCaseFolded = 0x40000000;  // FS_CASEFOLD_FL: a case-insensitive folder of ext4 or f2fs
  const bool folded = ::ioctl(descriptor, FS_IOC_GETFLAGS, &flags) == 0 && (flags & kCaseFolded) != 0;
  ::close(descriptor);
  return folded;
}

FileIdentity identity_of(const struct stat& status, const char* name) {
  struct stat null {};
  const bool takes_all = S_ISCHR(status.st_mode) && ::stat("/dev/null", &null) == 0 && null.st_rdev == status.st_rdev;
  return {status.st_dev, status.st_ino, name, S_ISREG(status.st_mode), takes_all};
}

}  // namespace

std::string destination_of(const std::string& path) {
  fs::path where = path;
  for (int i = 0; i < kMostLinks; ++i) {
    std::error_code error;
    const fs::path next = fs::read_symlink(where, error);
    if (error) break;
    where = next.is_absolute() ? next : where.parent_path() / next;
  }
  return where.string();
}

std::optional<int> descriptor_of(const std::string& path) {
  if (path == "-" || path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view number = std::string_view(path).substr(folder.size());
    if (const auto descriptor = parse_whole<int>(number, 0)) return descriptor;
  }
  return std::nullopt;
}

FileIdentity identity_of(const std::string& path) {
  struct stat status {};
  const std::optional<int> descriptor = descriptor_of(path);
  if (descriptor ? ::fstat(*descriptor, &status) == 0 : ::stat(path.c_str(), &status) == 0)
    return identity_of(status, "");
  const fs::path where = destination_of(path);
  const std::string folder = where.has_parent_path() ? where.parent_path().string() : ".";
  if (::stat(folder.c_str(), &status) != 0) {
    std::error_code ignored;
    return {.name = fs::absolute(where, ignored).lexically_normal().string()};
  }
  std::string name = where.filename().string();
  if (folds_case(folder))
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return {.device = status.st_dev, .inode = status.st_ino, .name = std::move(name)};
}

}  // namespace dadsim
