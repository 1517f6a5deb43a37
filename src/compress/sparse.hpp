#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compress/compressor.hpp"

// What sparsifiers have in common: lists of values and where they lie.

namespace dadsim::compress {

/// Reads as a fraction of at most one: the parameter that says how much a sparsifier keeps.
inline constexpr spec::RealParameter kFraction{"fraction", 1e-6, 1, "0.01",
                                               "share of the numbers that is sent, rounded up"};

/// CompressorInfo::keeps of those that keep this fraction.
step::Expression keeps_fraction(const spec::ParameterValues& values, const step::Expression& elements);

/// Numbers of a block in one contiguous row, row by row: copied only where they are not contiguous.
class Flat {
 public:
  explicit Flat(models::ConstBlock numbers);
  std::span<const float> numbers() const { return numbers_; }

 private:
  models::Matrix copy_;
  std::span<const float> numbers_;
};

/// ⌈fraction · n⌉, the fraction to nine decimals, of n numbers.
std::int64_t kept_of_numbers(double fraction, std::int64_t elements);
/// The same in symbols.
step::Expression kept_of_numbers(double fraction, const step::Expression& elements);

/// The numbers at `indices`, in that order.
std::vector<float> values_at(std::span<const float> numbers, std::span<const std::int32_t> indices);
/// A block that is zero but for values at indices; each lies in the block, or it is a std::logic_error.
void scatter(std::span<const float> values, std::span<const std::int32_t> indices, models::MutableBlock into);
/// Whether a number is NaN or infinite.
bool has_no_number(std::span<const float> numbers);

/// Zeros, and `kept` values at their indices.
step::Work scatter_work(const step::Expression& elements, const step::Expression& kept, double index_words);
/// A sum of zeros, and `kept` values of all sites added at their indices: value and index read, entry read and written.
step::Work scatter_add_work(const step::Expression& elements, const step::Expression& kept, double index_words);
/// M = G + E; what has been sent becomes zero in E, which is M otherwise.
step::Work error_feedback_work(const Amount& numbers, const step::Expression& kept);

/// A sparsifier whose message has values and indices. How many, the receiver knows by the fraction, or it is sent in
/// front of them, as an all-gather of messages of unequal lengths has to.
class SparseList : public Compressor {
 public:
  /// Nothing: the number kept is sent.
  explicit SparseList(std::optional<double> fraction = std::nullopt) : fraction_(fraction) {}

  std::int64_t encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const final;
  void decode(Decoder& from, const EncodeContext& context, models::MutableBlock into) const final;
  std::vector<step::Payload> size(const Amount& numbers) const final;
  step::Work decode_work(const Amount& numbers) const final;
  std::optional<step::Work> decode_into_sum_work(const step::Expression& elements, const Amount& all) const final;
  step::Work memory_work(const Amount& numbers) const override;

 protected:
  step::Expression kept(const Amount& numbers) const;

 private:
  /// The indices of what is sent, rising. Of a sparsifier that adapts it may be none: then the largest number goes.
  virtual std::vector<std::int32_t> choose(std::span<const float> numbers, const EncodeContext& context) const = 0;

  std::optional<double> fraction_;
};

/// The least magnitude that is above a threshold, as its bits. Numbers that are none are above any; where a threshold
/// is none, or infinite, they and what is infinite are all there is above it, so that a statistic of numbers that have
/// diverged hides nothing.
std::uint32_t least_above(double threshold);
/// How many magnitudes there are from `least` on, and their indices.
std::int64_t count_from(std::span<const float> numbers, std::uint32_t least);
std::vector<std::int32_t> indices_from(std::span<const float> numbers, std::uint32_t least);

/// Of the magnitudes of some numbers; nothing of no numbers.
struct MagnitudeStatistics {
  double mean = 0;
  double largest = 0;
};
MagnitudeStatistics magnitude_statistics(std::span<const float> numbers);

}  // namespace dadsim::compress
