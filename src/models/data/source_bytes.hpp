#pragma once

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace dadsim::models {

/// Bytes per read: small, so that memory grows with the bytes that a file really has.
inline constexpr std::size_t kReadAtOnce = std::size_t{1} << 18U;
/// Remedy for a truncated file.
inline constexpr const char* kWholeFileRemedy = "download the file again";

/// Reader of bytes, front to back: of a file, plain or gzip (detected by content), or of memory.
class SourceBytes {
 public:
  /// Opens a regular file. Throws InputError with `remedy` if that fails.
  static SourceBytes open(const std::string& path, const std::string& remedy);
  /// Reads `bytes`, which must outlive this object, under the name of a file.
  SourceBytes(std::string name, std::string_view bytes);

  const std::string& name() const { return name_; }
  bool compressed() const;
  /// Returns the number of stored bytes; for a gzip file, of compressed bytes.
  std::int64_t stored() const { return stored_; }

  /// Reads up to `size` bytes; fewer only at the end. Throws InputError for a broken gzip stream.
  std::size_t read(unsigned char* to, std::size_t size);
  /// Reads all remaining bytes of a text. Throws InputError for more than `most` bytes, and for UTF-16; memory grows
  /// with the bytes read.
  std::string rest(std::int64_t most);

  [[noreturn]] void fail(std::string what, std::string remedy) const;

 private:
  struct Close {
    void operator()(gzFile file) const { gzclose_r(file); }
  };

  std::string name_;
  std::unique_ptr<std::remove_pointer_t<gzFile>, Close> file_;
  std::string_view memory_;  ///< bytes left to read, if there is no file
  std::int64_t stored_ = 0;
};

}  // namespace dadsim::models
