#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dadsim::models {

/// Bytes that are asked for at a time, so that memory grows with what a file really holds.
inline constexpr std::size_t kReadAtOnce = std::size_t{1} << 18U;
/// What helps where a file breaks off.
inline constexpr const char* kWholeFileRemedy = "fetch the file again, or pass a whole one";

/// Bytes that are read from front to back: of a file, plain or gzip whatever its name ends in, or of memory.
class SourceBytes {
 public:
  /// Opens a regular file. Throws InputError with `remedy` where that cannot be done.
  static SourceBytes open(const std::string& path, const std::string& remedy);
  /// Reads `bytes`, which must outlive this object, under the name of a file.
  SourceBytes(std::string name, std::string_view bytes);

  const std::string& name() const { return name_; }
  bool compressed() const;
  /// Bytes as stored: of the compressed stream, if it is one.
  std::int64_t stored() const { return stored_; }

  /// As many of `size` bytes as there are left. Throws InputError where a gzip stream is broken.
  std::size_t read(unsigned char* to, std::size_t size);
  /// All that is left. Throws InputError if it is more than `most` bytes; memory grows with what has been read.
  std::string rest(std::int64_t most);

  [[noreturn]] void fail(std::string what, std::string remedy) const;

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose_r(file); }
  };

  std::string name_;
  std::unique_ptr<std::remove_pointer_t<gzFile>, Close> file_;
  std::string_view memory_;  ///< left to read, where there is no file
  std::int64_t stored_ = 0;
};

}  // namespace dadsim::models
