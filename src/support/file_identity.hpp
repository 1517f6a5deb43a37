#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace dadsim {

/// Identity of a path's file under any name. An existing file is identified by device and inode, so that `x`, `./x`, a
/// symbolic link and a hard link are equal. A missing file is identified by its folder and its name, in lower case if
/// the file system ignores case.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;      ///< inode of the file, or of its folder
  std::string name;     ///< name in that folder; empty if the file exists
  bool regular = true;  ///< true: a regular file, or a file that will be created
  /// True if any number of writers may share the file (/dev/null).
  bool takes_all = false;

  bool is_same_as(const FileIdentity& other) const {
    return device == other.device && inode == other.inode && name == other.name;
  }
};

/// Returns the identity of a path; "-" is standard output. Follows symbolic links, even to missing files.
FileIdentity identity_of(const std::string& path);

/// Returns the destination of `path`: itself, or the final target of a symbolic link.
std::string destination_of(const std::string& path);

/// Returns the file descriptor that a path names: 1 for "-", "/dev/stdout" and "/dev/fd/1", and so on; none for the
/// path of a file. Opening such a path again would start at the beginning of a file that is being written.
std::optional<int> descriptor_of(const std::string& path);

}  // namespace dadsim
