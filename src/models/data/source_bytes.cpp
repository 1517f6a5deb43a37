#include "models/data/source_bytes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/text_encoding.hpp"
#include "support/whole_file.hpp"

namespace dadsim::models {

SourceBytes::SourceBytes(std::string name, std::string_view bytes)
    : name_(std::move(name)), memory_(bytes), stored_(static_cast<std::int64_t>(bytes.size())) {}

SourceBytes SourceBytes::open(const std::string& path, const std::string& remedy) {
  note_input(path);
  SourceBytes bytes(path, {});
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (path.find('\0') != std::string::npos) bytes.fail("the name holds a NUL byte", remedy);
  if (!std::filesystem::exists(status)) {
    bytes.fail(error && error != std::errc::no_such_file_or_directory ? "cannot be opened: " + error.message()
                                                                      : std::string("no such file"),
               remedy);
  }
  if (!std::filesystem::is_regular_file(status)) bytes.fail("is not a regular file", remedy);
  bytes.stored_ = static_cast<std::int64_t>(std::filesystem::file_size(path, error));
  if (error) bytes.fail("its size cannot be read: " + error.message(), remedy);
  errno = 0;
  bytes.file_.reset(gzopen(path.c_str(), "rb"));
  if (!bytes.file_) bytes.fail(fmt::format("cannot be opened: {}", std::strerror(errno)), remedy);
  gzbuffer(bytes.file_.get(), 1U << 17U);
  return bytes;
}

bool SourceBytes::compressed() const { return file_ && gzdirect(file_.get()) == 0; }

std::size_t SourceBytes::read(unsigned char* to, std::size_t size) {
  if (!file_) {
    const std::size_t count = std::min(size, memory_.size());
    std::copy_n(memory_.begin(), count, to);
    memory_.remove_prefix(count);
    return count;
  }
  std::size_t total = 0;
  while (total < size) {
    if (interrupted().load()) throw Cancelled();
    const int got = gzread(file_.get(), to + total, static_cast<unsigned>(std::min(size - total, kReadAtOnce)));
    int code = Z_OK;
    const char* message = gzerror(file_.get(), &code);
    // zlib reports a truncated gzip stream as Z_BUF_ERROR, even after bytes have been read.
    if (code == Z_BUF_ERROR) fail("truncated: the gzip stream ends early", kWholeFileRemedy);
    if (got < 0 || (code != Z_OK && code != Z_STREAM_END)) {
      fail(code == Z_ERRNO ? fmt::format("cannot be read: {}", std::strerror(errno))
                           : fmt::format("corrupt gzip stream ({})", message),
           kWholeFileRemedy);
    }
    if (got == 0) break;
    total += static_cast<std::size_t>(got);
  }
  return total;
}

std::string SourceBytes::rest(std::int64_t most) {
  std::string bytes;
  if (!file_ && stored_ <= most) {  // returns bytes in memory without reading them piece by piece
    bytes = std::exchange(memory_, {});
    return bytes;
  }
  // Checks the size of an uncompressed file before reading it. The size of a compressed file is known only during
  // reading.
  if (file_ && !compressed() && stored_ > most) {
    fail(fmt::format("holds {} MiB", (stored_ + (std::int64_t{1} << 20U) - 1) >> 20U),
         fmt::format("use a smaller file, at most {} MiB", most >> 20U));
  }
  std::size_t got = kReadAtOnce;
  while (got == kReadAtOnce) {
    const std::size_t old = bytes.size();
    bytes.resize(old + kReadAtOnce);
    got = read(reinterpret_cast<unsigned char*>(bytes.data()) + old, kReadAtOnce);
    bytes.resize(old + got);
    if (static_cast<std::int64_t>(bytes.size()) > most) {
      fail(fmt::format("holds more than {} bytes{}", most, compressed() ? " once it is unpacked" : ""),
           fmt::format("use a smaller file, at most {} MiB", most >> 20U));
    }
  }
  bytes.shrink_to_fit();  // releases the capacity that doubling has left over
  if (std::optional<Fault> fault = fault_of_encoding(name_, bytes)) fail(fault->what, fault->remedy);
  return bytes;
}

void SourceBytes::fail(std::string what, std::string remedy) const {
  throw InputError(Diagnostic{name_, 0, std::move(what), std::move(remedy)});
}

}  // namespace dadsim::models
