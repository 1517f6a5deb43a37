#include "models/distribution_correction.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

using Eigen::Index;

/// An increasing piecewise linear function. Outside its knots it continues with the slope of the outermost piece, at
/// most 1. The limit is for nearly equal quantiles (a pixel that is 0 in most pictures), whose slope would be huge.
class QuantileMap {
 public:
  QuantileMap(const Eigen::Ref<const Matrix>& from, const Eigen::Ref<const Matrix>& to, Index unit) {
    for (Index k = 0; k < from.rows();) {
      // Equal quantiles form one knot.
      Index end = k;
      double sum = 0;
      for (; end < from.rows() && from(end, unit) == from(k, unit); ++end) sum += to(end, unit);
      from_.push_back(from(k, unit));
      to_.push_back(sum / static_cast<double>(end - k));
      k = end;
    }
    for (std::size_t right = 1; right < from_.size(); ++right) {
      slopes_.push_back((to_[right] - to_[right - 1]) / (from_[right] - from_[right - 1]));
    }
  }
  float operator()(float value) const {
    const auto z = static_cast<double>(value);
    if (from_.size() == 1) return static_cast<float>(z - from_[0] + to_[0]);
    const std::size_t last = from_.size() - 1;
    if (z < from_.front()) return static_cast<float>(to_.front() + std::min(1.0, slope(1)) * (z - from_.front()));
    if (z > from_.back()) return static_cast<float>(to_.back() + std::min(1.0, slope(last)) * (z - from_.back()));
    // Halves without branches, as values come in no order.
    std::size_t left = 0;
    for (std::size_t size = last; size > 1; size -= size / 2) left += from_[left + size / 2] <= z ? size / 2 : 0;
    return static_cast<float>(to_[left] + slope(left + 1) * (z - from_[left]));
  }

 private:
  /// Returns the slope between knot `right` and the previous one.
  double slope(std::size_t right) const { return slopes_[right - 1]; }

  std::vector<double> from_, to_, slopes_;
};

/// Sorts by radix, eleven bits at a time: several times faster than by comparison for many numbers.
void sort_numbers(std::vector<float>& numbers) {
  constexpr std::size_t kFew = 4096;
  if (numbers.size() < kFew) {
    std::ranges::sort(numbers);
    return;
  }
  constexpr unsigned kDigit = 11, kDigits = 3;
  constexpr std::uint32_t kSign = 1U << 31U;
  std::vector<std::uint32_t> keys(numbers.size()), others(numbers.size());
  std::array<std::array<std::size_t, 1U << kDigit>, kDigits> counts{};
  const auto digit = [](std::uint32_t key, unsigned i) { return (key >> (i * kDigit)) & ((1U << kDigit) - 1); };
  for (std::size_t i = 0; i < keys.size(); ++i) {
    // Keys sort like the numbers: more negative numbers have smaller keys.
    const auto bits = std::bit_cast<std::uint32_t>(numbers[i]);
    keys[i] = (bits & kSign) != 0 ? ~bits : bits | kSign;
    for (unsigned d = 0; d < kDigits; ++d) ++counts[d][digit(keys[i], d)];
  }
  for (unsigned d = 0; d < kDigits; ++d) {
    std::size_t before = 0;
    for (std::size_t& count : counts[d]) before += std::exchange(count, before);
    for (const std::uint32_t key : keys) others[counts[d][digit(key, d)]++] = key;
    std::swap(keys, others);
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    numbers[i] = std::bit_cast<float>((keys[i] & kSign) != 0 ? keys[i] & ~kSign : ~keys[i]);
  }
}

void correct_value(const UnitQuantiles& source, Matrix& values, Index units) {
  const UnitQuantiles test = quantiles_of(as_rows(values, units), source.values.rows());
  correct(source, test, as_rows(values, units));
}

}  // namespace

UnitQuantiles quantiles_of(const Eigen::Ref<const Matrix>& rows, std::int64_t count) {
  if (rows.rows() < 1 || count < 2) throw std::logic_error("quantiles need rows, and at least two quantiles");
  UnitQuantiles result;
  result.values.resize(count, rows.cols());
  parallel_for(static_cast<std::size_t>(rows.cols()), [&](std::size_t unit) {
    const auto column = static_cast<Index>(unit);
    std::vector<float> sorted(static_cast<std::size_t>(rows.rows()));
    for (std::size_t i = 0; i < sorted.size(); ++i) sorted[i] = rows(static_cast<Index>(i), column);
    sort_numbers(sorted);
    for (std::int64_t k = 0; k < count; ++k) {
      const double share = (static_cast<double>(k) + 0.5) / static_cast<double>(count);
      const double at =
          std::clamp(share * static_cast<double>(sorted.size()) - 0.5, 0.0, static_cast<double>(sorted.size() - 1));
      const auto below = static_cast<std::size_t>(at);
      const std::size_t above = std::min(below + 1, sorted.size() - 1);
      const double part = at - static_cast<double>(below);
      result.values(k, column) = static_cast<float>((1 - part) * sorted[below] + part * sorted[above]);
    }
  });
  return result;
}

UnitQuantiles barycentre(std::span<const UnitQuantiles> sites) {
  if (sites.empty()) throw std::logic_error("a barycentre needs at least one site");
  UnitQuantiles mean = sites.front();
  for (const UnitQuantiles& site : sites.subspan(1)) mean.values += site.values;
  mean.values /= static_cast<float>(sites.size());
  return mean;
}

void correct(const UnitQuantiles& source, const UnitQuantiles& test, MutableRowsOf<float> rows) {
  if (source.values.cols() != rows.cols() || test.values.cols() != rows.cols() ||
      source.values.rows() != test.values.rows()) {
    throw std::logic_error("both sides need equally many quantiles of the same units");
  }
  parallel_for(static_cast<std::size_t>(rows.cols()), [&](std::size_t unit) {
    const auto column = static_cast<Index>(unit);
    const QuantileMap map(test.values, source.values, column);
    for (Index row = 0; row < rows.rows(); ++row) rows(row, column) = map(rows(row, column));
  });
}

double SourceQuantiles::bytes() const {
  double numbers = static_cast<double>(inputs.values.size());
  for (const UnitQuantiles& norm : norms) numbers += static_cast<double>(norm.values.size());
  return 4 * numbers;
}

SourceQuantiles source_quantiles(const Network& network, const Matrix& features, std::int64_t count) {
  SourceQuantiles result;
  result.inputs = quantiles_of(features, count);
  Tape tape;
  network.forward(features, Pass{}, tape);
  for (const auto& norm : network.batch_norms()) {
    result.norms.push_back(quantiles_of(as_rows(tape.values[norm.value], norm.channels), count));
  }
  return result;
}

Quality evaluate_corrected(const Network& network, const Samples& samples, std::int64_t batch, Correction correction,
                           const SourceQuantiles& source) {
  if (batch < 1 || samples.size() < 1) throw std::logic_error("evaluate: no samples");
  const spec::SampleShape out = network.output_shape();
  Matrix logits(samples.size() * out.positions(), out.channels);
  const bool inputs = correction == Correction::inputs || correction == Correction::inputs_and_norms;
  const bool norms = correction == Correction::norms || correction == Correction::inputs_and_norms;
  const auto batches = network.batch_norms();
  Tape tape;
  for (Index begin = 0; begin < samples.size();) {
    Index count = std::min<Index>(batch, samples.size() - begin);
    if (samples.size() - begin - count < batch) count = samples.size() - begin;
    Matrix features = samples.features.middleRows(begin, count);
    if (inputs) correct_value(source.inputs, features, features.cols());
    network.forward(features, Pass{.training = correction == Correction::batch_statistics}, tape);
    for (std::size_t n = 0; norms && n < batches.size(); ++n) {
      correct_value(source.norms.at(n), tape.values[batches[n].value], batches[n].channels);
      network.forward_again(batches[n].value, tape);
    }
    logits.middleRows(begin * out.positions(), count * out.positions()) = as_rows(tape.logits(), out.channels);
    begin += count;
  }
  return evaluate_logits(logits, samples.labels);
}

}  // namespace dadsim::models
