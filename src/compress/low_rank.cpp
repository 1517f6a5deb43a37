#include <boost/random/normal_distribution.hpp>
#include <memory>

#include "compress/compressors.hpp"

namespace dadsim::compress {
namespace {

/// Makes the columns orthonormal by Gram–Schmidt, twice per column. A column in the span of earlier ones, up to
/// rounding, becomes zero.
void orthonormalise(models::Matrix& columns) {
  for (Eigen::Index k = 0; k < columns.cols(); ++k) {
    const float length = columns.col(k).norm();
    for (int pass = 0; pass < 2; ++pass) {
      const models::Matrix along = columns.leftCols(k).transpose() * columns.col(k);
      columns.col(k) -= columns.leftCols(k) * along;
    }
    const float rest = columns.col(k).norm();
    columns.col(k) *= rest <= 1e-5F * length ? 0.0F : 1.0F / rest;
  }
}

/// Subspace iteration (Vogels, Karimireddy, Jaggi, NeurIPS 2019, arXiv 1905.13727) on one site's matrix M, p × q: sends
/// P = orth(M Q), p × r, and Q = Mᵀ P, q × r, from a random Q; a matrix that is no larger than P and Q goes whole. P Qᵀ
/// is a projection of M. Factors and whole matrices are fp32, or as E3m0 encodes them.
class LowRank final : public Compressor {
 public:
  LowRank(std::int64_t rank, std::int64_t iterations, bool four_bits)
      : rank_(rank),
        iterations_(iterations),
        four_bits_(four_bits),
        numbers_(four_bits ? e3m0_info().make({{"rounding", "nearest"}}) : none_info().make({})) {}

  std::int64_t encode(models::ConstBlock numbers, const EncodeContext& context, Encoder& into) const override {
    if (!reduces(numbers.rows(), numbers.cols())) return numbers_->encode(numbers, context, into);
    RandomStream random(context.seed, Purpose::low_rank_start, context.message, context.step);
    boost::random::normal_distribution<float> normal;
    models::Matrix p, q(numbers.cols(), rank_);
    for (float& x : q.reshaped()) x = normal(random);
    for (std::int64_t i = 0; i < iterations_; ++i) {
      p.noalias() = numbers * q;
      orthonormalise(p);
      q.noalias() = numbers.transpose() * p;
    }
    for (const models::Matrix* factor : {&p, &q}) {
      // Copies fp32 numbers: the encoder only refers to them, and factors do not outlive this call.
      if (four_bits_) {
        numbers_->encode(*factor, context, into);
      } else {
        into.fp32_copied({factor->data(), static_cast<std::size_t>(factor->size())});
      }
    }
    return numbers.size();
  }

  void decode(Decoder& from, const EncodeContext& context, models::MutableBlock into) const override {
    if (!reduces(into.rows(), into.cols())) return numbers_->decode(from, context, into);
    models::Matrix p(into.rows(), rank_), q(into.cols(), rank_);
    numbers_->decode(from, context, p);
    numbers_->decode(from, context, q);
    into.noalias() = p * q.transpose();
  }

  std::vector<step::Payload> size(const Amount& numbers) const override {
    const step::Expression matrix = numbers.rows * numbers.columns, factors = reduces(numbers);
    std::vector<step::Payload> all;
    const auto add = [&](const step::Expression& present, const step::Expression& count) {
      for (step::Payload& payload : numbers_->size(count)) all.push_back({present * payload.elements, payload.type});
    };
    if (!matrix.is_zero()) {
      add(factors, rank() * numbers.rows);
      add(factors, rank() * numbers.columns);
      add(step::extent::exceeds(matrix, 0.0) * (1.0 - factors), matrix);
    }
    const step::Expression others = numbers.elements - matrix;
    add(step::extent::exceeds(others, 0.0), others);
    return all;
  }
  /// Counts two products per iteration, and the orthonormalisation (twice two products of a column with earlier ones).
  step::Work encode_work(const Amount& numbers) const override {
    const step::Expression matrix = numbers.rows * numbers.columns, factors = reduces(numbers);
    const auto times = static_cast<double>(iterations_);
    step::Work work = numbers_->encode_work(sent(numbers));
    work.flops += times * factors * (4.0 * rank() * matrix + 4.0 * rank() * rank() * numbers.rows);
    work.bytes_moved += 2.0 * kFloatBytes * times * factors * (matrix + sides(numbers));
    work.launches += times * factors * (2.0 + 4.0 * rank());
    return work;
  }
  step::Work decode_work(const Amount& numbers) const override {
    const step::Expression matrix = numbers.rows * numbers.columns, factors = reduces(numbers);
    step::Work work = numbers_->decode_work(sent(numbers));
    work.flops += 2.0 * rank() * factors * matrix;
    work.bytes_moved += kFloatBytes * factors * (matrix + sides(numbers));
    work.launches += factors;
    return work;
  }

 private:
  step::Expression rank() const { return static_cast<double>(rank_); }
  /// Returns whether r (p + q) < p q, which implies r < min(p, q).
  bool reduces(Eigen::Index rows, Eigen::Index columns) const { return rank_ * (rows + columns) < rows * columns; }
  /// Returns 1 if P and Q have fewer numbers than the matrix, otherwise 0, in symbols.
  step::Expression reduces(const Amount& numbers) const {
    return step::extent::exceeds(numbers.rows * numbers.columns, sides(numbers));
  }
  /// Returns the count of numbers in P and Q.
  step::Expression sides(const Amount& numbers) const { return rank() * (numbers.rows + numbers.columns); }
  /// Returns the count of numbers in a message.
  step::Expression sent(const Amount& numbers) const {
    return numbers.elements + reduces(numbers) * (sides(numbers) - numbers.rows * numbers.columns);
  }

  std::int64_t rank_, iterations_;
  bool four_bits_;
  std::unique_ptr<Compressor> numbers_;
};

}  // namespace

CompressorInfo low_rank_info() {
  static constexpr spec::IntegerParameter kRank{"rank", 1, 1e6, "4", "columns of P and Q (r)"};
  static constexpr spec::IntegerParameter kIterations{"iterations", 1, 2, "1", "power iterations"};
  static constexpr auto kBits = spec::choice<bool>("bits", {{"32", false}, {"4", true}}, "32: fp32; 4: as e3m0");
  return {.name = "low-rank",
          .biased = true,
          .of_matrices = true,
          .parameters = {kRank, kIterations, kBits},
          .make = [](const spec::ParameterValues& values) {
            return std::make_unique<LowRank>(kRank.of(values), kIterations.of(values), kBits.of(values));
          }};
}

}  // namespace dadsim::compress
