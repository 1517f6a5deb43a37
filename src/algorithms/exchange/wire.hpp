#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "compress/compressor.hpp"
#include "spec/specification.hpp"

namespace dadsim::algorithms {

/// How the matrices of a run become messages: its compressor, the random numbers of its roundings, and what sites keep
/// of what compression has lost.
class Wire {
 public:
  Wire(const spec::CompressSpec& asked, std::uint64_t seed);

  /// False: matrices are sent in fp32 as they lie in memory, which costs nobody anything.
  bool compresses() const { return !info_->lossless; }
  /// Whether encoded matrices can be added on the way.
  bool adds() const { return adds_; }
  /// Whether sizes are known only once numbers have been encoded.
  bool adapts() const { return info_->adapts; }
  /// Whether an aggregator hands messages on rather than compress what it has made of them.
  bool forwards() const { return forwards_; }
  /// Whether biases go as they are beside their matrix.
  bool leaves_biases() const { return info_->leaves_biases; }
  /// What of gradients is compressed as one: of a layer, where nothing is compressed.
  spec::CompressSpec::Scope scope() const { return compresses() ? scope_ : spec::CompressSpec::Scope::layer; }
  const compress::Compressor& compressor() const { return *compressor_; }

  void begin_step(std::uint32_t step) { step_ = step, message_ = 0, matrix_ = 0, sum_ = 0; }
  /// Numbers what is exchanged next: one matrix at each site.
  std::uint32_t begin_matrix() { return matrix_++; }
  /// Numbers a sum that goes uncompressed.
  std::uint32_t begin_uncompressed_sum() { return sum_++; }

  /// Encodes a matrix of site `site` (of the aggregator: −1); returns how many of its numbers were kept. `sum`: it is
  /// the sum of what sites have encoded.
  std::int64_t encode(models::ConstBlock numbers, std::int32_t site, std::uint32_t matrix, compress::Encoder& into,
                      bool sum = false);
  void decode(compress::Decoder& from, std::uint32_t matrix, models::MutableBlock into) const;

  /// Whether what is lost is kept and added to what is sent next. It makes sense for what adds up over steps: gradients
  /// and sums of them.
  bool remembers() const { return remembers_; }
  /// What site `site` keeps of a matrix.
  compress::Memory& memory(std::int32_t site, std::uint32_t matrix);
  /// Whether what sites keep has momentum, so that sums that go uncompressed need it too.
  bool has_momentum() const { return remembers_ && info_->has_momentum; }
  /// What each of so many sites keeps, the same at all, of the n-th sum of a step that goes uncompressed beside those
  /// that are compressed. *Requires*: has_momentum().
  compress::Memory& memory_of_uncompressed(std::uint32_t sum, std::size_t sites);

 private:
  using Key = std::pair<std::int32_t, std::uint32_t>;  ///< site, matrix

  const compress::CompressorInfo* info_;
  std::unique_ptr<compress::Compressor> compressor_;
  bool adds_, forwards_, remembers_;
  spec::CompressSpec::Scope scope_;
  std::uint64_t seed_;
  std::uint32_t step_ = 0, message_ = 0, matrix_ = 0, sum_ = 0;
  std::map<Key, std::unique_ptr<compress::Memory>> memory_;
  std::map<std::uint32_t, std::unique_ptr<compress::Memory>> uncompressed_;
  std::map<Key, std::unique_ptr<compress::CompressorState>> state_;
};

}  // namespace dadsim::algorithms
