#include "support/unpacked.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>

#include "support/diagnostics.hpp"

namespace dadsim {

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
    if (state == Z_STREAM_END) {  // a file may be of several, one after the other
      if (stream.avail_in == 0) break;
      inflateReset(&stream);
    }
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(std::min(block.size(), most - content.size()));
    const uInt room = stream.avail_out;
    state = inflate(&stream, Z_NO_FLUSH);
    content.append(block.data(), room - stream.avail_out);
    if (state != Z_OK && state != Z_STREAM_END)
      throw InputError(Diagnostic{path, 0,
                                  state == Z_BUF_ERROR ? "is packed by gzip, and breaks off" : "is a damaged gzip file",
                                  "a whole file"});
  }
  return content;
}

}  // namespace dadsim
