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
  bool adds() const { return info_->adds; }
  const compress::Compressor& compressor() const { return *compressor_; }

  void begin_step(std::uint32_t step) { step_ = step, message_ = 0; }

  /// Encodes a matrix of this step's next message.
  void encode(models::ConstBlock numbers, compress::Encoder& into);
  void decode(compress::Decoder& from, models::MutableBlock into) const { compressor_->decode(from, into); }

  /// Whether what is lost is kept and added to what is sent next (Seide et al., Interspeech 2014; Karimireddy et al.,
  /// ICML 2019, arXiv 1901.09847). It makes sense for what adds up over steps: gradients and sums of them.
  bool remembers() const { return remembers_; }
  /// What site `site` has kept of matrix `key`; empty before the first step. Whoever sends adds it, and puts back what
  /// was lost.
  models::Matrix& memory(std::size_t site, std::int64_t key) { return memory_[{site, key}]; }

 private:
  const compress::CompressorInfo* info_;
  std::unique_ptr<compress::Compressor> compressor_;
  bool remembers_;
  std::uint64_t seed_;
  std::uint32_t step_ = 0, message_ = 0;
  std::map<std::pair<std::size_t, std::int64_t>, models::Matrix> memory_;
};

}  // namespace dadsim::algorithms
