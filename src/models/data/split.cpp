#include <fmt/format.h>

#include <algorithm>
#include <boost/random/gamma_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "models/data/dataset.hpp"
#include "models/uniform.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::models {
namespace {

using Indices = std::vector<std::int32_t>;

constexpr double kSmallestAlpha = 1e-9;  // below, the logarithms of shares lose their digits

[[noreturn]] void fail(std::string what, std::string remedy) {
  throw InputError(Diagnostic{"", 0, std::move(what), std::move(remedy)});
}

/// A random order of 0 … count−1.
Indices shuffled(std::size_t count, RandomStream& random) {
  Indices order(count);
  std::iota(order.begin(), order.end(), 0);
  shuffle(std::span<std::int32_t>(order), random);
  return order;
}

/// Cuts a list into `parts` runs whose lengths differ by at most one.
std::vector<Indices> cut(const Indices& list, std::size_t parts) {
  std::vector<Indices> runs(parts);
  const auto at = [&](std::size_t part) {
    return list.begin() + static_cast<std::ptrdiff_t>(list.size() * part / parts);
  };
  for (std::size_t part = 0; part < parts; ++part) runs[part].assign(at(part), at(part + 1));
  return runs;
}

std::vector<Indices> samples_by_class(const Samples& train, std::int64_t classes) {
  std::vector<Indices> by_class(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < train.labels.size(); ++i) {
    const std::int32_t label = train.labels[i];
    if (label < 0 || label >= classes) throw std::logic_error("split: a label is not one of the classes");
    by_class[static_cast<std::size_t>(label)].push_back(static_cast<std::int32_t>(i));
  }
  return by_class;
}

/// Class c goes to site ⌊c·S/C⌋.
Partition by_class(const Samples& train, std::int64_t classes, std::size_t sites) {
  const auto count = static_cast<std::size_t>(classes);
  if (sites > count) {
    fail(fmt::format("split by class over {} sites, but there are {} classes", sites, classes),
         fmt::format("at most {} sites, or another split", classes));
  }
  Partition partition(sites);
  const std::vector<Indices> lists = samples_by_class(train, classes);
  for (std::size_t c = 0; c < count; ++c) {
    Indices& site = partition[c * sites / count];
    site.insert(site.end(), lists[c].begin(), lists[c].end());
  }
  for (std::size_t s = 0; s < sites; ++s) {
    if (partition[s].empty()) {
      fail(fmt::format("split by class leaves site {} without a sample", s + 1), "more samples, or another split");
    }
  }
  return partition;
}

/// The share of the samples that each site is to have; the random numbers of a site's log-normal one are its own,
/// whatever the number of sites.
std::vector<double> uneven_shares(const spec::SplitSpec& spec, std::size_t sites, std::uint64_t seed) {
  std::vector<double> shares(sites);
  if (spec.size_spread > 0) {
    for (std::size_t s = 0; s < sites; ++s) {
      RandomStream stream(seed, Purpose::split, static_cast<std::uint32_t>(s), 1);
      shares[s] = std::exp(boost::random::normal_distribution<double>(0, spec.size_spread)(stream));
    }
  } else {
    RandomStream stream(seed, Purpose::split, 0, 2);
    const Indices rank = shuffled(sites, stream);
    for (std::size_t s = 0; s < sites; ++s) {
      shares[s] = std::pow(1.0 + static_cast<double>(rank[s]), -spec.size_exponent);
    }
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

/// Shares ~ Dir(α, …, α): Gamma(α) draws over their sum. In logarithms, as for small α the draws themselves underflow:
/// G(α) = G(α + 1)·U^(1/α) (Marsaglia & Tsang, ACM TOMS 26, 2000, section 6). `alphas`: one per site.
std::vector<double> dirichlet(const std::vector<double>& alphas, RandomStream& random) {
  std::vector<double> shares;
  for (const double alpha : alphas) {
    boost::random::gamma_distribution<double> gamma(alpha + 1, 1.0);
    const double log_of_gamma = std::log(gamma(random));
    shares.push_back(log_of_gamma + std::log(uniform01(random)) / alpha);
  }
  const double largest = *std::max_element(shares.begin(), shares.end());
  double sum = 0;
  for (double& share : shares) sum += share = std::exp(share - largest);
  for (double& share : shares) share /= sum;
  return shares;
}

/// Whole numbers that add up to `total`, in proportion to `shares`: the largest remainders are rounded up.
std::vector<std::size_t> apportion(std::size_t total, const std::vector<double>& shares) {
  std::vector<std::size_t> counts(shares.size());
  std::vector<std::pair<double, std::size_t>> remainders;
  std::size_t dealt = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double exact = shares[i] * static_cast<double>(total);
    counts[i] = std::min(static_cast<std::size_t>(exact), total - dealt);
    dealt += counts[i];
    remainders.emplace_back(static_cast<double>(counts[i]) - exact, i);
  }
  std::sort(remainders.begin(), remainders.end());
  for (std::size_t i = 0; dealt < total; i = (i + 1) % remainders.size()) {
    ++counts[remainders[i].second];
    ++dealt;
  }
  return counts;
}

/// A site must have something to train on: it gets a sample of the largest site.
void give_everyone_one(Partition& partition) {
  for (Indices& site : partition) {
    if (!site.empty()) continue;
    Indices& largest = *std::max_element(partition.begin(), partition.end(),
                                         [](const Indices& a, const Indices& b) { return a.size() < b.size(); });
    site.push_back(largest.back());
    largest.pop_back();
  }
}

/// A random order, cut in proportion to `shares`.
Partition by_shares(const std::vector<double>& shares, std::size_t samples, RandomStream& random) {
  const Indices order = shuffled(samples, random);
  const std::vector<std::size_t> counts = apportion(samples, shares);
  Partition partition(shares.size());
  auto next = order.begin();
  for (std::size_t s = 0; s < shares.size(); ++s) {
    const auto end = next + static_cast<std::ptrdiff_t>(counts[s]);
    partition[s].assign(next, end);
    next = end;
  }
  give_everyone_one(partition);
  return partition;
}

/// Every class in shares of its own over the sites (Yurochkin et al., arXiv 1905.12022; Hsu et al., arXiv 1909.06335).
/// Where sites are to have `sizes` (shares of all samples), the concentration of site s is α·S·size: a mean share of
/// just that size, and α itself for equal ones.
Partition by_dirichlet(double alpha, const std::vector<double>& sizes, const Samples& train, std::int64_t classes,
                       std::size_t sites, RandomStream& random) {
  if (!(alpha >= 1e-6 && alpha <= 1e6)) {
    fail(fmt::format("a Dirichlet split with alpha {}", alpha), "alpha from 1e-6 to 1e6");
  }
  std::vector<double> alphas(sites, alpha);
  for (std::size_t s = 0; s < sizes.size(); ++s) {
    alphas[s] = std::max(kSmallestAlpha, alpha * static_cast<double>(sites) * sizes[s]);
  }
  Partition partition(sites);
  for (Indices& list : samples_by_class(train, classes)) {
    shuffle(std::span<std::int32_t>(list), random);
    const std::vector<std::size_t> counts = apportion(list.size(), dirichlet(alphas, random));
    auto next = list.begin();
    for (std::size_t s = 0; s < sites; ++s) {
      const auto end = next + static_cast<std::ptrdiff_t>(counts[s]);
      partition[s].insert(partition[s].end(), next, end);
      next = end;
    }
  }
  give_everyone_one(partition);
  return partition;
}

/// Samples sorted by class, cut into S·k shards, k of them at random to each site (McMahan et al., arXiv 1602.05629).
Partition by_shards(std::int64_t shards, const Samples& train, std::int64_t classes, std::size_t sites,
                    RandomStream& random) {
  const std::size_t samples = train.labels.size();
  if (shards < 1 || static_cast<std::size_t>(shards) > samples / sites) {
    fail(fmt::format("{} shards for each of {} sites, from {} samples", shards, sites, samples),
         fmt::format("from 1 to {} shards per site", samples / sites));
  }
  const auto per_site = static_cast<std::size_t>(shards);
  Indices sorted;
  for (const Indices& list : samples_by_class(train, classes)) sorted.insert(sorted.end(), list.begin(), list.end());
  const std::vector<Indices> runs = cut(sorted, sites * per_site);
  const Indices order = shuffled(runs.size(), random);
  Partition partition(sites);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Indices& run = runs[static_cast<std::size_t>(order[i])];
    Indices& site = partition[i / per_site];
    site.insert(site.end(), run.begin(), run.end());
  }
  return partition;
}

Partition by_sizes(const std::vector<std::int64_t>& sizes, std::size_t samples, std::size_t sites,
                   RandomStream& random) {
  if (sizes.size() != sites) {
    fail(fmt::format("{} sizes for {} sites", sizes.size(), sites), "one size per site");
  }
  std::size_t left = samples;
  for (const std::int64_t size : sizes) {
    if (size < 1) fail(fmt::format("a site of {} samples", size), "at least 1 sample per site");
    if (static_cast<std::size_t>(size) > left) {
      fail(fmt::format("the sizes {} add up to more than the {} training samples", fmt::join(sizes, " "), samples),
           fmt::format("sizes that add up to at most {}", samples));
    }
    left -= static_cast<std::size_t>(size);
  }
  const Indices order = shuffled(samples, random);
  Partition partition(sites);
  auto next = order.begin();
  for (std::size_t s = 0; s < sites; ++s) {
    partition[s].assign(next, next + sizes[s]);
    next += sizes[s];
  }
  return partition;
}

Partition by_site(const std::vector<std::int32_t>& site_of, std::size_t sites) {
  if (site_of.empty()) fail("a split by site of samples that say none", "data that say which site a sample is of");
  Partition partition(sites);
  for (std::size_t i = 0; i < site_of.size(); ++i) {
    const auto site = static_cast<std::size_t>(site_of[i]);
    if (site >= sites) {
      fail(fmt::format("a sample of site {}, but there are {} workers", site + 1, sites), "a worker for each site");
    }
    partition[site].push_back(static_cast<std::int32_t>(i));
  }
  for (std::size_t s = 0; s < sites; ++s) {
    if (partition[s].empty()) {
      fail(fmt::format("split by site leaves site {} without a sample to train on", s + 1),
           "more samples of it, a smaller share to test on, or another split");
    }
  }
  return partition;
}

Partition deal(const spec::SplitSpec& spec, const Samples& train, std::int64_t classes, std::size_t sites,
               std::uint64_t seed) {
  RandomStream random(seed, Purpose::split);
  std::vector<double> shares;
  if (spec.size_spread > 0 || spec.size_exponent > 0) shares = uneven_shares(spec, sites, seed);
  switch (spec.kind) {
    case spec::SplitSpec::Kind::iid:
      if (!shares.empty()) return by_shares(shares, static_cast<std::size_t>(train.size()), random);
      return cut(shuffled(static_cast<std::size_t>(train.size()), random), sites);
    case spec::SplitSpec::Kind::by_class:
      return by_class(train, classes, sites);
    case spec::SplitSpec::Kind::dirichlet:
      return by_dirichlet(spec.alpha, shares, train, classes, sites, random);
    case spec::SplitSpec::Kind::shards:
      return by_shards(spec.shards, train, classes, sites, random);
    case spec::SplitSpec::Kind::sizes:
      return by_sizes(spec.sizes, static_cast<std::size_t>(train.size()), sites, random);
    case spec::SplitSpec::Kind::by_site:
      return by_site(train.sites, sites);
  }
  throw std::logic_error("unknown split");
}

}  // namespace

Partition split_over_sites(const spec::SplitSpec& spec, const Samples& train, std::int64_t classes, std::size_t sites,
                           std::uint64_t seed) {
  if (sites < 1 || classes < 1) throw std::logic_error("split: sites and classes are needed");
  if (static_cast<std::size_t>(train.size()) < sites) {
    fail(fmt::format("{} training samples for {} sites", train.size(), sites), "at least one sample per site");
  }
  if (train.labels_per_sample > 1 && spec.kind != spec::SplitSpec::Kind::iid &&
      spec.kind != spec::SplitSpec::Kind::sizes) {
    fail(fmt::format("a split by class of samples with {} labels each", train.labels_per_sample),
         "such a sample has no class of its own: a split by iid or sizes");
  }
  Partition partition = deal(spec, train, classes, sites, seed);
  for (std::vector<std::int32_t>& site : partition) std::sort(site.begin(), site.end());
  return partition;
}

}  // namespace dadsim::models
