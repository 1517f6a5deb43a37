#include "models/metrics.hpp"

#include <algorithm>
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

/// log softmax of each row.
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

/// How many of `ascending` (not empty) are less than `score`, without a branch that depends on the numbers.
std::size_t count_less(const std::vector<double>& ascending, double score) {
  const double* first = ascending.data();
  for (std::size_t left = ascending.size(); left > 1;) {
    const std::size_t half = left / 2;
    first += half * static_cast<std::size_t>(first[half - 1] < score);
    left -= half;
  }
  return static_cast<std::size_t>(first - ascending.data()) + (*first < score ? 1 : 0);
}

/// Area under the ROC curve of one class against the rest: the share of pairs of a positive and a negative in which the
/// positive has the higher score, equal scores as one half (the U of Mann & Whitney 1947 ÷ P·N; exact, as it counts).
/// Only the positives are sorted: over all classes they are as many as the samples. NaN without positives or negatives.
double auc_of_class(const LogProbabilities& scores, const std::vector<std::int32_t>& labels, std::int32_t of_class) {
  std::vector<double> positives;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == of_class) positives.push_back(scores(static_cast<Eigen::Index>(i), of_class));
  }
  if (positives.empty() || positives.size() == labels.size()) return std::numeric_limits<double>::quiet_NaN();
  std::sort(positives.begin(), positives.end());
  std::uint64_t halves = 0;  // a won pair counts 2, a tied one 1
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == of_class) continue;
    const double score = scores(static_cast<Eigen::Index>(i), of_class);
    const std::size_t below = count_less(positives, score);
    const bool tied = below < positives.size() && positives[below] == score;
    const std::size_t not_above =
        tied ? count_less(positives, std::nextafter(score, std::numeric_limits<double>::infinity())) : below;
    halves += 2 * (positives.size() - not_above) + (not_above - below);
  }
  const auto count = static_cast<double>(positives.size());
  return 0.5 * static_cast<double>(halves) / (count * (static_cast<double>(labels.size()) - count));
}

/// Mean over the classes that have both positives and negatives.
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
      finite = false;  // no prediction: counts as wrong
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
  // Blocks of samples whose values fill a few megabytes.
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
