#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "compress/message.hpp"
#include "spec/parameter.hpp"
#include "support/random.hpp"

namespace dadsim::compress {

/// How the numbers of a matrix become the bytes of a message, and numbers again. It goes between any algorithm and its
/// exchange: on gradients, on dAD's A and Δ, on rank-dAD's factors, on weights.
///
/// *Ensures*: decode() reads just what encode() wrote; size() has the segments that encode() writes, for any number of
/// elements; the same numbers and random stream give the same bytes.
///
/// EXAMPLE: src/compress/int8.cpp.
class Compressor {
 public:
  virtual ~Compressor() = default;

  /// Appends the numbers to a message. `random` is this message's own stream.
  virtual void encode(models::ConstBlock numbers, RandomStream& random, Encoder& into) const = 0;
  /// Fills a block of the shape that was encoded.
  virtual void decode(Decoder& from, models::MutableBlock into) const = 0;

  /// What `elements` numbers take, segment by segment.
  virtual std::vector<step::Payload> size(const step::Expression& elements) const = 0;
  /// What that costs where it is done, for `elements` numbers.
  virtual step::Work encode_work(const step::Expression& elements) const = 0;
  virtual step::Work decode_work(const step::Expression& elements) const = 0;
};

/// Everything there is to know about a compressor without running it.
struct CompressorInfo {
  std::string name;         ///< as in <compress method="…">
  std::string description;  ///< one sentence
  std::string source;       ///< paper or standard
  std::string size;         ///< bytes of n numbers
  /// Encoded numbers can be added on the way, so that an all-reduce carries them; others go by an all-gather among
  /// peers.
  bool adds = false;
  bool lossless = false;  ///< what is decoded is what was encoded, to the bit
  std::vector<spec::ParameterSpec> parameters;
  std::function<std::unique_ptr<Compressor>(const spec::ParameterValues&)> make;
};

}  // namespace dadsim::compress
