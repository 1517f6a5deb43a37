#include "models/data/dataset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/gamma_distribution.hpp>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <variant>

#include "models/data/cifar10.hpp"
#include "models/data/csv.hpp"
#include "models/data/generated.hpp"
#include "models/data/idx.hpp"
#include "models/data/standardise.hpp"
#include "models/data/text.hpp"
#include "models/data/ts.hpp"
#include "models/uniform.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::models {
namespace {

void require_positive(std::int64_t count, const char* which) {
  if (count < 1) {
    throw InputError(Diagnostic{"", 0, fmt::format("{} {} samples", count, which), "use at least 1"});
  }
}

// Generated data sets: shape, and drawing of samples.

spec::DataFacts drawn(const spec::SampleShape& shape, std::int64_t classes) {
  return {spec::kMaxDrawnSamples, {}, shape, classes};
}

spec::DataFacts inspect(const spec::DigitsSource&) { return drawn(kDigitsShape, 10); }
spec::DataFacts inspect(const spec::ShapesSource&) { return drawn(kShapesShape, kShapesClasses); }
spec::DataFacts inspect(const spec::UtterancesSource& source) {
  return drawn({1, source.length, kUtteranceChannels}, kUtteranceClasses);
}
spec::DataFacts inspect(const spec::GrammarSource& source) {
  return {spec::kMaxDrawnSamples, {}, {1, source.length, 1, kGrammarVocabulary}, kGrammarVocabulary, source.length};
}
spec::DataFacts inspect(const spec::TabularSource& source) { return drawn({1, 1, source.features}, source.classes); }

Samples draw(const spec::DigitsSource&, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_digits(first, count, seed);
}
Samples draw(const spec::ShapesSource&, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_shapes(first, count, seed);
}
Samples draw(const spec::UtterancesSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_utterances(source.length, first, count, seed);
}
Samples draw(const spec::GrammarSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_grammar(source.length, first, count, seed);
}
Samples draw(const spec::TabularSource& source, std::int64_t first, std::int64_t count, std::uint64_t seed) {
  return draw_tabular(source, first, count, seed);
}

const char* name_of(const spec::DigitsSource&) { return "drawn digits"; }
const char* name_of(const spec::ShapesSource&) { return "drawn shapes"; }
const char* name_of(const spec::UtterancesSource&) { return "drawn utterances"; }
const char* name_of(const spec::GrammarSource&) { return "drawn arithmetic"; }
const char* name_of(const spec::TabularSource&) { return "drawn table"; }

template <class Source>
Dataset load(const Source& source, std::uint64_t seed) {
  // Compares without adding, which could overflow.
  if (source.train > spec::kMaxDrawnSamples - source.test) {
    throw InputError(Diagnostic{"", 0, fmt::format("{} + {} samples of {}", source.train, source.test, name_of(source)),
                                fmt::format("at most {} together", spec::kMaxDrawnSamples)});
  }
  const spec::DataFacts facts = inspect(source);
  if (source.train + source.test > spec::kMaxSampleValues / facts.shape.size()) {
    throw InputError(Diagnostic{"", 0,
                                fmt::format("{} samples of {} values", source.train + source.test, facts.shape.size()),
                                fmt::format("use at most {} values together", spec::kMaxSampleValues)});
  }
  Dataset data;
  data.train = draw(source, 0, source.train, seed);
  data.test = draw(source, source.train, source.test, seed);
  data.shape = facts.shape;
  data.classes = facts.classes;
  data.name = name_of(source);
  return data;
}

// IDX files.

spec::DataFacts inspect(const spec::IdxSource& source) {
  spec::DataFacts facts;
  std::vector<Diagnostic> errors;
  const auto attempt = [&](const std::string& images, const std::string& labels) {
    try {
      return inspect_idx(images, labels);
    } catch (const InputError& error) {
      errors.insert(errors.end(), error.diagnostics().begin(), error.diagnostics().end());
      return IdxFacts();
    }
  };
  const IdxFacts train = attempt(source.images, source.labels);
  facts.train = train.samples;
  facts.shape = train.shape;
  facts.classes = train.classes;
  if (!source.test_images.empty()) {
    const IdxFacts test = attempt(source.test_images, source.test_labels);
    if (errors.empty() && test.shape != train.shape) {
      errors.push_back({source.test_images, 0,
                        fmt::format("test images have {} × {} pixels, but training images have {} × {}",
                                    test.shape.height, test.shape.width, train.shape.height, train.shape.width),
                        "use images of one size"});
    }
    facts.test = test.samples;
    facts.classes = std::max(train.classes, test.classes);
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  return facts;
}

Samples slice(const Samples& samples, std::int64_t first, std::int64_t count) {
  Samples part;
  part.features = samples.features.middleRows(first, count);
  part.labels.assign(samples.labels.begin() + first, samples.labels.begin() + first + count);
  return part;
}

[[noreturn]] void too_few(const std::string& file, std::int64_t present, const std::string& wanted) {
  throw InputError(Diagnostic{file, 0, fmt::format("holds {} samples, fewer than {}", present, wanted),
                              "use fewer samples, or larger files"});
}

Dataset load(const spec::IdxSource& source, std::uint64_t) {
  if (source.test_images.empty() != source.test_labels.empty()) {
    throw InputError(Diagnostic{source.test_images.empty() ? source.test_labels : source.test_images, 0,
                                "test images and test labels must be given together", "give both files, or neither"});
  }
  const spec::DataFacts facts = inspect(source);
  Dataset data;
  Samples all = read_idx(source.images, source.labels);
  if (source.test_images.empty()) {
    // Compares without adding, which could overflow.
    if (source.train > all.size() || source.test > all.size() - source.train) {
      too_few(source.images, all.size(), fmt::format("the {} to train and {} to test", source.train, source.test));
    }
    data.train = slice(all, 0, source.train);
    data.test = slice(all, source.train, source.test);
  } else {
    if (source.train > all.size()) too_few(source.images, all.size(), fmt::format("the {} to train", source.train));
    data.train = slice(all, 0, source.train);
    all = Samples();
    const Samples held_back = read_idx(source.test_images, source.test_labels);
    if (source.test > held_back.size()) {
      too_few(source.test_images, held_back.size(), fmt::format("the {} to test", source.test));
    }
    data.test = slice(held_back, 0, source.test);
  }
  data.shape = facts.shape;
  data.classes = facts.classes;
  data.name = std::filesystem::path(source.images).filename().string();
  return data;
}

/// true: values of the source are rescaled here; tables and series are scaled while they are read.
template <class Source>
constexpr bool kComesInUsualScale = requires(const Source& source) {
  source.scale;
};
template <>
constexpr bool kComesInUsualScale<spec::TsSource> = false;
template <>
constexpr bool kComesInUsualScale<spec::CsvSource> = false;

/// Rescales all values. A sample's values are ordered by position, and within a position by channel.
void rescale(Dataset& data, spec::Scale from, spec::Scale to) {
  if (from == to) return;
  if (from == spec::Scale::unit && to == spec::Scale::none) {
    constexpr float kWhite = 255;
    for (Samples* samples : {&data.train, &data.test}) samples->features = (kWhite * samples->features).array().round();
    return;
  }
  const Eigen::Index channels = data.shape.channels;
  std::vector<ColumnMoments> moments(static_cast<std::size_t>(channels));
  for (Eigen::Index row = 0; row < data.train.size(); ++row) {
    for (Eigen::Index i = 0; i < data.train.features.cols(); ++i)
      moments[static_cast<std::size_t>(i % channels)].add(data.train.features(row, i));
  }
  for (Samples* samples : {&data.train, &data.test}) {
    for (Eigen::Index row = 0; row < samples->size(); ++row) {
      for (Eigen::Index i = 0; i < samples->features.cols(); ++i) {
        float& value = samples->features(row, i);
        value = moments[static_cast<std::size_t>(i % channels)].scaled(value, to);
      }
    }
  }
}

// Other files.

spec::DataFacts inspect(const spec::Cifar10Source& source) { return inspect_cifar10(source); }
spec::DataFacts inspect(const spec::TsSource& source) { return inspect_ts(source); }
spec::DataFacts inspect(const spec::CsvSource& source) { return inspect_csv(source); }
spec::DataFacts inspect(const spec::TextSource& source) { return inspect_text(source); }

Dataset load(const spec::Cifar10Source& source, std::uint64_t) { return read_cifar10(source); }
Dataset load(const spec::TsSource& source, std::uint64_t) { return read_ts(source); }
Dataset load(const spec::CsvSource& source, std::uint64_t seed) { return read_csv(source, seed); }
Dataset load(const spec::TextSource& source, std::uint64_t) { return read_text(source); }

}  // namespace

spec::DataFacts inspect_data(const spec::DataSource& source) {
  return std::visit([](const auto& one) { return inspect(one); }, source);
}

Dataset load_dataset(const spec::DataSpec& spec, std::uint64_t seed) {
  return std::visit(
      [&]<class Source>(const Source& source) {
        require_positive(source.train, "training");
        require_positive(source.test, "test");
        Dataset data = load(source, seed);
        if constexpr (kComesInUsualScale<Source>) rescale(data, Source{}.scale, source.scale);
        return data;
      },
      spec.source);
}

namespace {

using Indices = std::vector<std::int32_t>;

constexpr double kSmallestAlpha = 1e-9;  // smallest concentration of a site, for which logarithms of shares still keep
                                         // their digits

[[noreturn]] void fail(std::string what, std::string remedy) {
  throw InputError(Diagnostic{"", 0, std::move(what), std::move(remedy)});
}

/// Returns a random order of 0 … count−1.
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

/// Assigns class c to site ⌊c·S/C⌋.
Partition by_class(const Samples& train, std::int64_t classes, std::size_t sites) {
  const auto count = static_cast<std::size_t>(classes);
  if (sites > count) {
    fail(fmt::format("a split by class over {} sites needs one class per site, but there are {} classes", sites,
                     classes),
         fmt::format("use at most {} sites, or another split", classes));
  }
  Partition partition(sites);
  const std::vector<Indices> lists = samples_by_class(train, classes);
  for (std::size_t c = 0; c < count; ++c) {
    Indices& site = partition[c * sites / count];
    site.insert(site.end(), lists[c].begin(), lists[c].end());
  }
  for (std::size_t s = 0; s < sites; ++s) {
    if (partition[s].empty()) {
      fail(fmt::format("split by class leaves site {} without a sample", s + 1), "use more samples, or another split");
    }
  }
  return partition;
}

/// Returns each site's share of the samples. A log-normal share depends on the site's own random numbers, not on the
/// number of sites.
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

/// Returns shares ~ Dir(α_1, …, α_S), with `alphas` of the S sites: Gamma(α) draws over their sum. Uses logarithms,
/// since for small α the draws underflow: G(α) = G(α + 1)·U^(1/α) (Marsaglia & Tsang, ACM TOMS 26, 2000, section 6).
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

/// Returns whole numbers that add up to `total`, proportional to `shares`: the largest remainders are rounded up.
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

/// Moves a sample of the largest site to every empty site, because a site must have samples to train on.
void give_everyone_one(Partition& partition) {
  for (Indices& site : partition) {
    if (!site.empty()) continue;
    Indices& largest = *std::max_element(partition.begin(), partition.end(),
                                         [](const Indices& a, const Indices& b) { return a.size() < b.size(); });
    site.push_back(largest.back());
    largest.pop_back();
  }
}

/// Returns a random order of the samples, cut in proportion to `shares`.
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

/// Splits each class over the sites in Dirichlet shares (Yurochkin et al., arXiv 1905.12022; Hsu et al., arXiv
/// 1909.06335). For given `sizes` (shares of all samples), the concentration of site s is α·S·size: its mean share
/// equals its size, and equal sizes have concentration α.
Partition by_dirichlet(double alpha, const std::vector<double>& sizes, const Samples& train, std::int64_t classes,
                       std::size_t sites, RandomStream& random) {
  if (!(alpha >= 1e-6 && alpha <= 1e6)) {
    fail(fmt::format("a Dirichlet split needs alpha from 1e-6 to 1e6, not {}", alpha), "set alpha=\"1\", for example");
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

/// Sorts the samples by class, cuts them into S·k shards, and gives k random shards to each site (McMahan et al., arXiv
/// 1602.05629).
Partition by_shards(std::int64_t shards, const Samples& train, std::int64_t classes, std::size_t sites,
                    RandomStream& random) {
  const std::size_t samples = train.labels.size();
  if (shards < 1 || static_cast<std::size_t>(shards) > samples / sites) {
    fail(fmt::format("{} shards for each of {} sites need more than {} samples", shards, sites, samples),
         fmt::format("use 1 to {} shards per site", samples / sites));
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
    fail(fmt::format("{} sizes for {} sites", sizes.size(), sites), "use one size per site");
  }
  std::size_t left = samples;
  for (const std::int64_t size : sizes) {
    if (size < 1) fail(fmt::format("a site of {} samples", size), "use at least 1 sample per site");
    if (static_cast<std::size_t>(size) > left) {
      fail(fmt::format("the sizes {} add up to more than the {} training samples", fmt::join(sizes, " "), samples),
           fmt::format("use sizes that add up to at most {}", samples));
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
  if (site_of.empty())
    fail("a split by site needs samples that name their site", "use data with the site of each sample");
  Partition partition(sites);
  for (std::size_t i = 0; i < site_of.size(); ++i) {
    const auto site = static_cast<std::size_t>(site_of[i]);
    if (site >= sites) {
      fail(fmt::format("a sample belongs to site {}, but there are {} workers", site + 1, sites),
           "use a worker for each site");
    }
    partition[site].push_back(static_cast<std::int32_t>(i));
  }
  for (std::size_t s = 0; s < sites; ++s) {
    if (partition[s].empty()) {
      fail(fmt::format("the split by site leaves site {} without a training sample", s + 1),
           "use more samples of that site, a smaller test share, or another split");
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
    fail(fmt::format("{} training samples are too few for {} sites", train.size(), sites),
         "use at least one sample per site");
  }
  if (train.labels_per_sample > 1 && spec.kind != spec::SplitSpec::Kind::iid &&
      spec.kind != spec::SplitSpec::Kind::sizes) {
    fail(fmt::format("a split by class needs one label per sample, but samples have {}", train.labels_per_sample),
         "use a split by iid or sizes");
  }
  Partition partition = deal(spec, train, classes, sites, seed);
  for (std::vector<std::int32_t>& site : partition) std::sort(site.begin(), site.end());
  return partition;
}

}  // namespace dadsim::models
