#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compress/compressor.hpp"

// Common parts of sparsifiers: lists of values and their places.

namespace dadsim::compress {

/// Parameter of sparsifiers: the share of numbers kept.
inline constexpr spec::RealParameter kFraction{"fraction", 1e-6, 1, "0.01", "share of the numbers sent, rounded up"};

/// Returns CompressorInfo::keeps of sparsifiers with this fraction.
step::Expression keeps_fraction(const spec::ParameterValues& values, const step::Expression& elements);

/// Numbers of a block in one contiguous row, row by row: copied only if they are not contiguous.
class Flat {
 public:
  explicit Flat(models::ConstBlock numbers);
  std::span<const float> numbers() const { return numbers_; }

 private:
  models::Matrix copy_;
  std::span<const float> numbers_;
};

/// Returns ⌈fraction · n⌉ of n numbers, the fraction rounded to nine decimals.
std::int64_t kept_of_numbers(double fraction, std::int64_t elements);
/// Returns ⌈fraction · elements⌉ in symbols, the fraction rounded to nine decimals.
step::Expression kept_of_numbers(double fraction, const step::Expression& elements);

/// Returns the numbers at `indices`, in that order.
std::vector<float> values_at(std::span<const float> numbers, std::span<const std::int32_t> indices);
/// Fills a block with zeros and values at indices. Throws std::logic_error for an index outside the block.
void scatter(std::span<const float> values, std::span<const std::int32_t> indices, models::MutableBlock into);
/// Returns whether a number is NaN or infinite.
bool has_no_number(std::span<const float> numbers);

/// Returns the work of writing zeros, and `kept` values at their indices.
step::Work scatter_work(const step::Expression& elements, const step::Expression& kept, double index_words);
/// Returns the work of zeroing a sum and adding `kept` values of all sites at their indices: value and index read,
/// entry read and written.
step::Work scatter_add_work(const step::Expression& elements, const step::Expression& kept, double index_words);
/// Returns the work of M = G + E and of the new E: zero at sent entries, M elsewhere.
step::Work error_feedback_work(const Amount& numbers, const step::Expression& kept);

/// A sparsifier whose message has values and indices. The receiver knows their number from the fraction; otherwise the
/// number is sent first, as an all-gather of messages with unequal lengths requires.
class SparseList : public Compressor {
 public:
  /// Without `fraction`, messages begin with the number of kept entries.
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
  /// Returns the indices of the numbers to send, ascending. An adaptive sparsifier may return none; then the largest
  /// number is sent.
  virtual std::vector<std::int32_t> choose(std::span<const float> numbers, const EncodeContext& context) const = 0;

  std::optional<double> fraction_;
};

/// Returns the bits of the least magnitude above a threshold. NaN exceeds any threshold. Only NaN and infinity exceed a
/// threshold of NaN or infinity, so that diverged numbers are not hidden.
std::uint32_t least_above(double threshold);
/// Return the count, or the indices, of numbers with magnitude bits of at least `least`.
std::int64_t count_from(std::span<const float> numbers, std::uint32_t least);
std::vector<std::int32_t> indices_from(std::span<const float> numbers, std::uint32_t least);

/// Statistics of the magnitudes of some numbers; zeros without numbers.
struct MagnitudeStatistics {
  double mean = 0;
  double largest = 0;
};
MagnitudeStatistics magnitude_statistics(std::span<const float> numbers);

}  // namespace dadsim::compress
