#include "models/cross_entropy.hpp"

#include <cmath>
#include <stdexcept>
#include <vector>

#include "support/parallel.hpp"

namespace dadsim::models {

template <class T>
T cross_entropy(RowsOf<T> logits, std::span<const std::int32_t> labels, T total_rows, std::span<const T> weights,
                T label_smoothing, MutableRowsOf<T> gradient) {
  using Eigen::Index;
  const Index classes = logits.cols();
  if (static_cast<Index>(labels.size()) != logits.rows()) throw std::logic_error("loss: one label per row");
  if (!weights.empty() && weights.size() != labels.size()) throw std::logic_error("loss: one weight per label");
  if (!(total_rows > T(0))) throw std::logic_error("loss: total_rows must be positive");
  if (!(label_smoothing >= T(0) && label_smoothing < T(1))) throw std::logic_error("loss: smoothing from 0 to below 1");
  const T on_label = (T(1) - label_smoothing) / total_rows;
  const T on_each = label_smoothing / (static_cast<T>(classes) * total_rows);
  constexpr std::size_t kRows = 128;
  std::vector<double> sums((labels.size() + kRows - 1) / kRows, 0.0);
  parallel_for_blocks(labels.size(), kRows, [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    for (std::size_t row = begin; row < end; ++row) {
      const std::int32_t label = labels[row];
      if (label < 0 || label >= classes) throw std::logic_error("loss: a label is not one of the classes");
      // log Σ exp(z) = m + log Σ exp(z − m): nothing overflows.
      const auto z = logits.row(static_cast<Index>(row)).array();
      const T largest = z.maxCoeff();
      auto p = gradient.row(static_cast<Index>(row)).array();
      p = (z - largest).exp();
      const T total = p.sum();
      T own = std::log(total) + largest - z(label);
      p *= T(1) / (total * total_rows);
      p(label) -= on_label;
      if (label_smoothing > T(0)) {
        // Targets add up to 1: what is spread costs ε (z_label − mean of z) more.
        own += label_smoothing * ((z(label) - largest) - (z - largest).mean());
        p -= on_each;
      }
      sum += static_cast<double>(own) * (weights.empty() ? 1.0 : static_cast<double>(weights[row]));
      if (!weights.empty()) p *= weights[row];
    }
    sums[begin / kRows] = sum;
  });
  double sum = 0;
  for (const double part : sums) sum += part;
  return static_cast<T>(sum / static_cast<double>(total_rows));
}

template float cross_entropy(RowsOf<float>, std::span<const std::int32_t>, float, std::span<const float>, float,
                             MutableRowsOf<float>);
template double cross_entropy(RowsOf<double>, std::span<const std::int32_t>, double, std::span<const double>, double,
                              MutableRowsOf<double>);

}  // namespace dadsim::models
