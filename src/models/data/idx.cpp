#include "models/data/idx.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

namespace dadsim::models {
namespace {

// Largest number of bytes read from a file; pixels take four times as much in memory.
constexpr std::int64_t kMaxIdxBytes = std::int64_t{1} << 30U;
constexpr int kMaxRank = 8;
// Largest number of bytes that one byte of a deflate stream can produce: 258 bytes in two bits (zlib's technical notes,
// zlib.net/zlib_tech.html).
constexpr std::int64_t kMaxInflation = 1032;
const char* const kImagesRemedy =
    "use a file of images: the magic number 0x00000803, count, rows, columns, then unsigned bytes";
const char* const kLabelsRemedy = "use a file of labels: the magic number 0x00000801, count, then unsigned bytes";

enum class Content { images, labels };

/// Reads one IDX file from front to back. Format: two zero bytes, the element type (0x08: unsigned byte), the rank,
/// then one 32-bit big-endian size per dimension, then the elements.
class IdxReader {
 public:
  IdxReader(SourceBytes& bytes, Content content) : bytes_(bytes), content_(content) { read_header(); }

  std::int64_t count() const { return dims_.front(); }
  std::int64_t features() const { return promised_ / count(); }
  /// Returns images of rows × columns for rank 3; anything else is a row of values.
  spec::SampleShape sample_shape() const {
    if (dims_.size() == 3) return {dims_[1], dims_[2], 1};
    return {1, features(), 1};
  }

  /// Returns the elements, after a check against the number in the header.
  std::vector<unsigned char> elements() {
    std::vector<unsigned char> bytes;  // grows with the bytes read, and does not trust the size in the header
    const auto promised = static_cast<std::size_t>(promised_);
    while (bytes.size() < promised) {
      const std::size_t old = bytes.size();
      const std::size_t want = std::min(kReadAtOnce, promised - old);
      bytes.resize(old + want);
      const std::size_t got = bytes_.read(bytes.data() + old, want);
      if (got < want) {
        fail(fmt::format("truncated: {} of the {} bytes that the header promises ({})", old + got, promised, shape()),
             kWholeFileRemedy);
      }
    }
    unsigned char extra = 0;
    // Reads the checksum at the end of a gzip stream too.
    if (bytes_.read(&extra, 1) != 0) {
      fail(fmt::format("trailing bytes after the {} that the header promises ({})", promised, shape()),
           "the sizes in the header must match the data");
    }
    return bytes;
  }

  [[noreturn]] void fail(std::string what, std::string remedy) const {
    bytes_.fail(std::move(what), std::move(remedy));
  }

 private:
  void read_header() {
    const char* remedy = content_ == Content::images ? kImagesRemedy : kLabelsRemedy;
    std::array<unsigned char, 4> magic{};
    const std::size_t got = bytes_.read(magic.data(), magic.size());
    if (got == 0) fail("the file is empty", remedy);
    if (got < magic.size()) fail(fmt::format("truncated: {} bytes are too few for an IDX header", got), remedy);
    const bool compressed = bytes_.compressed();
    const std::int64_t stored = bytes_.stored();
    if (magic[0] != 0 || magic[1] != 0) {
      fail(fmt::format("not an IDX file: it starts with 0x{:02x}{:02x}{:02x}{:02x}", magic[0], magic[1], magic[2],
                       magic[3]),
           remedy);
    }
    if (magic[2] != 0x08) fail(fmt::format("elements of type {}", element_type(magic[2])), remedy);
    const int rank = magic[3];
    if (content_ == Content::images && rank == 1) {
      fail("holds labels (rank 1), not images", fmt::format("{}; are the two files swapped?", remedy));
    }
    if (content_ == Content::labels && rank != 1) {
      fail(fmt::format("holds an array of rank {}, not labels (rank 1)", rank),
           fmt::format("{}{}", remedy, rank > 1 ? "; are the two files swapped?" : ""));
    }
    if (rank < 1 || rank > kMaxRank) {
      fail(fmt::format("holds an array of rank {}", rank), fmt::format("use a rank from 2 to {}", kMaxRank));
    }
    promised_ = 1;
    for (int d = 0; d < rank; ++d) {
      std::array<unsigned char, 4> bytes{};
      if (bytes_.read(bytes.data(), bytes.size()) < bytes.size()) {
        fail(fmt::format("truncated inside the header of an array of rank {}", rank), remedy);
      }
      std::int64_t dim = 0;
      for (const unsigned char byte : bytes) dim = dim << 8U | byte;
      dims_.push_back(dim);
      if (dim == 0) {
        fail(d == 0 ? std::string("no samples") : fmt::format("dimension {} is zero", d + 1),
             "every dimension must be at least 1");
      }
      // A later dimension can only enlarge the product. The product cannot overflow, since both factors are below 2^32.
      promised_ *= dim;
      if (promised_ > kMaxIdxBytes) {
        fail(fmt::format("the header promises more than {} bytes", kMaxIdxBytes),
             fmt::format("use a smaller file, at most {} bytes (1 GiB)", kMaxIdxBytes));
      }
    }
    const std::int64_t header = 4 + 4 * rank;
    if (!compressed && stored != header + promised_) {
      fail(stored < header + promised_
               ? fmt::format("truncated: {} of the {} bytes that the header promises ({})", stored - header, promised_,
                             shape())
               : fmt::format("trailing bytes after the {} that the header promises ({})", promised_, shape()),
           "the sizes in the header must match the data");
    }
    if (compressed && promised_ > stored * kMaxInflation) {
      fail(fmt::format("truncated: {} compressed bytes cannot hold the {} that the header promises ({})", stored,
                       promised_, shape()),
           kWholeFileRemedy);
    }
  }

  /// Returns for example "10000 × 28 × 28".
  std::string shape() const { return fmt::format("{}", fmt::join(dims_, " × ")); }

  static std::string element_type(unsigned char code) {
    switch (code) {
      case 0x09:
        return "signed byte (0x09)";
      case 0x0B:
        return "16-bit integer (0x0b)";
      case 0x0C:
        return "32-bit integer (0x0c)";
      case 0x0D:
        return "float (0x0d)";
      case 0x0E:
        return "double (0x0e)";
      default:
        return fmt::format("0x{:02x}, which IDX does not define", code);
    }
  }

  SourceBytes& bytes_;
  Content content_;
  std::vector<std::int64_t> dims_;  ///< dimensions, samples first
  std::int64_t promised_ = 0;       ///< number of elements by the header: product of dims_
};

struct IdxPair {
  IdxReader images;
  IdxReader labels;
};

IdxPair open_pair(SourceBytes& images, SourceBytes& labels) {
  IdxPair pair{IdxReader(images, Content::images), IdxReader(labels, Content::labels)};
  if (pair.images.count() != pair.labels.count()) {
    pair.labels.fail(
        fmt::format("holds {} labels for the {} images of {}", pair.labels.count(), pair.images.count(), images.name()),
        "use one label per image");
  }
  return pair;
}

SourceBytes open_images(const std::string& path) {
  return SourceBytes::open(path, "use an IDX file of images, plain or gzip");
}
SourceBytes open_labels(const std::string& path) {
  return SourceBytes::open(path, "use an IDX file of labels, plain or gzip");
}

}  // namespace

Samples read_idx(SourceBytes& images, SourceBytes& labels) {
  IdxPair pair = open_pair(images, labels);
  Samples samples;
  const std::vector<unsigned char> label_bytes = pair.labels.elements();
  samples.labels.assign(label_bytes.begin(), label_bytes.end());
  const std::vector<unsigned char> pixels = pair.images.elements();
  const Eigen::Map<const MatrixOf<unsigned char>> grey(pixels.data(), pair.images.count(), pair.images.features());
  samples.features = grey.cast<float>() / 255.0F;
  return samples;
}

IdxFacts inspect_idx(SourceBytes& images, SourceBytes& labels) {
  IdxPair pair = open_pair(images, labels);
  const std::vector<unsigned char> label_bytes = pair.labels.elements();
  pair.images.elements();
  return {pair.images.count(), pair.images.sample_shape(),
          *std::max_element(label_bytes.begin(), label_bytes.end()) + 1};
}

Samples read_idx(const std::string& images, const std::string& labels) {
  SourceBytes image_bytes = open_images(images);
  SourceBytes label_bytes = open_labels(labels);
  return read_idx(image_bytes, label_bytes);
}

IdxFacts inspect_idx(const std::string& images, const std::string& labels) {
  SourceBytes image_bytes = open_images(images);
  SourceBytes label_bytes = open_labels(labels);
  return inspect_idx(image_bytes, label_bytes);
}

}  // namespace dadsim::models
