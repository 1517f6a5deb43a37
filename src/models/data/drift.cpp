#include "models/data/drift.hpp"

#include <algorithm>
#include <boost/random/gamma_distribution.hpp>
#include <cmath>
#include <map>
#include <set>

#include "models/data/corruption.hpp"
#include "models/uniform.hpp"
#include "support/diagnostics.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

/// State of a site's data.
struct SiteState {
  spec::Corruption corruption = spec::Corruption::none;
  std::int64_t severity = 1;
  double label_alpha = 0;         ///< concentration of the class shares; 0: the site has the samples dealt to it
  std::uint32_t label_draws = 0;  ///< number of class drifts of the site so far
};

std::vector<double> class_shares(double alpha, std::int64_t classes, RandomStream& random) {
  // Uses logarithms, since for small α the draws underflow (see dataset.cpp).
  boost::random::gamma_distribution<double> gamma(alpha + 1, 1.0);
  std::vector<double> shares(static_cast<std::size_t>(classes));
  for (double& share : shares) share = std::log(gamma(random)) + std::log(uniform01(random)) / alpha;
  const double largest = *std::ranges::max_element(shares);
  for (double& share : shares) share = std::exp(share - largest);
  return shares;
}

/// Draws `count` samples of `pool` with the given class shares.
std::vector<std::int32_t> drawn_by_class(const std::vector<double>& given, std::size_t count, const Samples& pool,
                                         RandomStream& random) {
  std::vector<std::vector<std::int32_t>> by_class(given.size());
  for (std::size_t i = 0; i < pool.labels.size(); ++i) {
    by_class[static_cast<std::size_t>(pool.labels[i])].push_back(static_cast<std::int32_t>(i));
  }
  std::vector<double> shares = given;
  double sum = 0;
  for (std::size_t c = 0; c < shares.size(); ++c) {
    if (by_class[c].empty()) shares[c] = 0;
    sum += shares[c];
    shuffle(std::span<std::int32_t>(by_class[c]), random);
  }
  std::vector<std::int32_t> drawn;
  double share_so_far = 0;
  std::size_t last = 0;
  for (std::size_t c = 0; c < shares.size(); ++c) {
    if (by_class[c].empty()) continue;
    share_so_far += shares[c] / sum;
    const auto until =
        std::min(count, static_cast<std::size_t>(std::llround(share_so_far * static_cast<double>(count))));
    for (std::size_t k = 0; drawn.size() < until; ++k) drawn.push_back(by_class[c][k % by_class[c].size()]);
    last = c;
  }
  for (std::size_t k = 0; drawn.size() < count; ++k) drawn.push_back(by_class[last][k % by_class[last].size()]);
  std::ranges::sort(drawn);
  return drawn;
}

/// Returns the class shares of a site, the same for its training and its held-back samples.
std::vector<double> shares_of(const SiteState& state, std::int64_t classes, std::uint64_t seed, std::size_t site) {
  RandomStream random(seed, Purpose::drift, static_cast<std::uint32_t>(site) * 16 + 14, state.label_draws);
  return class_shares(state.label_alpha, classes, random);
}

constexpr std::uint32_t kHeldBack = 0x80000000U;

/// Returns the rows of a site's samples in a state. Corrupted samples are appended to `appended`; their rows are
/// counted from the size of `pool` on.
std::vector<std::int32_t> in_state(const SiteState& state, std::vector<std::int32_t> own, const Samples& pool,
                                   const Dataset& data, std::size_t site, std::uint64_t seed, std::uint32_t mark,
                                   std::vector<std::pair<std::int32_t, std::vector<float>>>& appended) {
  if (state.label_alpha > 0) {
    RandomStream random(seed, Purpose::drift, static_cast<std::uint32_t>(site) * 16 + 15, state.label_draws | mark);
    own = drawn_by_class(shares_of(state, data.classes, seed, site), own.size(), pool, random);
  }
  if (state.corruption == spec::Corruption::none) return own;
  const Corrupter corrupt(state.corruption, state.severity, data.shape, seed, static_cast<std::uint32_t>(site));
  const std::size_t first = appended.size();
  appended.resize(first + own.size());
  parallel_for(own.size(), [&](std::size_t i) {
    const auto row = pool.features.row(own[i]);
    std::vector<float> values(row.begin(), row.end());
    corrupt(static_cast<std::uint32_t>(own[i]) | mark, values);
    appended[first + i] = {own[i], std::move(values)};
  });
  for (std::size_t i = 0; i < own.size(); ++i)
    own[i] =
        static_cast<std::int32_t>(pool.labels.size() / static_cast<std::size_t>(pool.labels_per_sample) + first + i);
  return own;
}

void append(Samples& samples, const std::vector<std::pair<std::int32_t, std::vector<float>>>& appended) {
  const Eigen::Index before = samples.size();
  samples.features.conservativeResize(before + static_cast<Eigen::Index>(appended.size()), Eigen::NoChange);
  const auto labels = samples.labels_per_sample;
  for (std::size_t i = 0; i < appended.size(); ++i) {
    const auto& [from, values] = appended[i];
    samples.features.row(before + static_cast<Eigen::Index>(i)) =
        Eigen::Map<const Eigen::RowVectorXf>(values.data(), static_cast<Eigen::Index>(values.size()));
    for (std::int64_t k = 0; k < labels; ++k) {
      samples.labels.push_back(samples.labels[static_cast<std::size_t>(from * labels + k)]);
    }
  }
}

/// Returns the samples of these rows. Rows from the size of `all` on are in `appended`, with the labels of the rows
/// that they were made from.
Samples picked(const Samples& all, const std::vector<std::pair<std::int32_t, std::vector<float>>>& appended,
               const std::vector<std::int32_t>& rows) {
  Samples samples;
  samples.labels_per_sample = all.labels_per_sample;
  samples.features.resize(static_cast<Eigen::Index>(rows.size()), all.features.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::int32_t from = rows[i];
    if (from < all.size()) {
      samples.features.row(static_cast<Eigen::Index>(i)) = all.features.row(from);
    } else {
      const auto& [origin, values] = appended[static_cast<std::size_t>(from - all.size())];
      from = origin;
      samples.features.row(static_cast<Eigen::Index>(i)) =
          Eigen::Map<const Eigen::RowVectorXf>(values.data(), static_cast<Eigen::Index>(values.size()));
    }
    const auto label = all.labels.begin() + from * all.labels_per_sample;
    samples.labels.insert(samples.labels.end(), label, label + all.labels_per_sample);
  }
  return samples;
}

void refuse_many_labels(const Dataset& data) {
  if (data.train.labels_per_sample == 1) return;
  throw InputError(Diagnostic{"", 0, "a drift of classes needs samples of one class, and samples have several labels",
                              "use a corruption, or data whose samples have one class"});
}

/// Assigns each held-back sample to the site that is furthest below its share, so that classes are spread. Shares are
/// in proportion to the sites' training samples.
Partition held_back_shares(const Partition& partition, Eigen::Index held_back) {
  double all = 0;
  for (const auto& site : partition) all += static_cast<double>(site.size());
  Partition shares(partition.size());
  std::vector<double> owed(partition.size());
  for (Eigen::Index i = 0; i < held_back; ++i) {
    for (std::size_t site = 0; site < owed.size(); ++site)
      owed[site] += static_cast<double>(partition[site].size()) / all;
    const auto most = static_cast<std::size_t>(std::ranges::max_element(owed) - owed.begin());
    owed[most] -= 1;
    shares[most].push_back(static_cast<std::int32_t>(i));
  }
  return shares;
}

}  // namespace

std::int64_t DriftedData::version(std::size_t site, double seconds) const {
  const std::vector<double>& dates = from.at(site);
  return std::ranges::upper_bound(dates, seconds) - dates.begin();
}

std::size_t DriftedData::number_held_back_at(double seconds) const {
  const auto behind = std::ranges::upper_bound(held_back, seconds, {}, &HeldBack::from);
  return static_cast<std::size_t>(behind - held_back.begin());
}

const Samples* DriftedData::held_back_at(double seconds) const {
  const std::size_t number = number_held_back_at(seconds);
  return number == 0 ? nullptr : &held_back[number - 1].samples;
}

DriftedData make_drift(const std::vector<spec::DriftSpec>& drifts, Dataset& data, const Partition& partition,
                       std::uint64_t seed) {
  DriftedData result;
  result.from.resize(partition.size());
  if (drifts.empty()) return result;
  std::map<double, std::vector<const spec::DriftSpec*>> by_date;
  for (const spec::DriftSpec& drift : drifts) {
    if (drift.label_alpha > 0) refuse_many_labels(data);
    by_date[drift.at].push_back(&drift);
  }
  const Partition held_back = held_back_shares(partition, data.test.size());
  std::vector<SiteState> states(partition.size());
  std::vector<std::pair<std::int32_t, std::vector<float>>> appended;
  for (const auto& [date, here] : by_date) {
    std::set<std::size_t> changed;
    for (const spec::DriftSpec* drift : here) {
      for (const std::int32_t worker : drift->workers) {
        SiteState& state = states.at(static_cast<std::size_t>(worker));
        if (drift->corrupts) state.corruption = drift->corruption;
        if (drift->corrupts) state.severity = drift->severity;
        if (drift->label_alpha > 0) {
          state.label_alpha = drift->label_alpha;
          ++state.label_draws;
        }
        changed.insert(static_cast<std::size_t>(worker));
      }
    }
    for (const std::size_t site : changed) {
      const std::size_t version = result.from[site].size();
      // A new version copies the initial samples of all sites, because the length of an epoch depends on every site.
      if (result.partitions.size() <= version) result.partitions.push_back(partition);
      result.partitions[version][site] =
          in_state(states[site], partition[site], data.train, data, site, seed, 0, appended);
      result.from[site].push_back(date);
    }
    std::vector<std::pair<std::int32_t, std::vector<float>>> others;
    std::vector<std::int32_t> rows;
    for (std::size_t site = 0; site < states.size(); ++site) {
      const std::vector<std::int32_t> own =
          in_state(states[site], held_back[site], data.test, data, site, seed, kHeldBack, others);
      rows.insert(rows.end(), own.begin(), own.end());
    }
    result.held_back.push_back({date, picked(data.test, others, rows)});
  }
  append(data.train, appended);
  return result;
}

std::vector<Samples> held_back_of_sites(spec::Corruption corruption, std::int64_t severity, double label_alpha,
                                        const Dataset& data, const Partition& partition, std::uint64_t seed) {
  if (label_alpha > 0) refuse_many_labels(data);
  const SiteState state{.corruption = corruption, .severity = severity, .label_alpha = label_alpha};
  const Partition shares = held_back_shares(partition, data.test.size());
  std::vector<Samples> result;
  for (std::size_t site = 0; site < partition.size(); ++site) {
    std::vector<std::pair<std::int32_t, std::vector<float>>> corrupted;
    const std::vector<std::int32_t> rows =
        in_state(state, shares[site], data.test, data, site, seed, kHeldBack, corrupted);
    result.push_back(picked(data.test, corrupted, rows));
  }
  return result;
}

}  // namespace dadsim::models
