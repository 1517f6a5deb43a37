#include "models/metrics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

using LogProbabilities = MatrixOf<double>;

constexpr std::size_t kScoredRows = 256;

/// Returns log softmax of each row.
LogProbabilities log_softmax(const Matrix& logits) {
  LogProbabilities result = logits.cast<double>();
  parallel_for_blocks(static_cast<std::size_t>(logits.rows()), kScoredRows, [&](std::size_t begin, std::size_t end) {
    for (std::size_t row = begin; row < end; ++row) {
      auto z = result.row(static_cast<Eigen::Index>(row)).array();
      z -= z.maxCoeff();
      z -= std::log(z.exp().sum());
    }
  });
  return result;
}

/// Returns a log-probability (at most 0) as an integer that grows as the probability falls. Bits of nonnegative doubles
/// sort like their values.
std::uint64_t depth_of(double log_probability) { return std::bit_cast<std::uint64_t>(0.0 - log_probability); }

/// Depths of a class's positives (at least one), in about as many buckets of equal width. The positives above or at a
/// score are counted without sorting them all. The bits grow like logarithms, so depths near 0 and very large ones
/// spread over many buckets.
class Positives {
 public:
  explicit Positives(const std::vector<std::uint64_t>& depths)
      : least_(*std::min_element(depths.begin(), depths.end())),
        most_(*std::max_element(depths.begin(), depths.end())),
        depths_(depths.size()) {
    while (((most_ - least_) >> shift_) >= depths.size()) ++shift_;
    begins_.resize(bucket_of(most_) + 2);
    for (const std::uint64_t depth : depths) ++begins_[bucket_of(depth) + 1];
    for (std::size_t b = 1; b < begins_.size(); ++b) begins_[b] += begins_[b - 1];
    std::vector<std::uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (const std::uint64_t depth : depths) depths_[next[bucket_of(depth)]++] = depth;
    for (std::size_t b = 0; b + 1 < begins_.size(); ++b) {
      if (begins_[b + 1] - begins_[b] > kFew) std::sort(depths_.begin() + begins_[b], depths_.begin() + begins_[b + 1]);
    }
  }

  /// Returns 2 × the number of positives with a smaller depth (a higher score), plus the number with the same depth.
  std::uint64_t halves_above(std::uint64_t depth) const {
    if (depth < least_) return 0;
    if (depth > most_) return 2 * depths_.size();
    const std::size_t bucket = bucket_of(depth);
    const std::uint64_t* const begin = depths_.data() + begins_[bucket];
    const std::uint64_t* const end = depths_.data() + begins_[bucket + 1];
    std::uint64_t halves = 2 * std::uint64_t{begins_[bucket]};
    if (end - begin > kFew) {
      const auto [first, last] = std::equal_range(begin, end, depth);
      return halves + static_cast<std::uint64_t>((first - begin) + (last - begin));
    }
    for (const std::uint64_t* other = begin; other != end; ++other) {
      halves += (*other < depth ? 1U : 0U) + (*other <= depth ? 1U : 0U);
    }
    return halves;
  }

 private:
  static constexpr std::ptrdiff_t kFew = 16;  ///< largest number of entries of a bucket that are scanned instead of
                                              ///< searched

  std::size_t bucket_of(std::uint64_t depth) const { return static_cast<std::size_t>((depth - least_) >> shift_); }

  std::uint64_t least_, most_;
  int shift_ = 0;
  std::vector<std::uint64_t> depths_;  ///< depths grouped by bucket
  std::vector<std::uint32_t> begins_;  ///< index in `depths_` of each bucket's first entry, then the end
};

/// Returns the area under the ROC curve of one class against all others: the share of (positive, negative) pairs in
/// which the positive has the higher score; ties count one half (the U of Mann & Whitney 1947 ÷ P·N; exact). Returns
/// NaN without positives or negatives. The cost over all classes is near-linear: all positives together are as many as
/// the samples.
double auc_of_class(const LogProbabilities& scores, const std::vector<std::int32_t>& labels, std::int32_t of_class) {
  std::vector<std::uint64_t> depths;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == of_class) depths.push_back(depth_of(scores(static_cast<Eigen::Index>(i), of_class)));
  }
  if (depths.empty() || depths.size() == labels.size()) return std::numeric_limits<double>::quiet_NaN();
  const Positives positives(depths);
  std::uint64_t halves = 0;  // a won pair counts 2, a tied one 1
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == of_class) continue;
    halves += positives.halves_above(depth_of(scores(static_cast<Eigen::Index>(i), of_class)));
  }
  const auto count = static_cast<double>(depths.size());
  return 0.5 * static_cast<double>(halves) / (count * (static_cast<double>(labels.size()) - count));
}

/// Returns the mean area under the ROC curve over the classes that have both positives and negatives; NaN if there is
/// none.
double macro_auc(const LogProbabilities& scores, const std::vector<std::int32_t>& labels) {
  std::vector<double> areas(static_cast<std::size_t>(scores.cols()));
  parallel_for(areas.size(),
               [&](std::size_t c) { areas[c] = auc_of_class(scores, labels, static_cast<std::int32_t>(c)); });
  double sum = 0;
  double classes = 0;
  for (const double area : areas) {
    if (std::isnan(area)) continue;
    sum += area;
    classes += 1;
  }
  return classes > 0 ? sum / classes : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Quality evaluate_logits(const Matrix& logits, const std::vector<std::int32_t>& labels) {
  const auto rows = static_cast<std::size_t>(logits.rows());
  if (rows == 0 || logits.cols() == 0 || labels.size() != rows) {
    throw std::logic_error("evaluate: one label per row of logits, and at least one row");
  }
  const LogProbabilities scores = log_softmax(logits);
  double loss = 0;
  double right = 0;
  bool finite = true;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto row = static_cast<Eigen::Index>(i);
    if (labels[i] < 0 || labels[i] >= logits.cols()) {
      throw std::logic_error("evaluate: a label is not one of the classes");
    }
    loss -= scores(row, labels[i]);
    if (!logits.row(row).allFinite()) {
      finite = false;  // a prediction that is not finite counts as wrong
      continue;
    }
    Eigen::Index best = 0;
    for (Eigen::Index c = 1; c < logits.cols(); ++c) {
      if (logits(row, c) > logits(row, best)) best = c;
    }
    right += best == labels[i] ? 1 : 0;
  }
  Quality quality;
  quality.loss = finite ? loss / static_cast<double>(rows) : std::numeric_limits<double>::quiet_NaN();
  quality.accuracy = right / static_cast<double>(rows);
  quality.auc = finite ? macro_auc(scores, labels) : std::numeric_limits<double>::quiet_NaN();
  return quality;
}

Quality evaluate(const Network& network, const Samples& samples) {
  if (network.layers() == 0) throw std::logic_error("evaluate: the network has no layers");
  if (samples.size() == 0) throw std::logic_error("evaluate: no samples");
  const spec::SampleShape out = network.output_shape();
  if (out.positions() != samples.labels_per_sample) throw std::logic_error("evaluate: one label per position");
  Matrix logits(samples.size() * out.positions(), out.channels);
  // Evaluates in blocks of samples whose values fill a few megabytes.
  double floats = 1;
  for (const spec::LayerShape& layer : network.shape().layers) {
    floats += layer.outputs_per_sample + static_cast<double>(layer.rows_per_sample * layer.in);
  }
  const auto block = static_cast<std::size_t>(std::clamp(4e6 / floats, 8.0, 256.0));
  parallel_for_blocks(static_cast<std::size_t>(samples.size()), block, [&](std::size_t begin, std::size_t end) {
    const auto first = static_cast<Eigen::Index>(begin);
    const auto count = static_cast<Eigen::Index>(end - begin);
    Tape tape;
    network.forward(samples.features.middleRows(first, count), Pass{}, tape);
    logits.middleRows(first * out.positions(), count * out.positions()) = as_rows(tape.logits(), out.channels);
  });
  return evaluate_logits(logits, samples.labels);
}

}  // namespace dadsim::models
