#include "algorithms/leak/sample_rows.hpp"

#include <algorithm>
#include <boost/random/uniform_int_distribution.hpp>
#include <iterator>
#include <map>
#include <utility>

#include "support/random.hpp"

namespace dadsim::algorithms {

SampleRows::SampleRows(const models::Dataset& data, const models::Partition& partition, const models::Network& network)
    : data_(data), partition_(partition) {
  while (matrix_ < network.layers() && network.layer(matrix_).embedding) ++matrix_;
  if (matrix_ == network.layers()) return;
  table_ = matrix_ > 0;
  inputs_ = network.layer(matrix_).in();
  outputs_ = network.layer(matrix_).out();
  for (std::size_t m = 0; m < network.layers(); ++m) {
    if (!network.layer(m).embedding) last_inputs_ = network.layer(m).in();
  }
  std::size_t number = 0;
  for (const spec::LayerShape& layer : network.shape().layers) {
    if (layer.has_matrix() && number++ == matrix_) per_sample_ = layer.rows_per_sample;
  }
  as_they_are_ = network.value_before(matrix_) == 0 && per_sample_ == 1 && inputs_ == data.train.features.cols();
}

step::ShownImage SampleRows::image(std::int64_t step, std::size_t site, std::int32_t sample, double share,
                                   std::vector<float> shown) const {
  const auto original = data_.train.features.row(sample);
  return {.step = step,
          .site = site,
          .sample = sample,
          .share = share,
          .shape = data_.shape,
          .original = std::vector<float>(original.begin(), original.end()),
          .shown = std::move(shown)};
}

models::Matrix SampleRows::features(const std::vector<std::int32_t>& samples, bool held_back) const {
  const models::Matrix& from = (held_back ? data_.test : data_.train).features;
  models::Matrix rows(static_cast<Eigen::Index>(samples.size()), from.cols());
  for (std::size_t i = 0; i < samples.size(); ++i) rows.row(static_cast<Eigen::Index>(i)) = from.row(samples[i]);
  return rows;
}

models::Matrix SampleRows::of(const std::vector<std::int32_t>& samples, const models::Network& network,
                              bool held_back) const {
  if (as_they_are_ || samples.empty()) return features(samples, held_back);
  models::Tape tape;
  network.forward(features(samples, held_back), models::Pass{}, tape);
  return network.input(matrix_, tape);
}

const models::Vector& SampleRows::mean(std::size_t site, const models::Network& network) {
  means_.resize(partition_.size());
  models::Vector& mean = means_[site];
  if (mean.size() > 0) return mean;
  constexpr std::size_t kMost = 256;
  const std::vector<std::int32_t>& all = partition_[site];
  const std::size_t count = std::min(kMost, all.size());
  std::vector<std::int32_t> chosen;
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(all[i * all.size() / count]);
  mean = of(chosen, network).colwise().mean().transpose();
  return mean;
}

ControlSamples control_samples(const models::Dataset& data, const std::vector<std::int32_t>& site,
                               const std::vector<std::int32_t>& batch, std::uint64_t seed, std::size_t number,
                               std::int64_t step) {
  std::vector<std::int32_t> sorted = batch;
  std::ranges::sort(sorted);
  ControlSamples control;
  std::vector<std::int32_t>& others = control.of_site;
  std::ranges::set_difference(site, sorted, std::back_inserter(others));
  RandomStream random(seed, Purpose::leak_control, static_cast<std::uint32_t>(number),
                      static_cast<std::uint32_t>(step));
  const auto any_from = [&](std::size_t first, std::size_t end) {
    return boost::random::uniform_int_distribution<std::size_t>(first, end - 1)(random);
  };
  const std::size_t count = std::min(batch.size(), others.size());
  for (std::size_t i = 0; i < count; ++i) std::swap(others[i], others[any_from(i, others.size())]);
  others.resize(count);
  std::ranges::sort(others);
  if (count == batch.size() || data.test.size() == 0) return control;
  std::map<std::int32_t, std::vector<std::int32_t>> by_label;  // by the first label of a sample
  for (Eigen::Index i = 0; i < data.test.size(); ++i) {
    by_label[data.test.labels[static_cast<std::size_t>(i * data.test.labels_per_sample)]].push_back(
        static_cast<std::int32_t>(i));
  }
  for (std::size_t i = count; i < sorted.size(); ++i) {
    const auto label = data.train.labels[static_cast<std::size_t>(sorted[i] * data.train.labels_per_sample)];
    const auto found = by_label.find(label);
    const std::vector<std::int32_t>& alike = (found == by_label.end() ? by_label.begin() : found)->second;
    control.held_back.push_back(alike[any_from(0, alike.size())]);
  }
  return control;
}

models::Matrix rows_of(const ControlSamples& control, const SampleRows& rows, const models::Network& network) {
  models::Matrix own = rows.of(control.of_site, network);
  if (control.held_back.empty()) return own;
  models::Matrix others = rows.of(control.held_back, network, true);
  if (control.of_site.empty()) return others;
  models::Matrix both(own.rows() + others.rows(), others.cols());
  both << own, others;
  return both;
}

}  // namespace dadsim::algorithms
