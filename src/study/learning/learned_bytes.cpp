#include "study/learning/learned_bytes.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include "support/fingerprint.hpp"
#include "support/wire.hpp"

namespace dadsim::study {
namespace {

constexpr std::uint32_t kMark = 0x4C444144;  // "DADL" in little-endian order
constexpr int kCompression = 1;  // zlib's fastest level; higher levels hardly compress learned ranks and samples better

}  // namespace

std::string record_key(std::uint64_t key) { return fmt::format("{:016x}", key); }

std::string record_key(const world::ValueKey& key) { return record_key(key[0]) + record_key(key[1]); }

std::string to_bytes(const world::Datum& datum) {
  WireWriter wire;
  wire << std::string_view(reinterpret_cast<const char*>(datum.numbers.data()), datum.numbers.size() * sizeof(float))
       << datum.scalars;
  return wire.bytes();
}

world::DatumPtr datum_from_bytes(std::string_view bytes) {
  try {
    WireReader wire(bytes);
    std::string numbers;
    world::Datum datum;
    wire >> numbers >> datum.scalars;
    if (numbers.size() % sizeof(float) != 0) throw std::out_of_range("not a whole number of floats");
    datum.numbers.resize(numbers.size() / sizeof(float));
    if (!numbers.empty()) std::memcpy(datum.numbers.data(), numbers.data(), numbers.size());
    return std::make_shared<const world::Datum>(std::move(datum));
  } catch (const std::out_of_range&) {
    return nullptr;
  }
}

std::string to_bytes(const LearnedRun& run) {
  WireWriter content;
  content << run;
  const std::string& plain = content.bytes();

  WireWriter head;
  head << kMark << step::kTrajectoryFormat << std::uint64_t{plain.size()} << fingerprint(plain);
  uLongf size = compressBound(plain.size());
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(plain.data()),
                plain.size(), kCompression) != Z_OK) {
    throw std::bad_alloc();
  }
  packed.resize(size);
  return head.bytes() + packed;
}

LearnedRunPtr learned_from_bytes(std::string_view bytes) {
  constexpr std::size_t kHead = 2 * sizeof(std::uint32_t) + 2 * sizeof(std::uint64_t);
  if (bytes.size() < kHead) return nullptr;
  WireReader head(bytes);
  std::uint32_t mark = 0;
  std::uint32_t format = 0;
  std::uint64_t size = 0;
  std::uint64_t print = 0;
  head >> mark >> format >> size >> print;
  // zlib expands by a factor of at most about 1,000. The check keeps a damaged size from allocating all memory.
  if (mark != kMark || format != step::kTrajectoryFormat || size / 1100 > bytes.size()) return nullptr;
  std::string plain(size, '\0');
  uLongf got = size;
  const std::string_view packed = bytes.substr(kHead);
  if (uncompress(reinterpret_cast<Bytef*>(plain.data()), &got, reinterpret_cast<const Bytef*>(packed.data()),
                 packed.size()) != Z_OK ||
      got != size || fingerprint(plain) != print) {
    return nullptr;
  }
  try {
    WireReader content(plain);
    return std::make_shared<LearnedRun>(content.read<LearnedRun>());
  } catch (const std::out_of_range&) {
    return nullptr;
  }
}

}  // namespace dadsim::study
