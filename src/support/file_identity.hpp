#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace dadsim {

/// Which file a path leads to, whatever it is called: by device and inode where it is there, so that `x`, `./x`, a
/// symbolic link and a hard link are one; else by its folder and its name, of which capitals make no other name where
/// the file system takes them for the same.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;      ///< of the file, or of its folder
  std::string name;     ///< in that folder; empty if the file is there
  bool regular = true;  ///< or will be
  /// Something to which any number of writers may write (/dev/null).
  bool takes_all = false;

  bool is_same_as(const FileIdentity& other) const {
    return device == other.device && inode == other.inode && name == other.name;
  }
};

/// "-" is standard output. Symbolic links are followed, also those that lead to nothing yet.
FileIdentity identity_of(const std::string& path);

/// Where `path` leads: its own name, or what the symbolic link there points at in the end.
std::string destination_of(const std::string& path);

/// The descriptor of this process that a path stands for: 1 for "-", "/dev/stdout" and "/dev/fd/1", and so on; nothing
/// where it is the path of a file. Opening such a path anew would begin at the start of a file that is being written.
std::optional<int> descriptor_of(const std::string& path);

}  // namespace dadsim
