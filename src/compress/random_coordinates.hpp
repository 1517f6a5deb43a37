#pragma once

#include "compress/sparse.hpp"

namespace dadsim::compress {

/// Sends numbers at random places that do not depend on the numbers, so that no indices are sent. Either all sites and
/// receivers draw the same places (shared), or a message begins with a seed of its own (8 B). Scaled by n/k, the
/// arrived numbers are unbiased.
class RandomCoordinates : public Compressor {
 public:
  struct Options {
    double fraction = 0.01;
    bool shared = true;
    bool unbiased = false;
    std::int64_t whole_below = 0;  ///< messages of up to this many numbers are sent whole
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
  /// Returns `count` of `elements` places; the same random numbers give the same places in the same order.
  virtual std::vector<std::int32_t> places(std::int64_t elements, std::int64_t count, RandomStream random) const = 0;
  /// Returns the work of drawing these places.
  virtual step::Work places_work(const step::Expression& elements, const step::Expression& kept) const = 0;
  /// Returns the index words read per place: none if all places follow from the first.
  virtual double index_words() const = 0;
  step::Expression kept(const Amount& numbers) const;
  std::int64_t kept(std::int64_t elements) const;

  Options options_;
};

/// Returns the common description of random-k and random-block, with the parameters fraction, coordinates, scale and
/// whole-below.
CompressorInfo coordinates_info();
RandomCoordinates::Options coordinates_options(const spec::ParameterValues& values);

}  // namespace dadsim::compress
