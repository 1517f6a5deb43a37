#pragma once

#include "compress/sparse.hpp"

namespace dadsim::compress {

/// Sends numbers at places that do not depend on them, so that no indices travel: all sites and receivers draw the same
/// ones (shared), or a message begins with the seed of its own (8 B). Scaled by n/k, what arrives is right on average.
class RandomCoordinates : public Compressor {
 public:
  struct Options {
    double fraction = 0.01;
    bool shared = true;
    bool unbiased = false;
    std::int64_t whole_below = 0;  ///< so many numbers, and fewer, are all sent
  };
  explicit RandomCoordinates(const Options& options) : options_(options) {}

  std::int64_t encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const final;
  void decode(Decoder& from, const EncodeContext& context, models::MutableBlock into) const final;
  std::vector<step::Payload> size(const Amount& numbers) const final;
  step::Work encode_work(const Amount& numbers) const final;
  step::Work decode_work(const Amount& numbers) const final;
  std::optional<step::Work> decode_into_sum_work(const step::Expression& elements, const Amount& all) const final;
  step::Work memory_work(const Amount& numbers) const final;

 private:
  /// `count` of `elements` places; the same numbers give the same places in the same order.
  virtual std::vector<std::int32_t> places(std::int64_t elements, std::int64_t count, RandomStream random) const = 0;
  /// What it costs to find them.
  virtual step::Work places_work(const step::Expression& elements, const step::Expression& kept) const = 0;
  /// Words that are read for each place: none where they follow from the first.
  virtual double index_words() const = 0;
  step::Expression kept(const Amount& numbers) const;
  std::int64_t kept(std::int64_t elements) const;

  Options options_;
};

/// What all of them have, their parameters among it: fraction, coordinates, scale.
CompressorInfo coordinates_info();
RandomCoordinates::Options coordinates_options(const spec::ParameterValues& values);

}  // namespace dadsim::compress
