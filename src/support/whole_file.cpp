#include "support/whole_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>

#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/text_encoding.hpp"

namespace dadsim {
namespace {

struct Noted {
  std::mutex mutex;
  std::set<std::string> paths;
};

Noted& noted() {
  static Noted all;
  return all;
}

}  // namespace

std::string unpacked(const std::string& path, std::string bytes, std::size_t most) {
  if (!bytes.starts_with("\x1f\x8b")) return bytes;
  constexpr int kGzip = 16 + MAX_WBITS;
  z_stream stream{};
  if (inflateInit2(&stream, kGzip) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, &inflateEnd);
  std::string content;
  std::array<char, std::size_t{1} << 16U> block;
  std::size_t fed = 0;
  for (int state = Z_OK; content.size() < most;) {
    if (stream.avail_in == 0 && fed < bytes.size()) {
      const std::size_t piece = std::min(bytes.size() - fed, std::size_t{1} << 30U);
      stream.next_in = reinterpret_cast<Bytef*>(bytes.data()) + fed;
      stream.avail_in = static_cast<uInt>(piece);
      fed += piece;
    }
    if (state == Z_STREAM_END) {  // a gzip file may consist of several streams
      if (stream.avail_in == 0) break;
      inflateReset(&stream);
    }
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(std::min(block.size(), most - content.size()));
    const uInt room = stream.avail_out;
    state = inflate(&stream, Z_NO_FLUSH);
    content.append(block.data(), room - stream.avail_out);
    if (state != Z_OK && state != Z_STREAM_END)
      throw InputError(Diagnostic{
          path, 0, state == Z_BUF_ERROR ? "is a gzip file that ends early" : "is a damaged gzip file", "a whole file"});
  }
  return content;
}

void throw_if_denied(const std::string& path, int error) {
  if (error != ENOMEM && error != EMFILE && error != ENFILE && error != EIO && error != EINTR) return;
  throw EnvironmentError(fmt::format("'{}' cannot be read: {}", path, std::strerror(error)));
}

std::optional<std::string> whole_file(const std::string& path, std::size_t most) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (file == nullptr) {
    throw_if_denied(path, errno);
    return std::nullopt;
  }
  std::string content;
  struct stat status {};
  if (::fstat(::fileno(file.get()), &status) == 0 && S_ISREG(status.st_mode))
    content.reserve(std::min(most, static_cast<std::size_t>(status.st_size)));
  std::array<char, std::size_t{1} << 14U> block;
  while (const std::size_t count =
             std::fread(block.data(), 1, std::min(block.size(), most - content.size()), file.get()))
    content.append(block.data(), count);
  if (std::ferror(file.get()) != 0) {
    throw_if_denied(path, errno);
    throw InputError(Diagnostic{path, 0, fmt::format("cannot be read: {}", std::strerror(errno)),
                                "use a file that can be read to its end"});
  }
  return content;
}

std::string read_input(const std::string& path, const std::string& form, const InputLimit& limit) {
  const auto refuse = [&](const std::string& what, const std::string& remedy) {
    return InputError(Diagnostic{path, 0, what, remedy});
  };
  const auto too_large = [&] { return refuse(fmt::format("has more than {} MiB", limit.most >> 20U), limit.smaller); };
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw refuse("is a folder", form);
    if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode)) throw refuse("is a device", form);
    if (S_ISREG(status.st_mode) && static_cast<std::size_t>(status.st_size) > limit.most) throw too_large();
  }
  std::optional<std::string> content = whole_file(path, limit.most + 1);
  if (!content) throw refuse(fmt::format("cannot be read: {}", std::strerror(errno)), form);
  note_input(path);
  if (content->size() <= limit.most) content = unpacked(path, *std::move(content), limit.most + 1);
  if (content->size() > limit.most) throw too_large();
  if (const std::optional<Fault> fault = fault_of_encoding(path, *content)) throw refuse(fault->what, fault->remedy);
  return *std::move(content);
}

void note_input(const std::string& path) {
  Noted& all = noted();
  const std::lock_guard lock(all.mutex);
  all.paths.insert(path);
}

std::vector<std::string> noted_inputs() {
  Noted& all = noted();
  const std::lock_guard lock(all.mutex);
  return {all.paths.begin(), all.paths.end()};
}

}  // namespace dadsim
