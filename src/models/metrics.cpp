#include "models/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>

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

/// Area under the ROC curve of one class against the rest, by rank sums (Mann & Whitney 1947):
/// (Σ ranks of the positives − P(P+1)/2) ÷ (P·N), tied scores sharing their mean rank. NaN without positives or
/// negatives.
double auc_of_class(const LogProbabilities& scores, const std::vector<std::int32_t>& labels, std::int32_t of_class) {
  struct Scored {
    double score;
    bool positive;
  };
  std::vector<Scored> order(labels.size());
  double positives = 0;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    order[i] = {scores(static_cast<Eigen::Index>(i), of_class), labels[i] == of_class};
    positives += order[i].positive ? 1 : 0;
  }
  const double negatives = static_cast<double>(labels.size()) - positives;
  if (positives == 0 || negatives == 0) return std::numeric_limits<double>::quiet_NaN();
  std::sort(order.begin(), order.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });
  double rank_sum = 0;
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    double tied_positives = 0;
    while (end < order.size() && order[end].score == order[begin].score) {
      tied_positives += order[end].positive ? 1 : 0;
      ++end;
    }
    const double mean_rank = 0.5 * (static_cast<double>(begin + 1) + static_cast<double>(end));
    rank_sum += tied_positives * mean_rank;
    begin = end;
  }
  return (rank_sum - 0.5 * positives * (positives + 1)) / (positives * negatives);
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
