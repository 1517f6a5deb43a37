#pragma once

#include <cstdint>
#include <vector>

#include "models/data/dataset.hpp"

namespace dadsim::models {

/// Versions of the sites' data over time, numbered from 0. Version 0 is the initial one.
struct DriftedData {
  std::vector<std::vector<double>> from;  ///< dates in seconds at which each site's versions 1, 2, … begin, ascending
  std::vector<Partition> partitions;      ///< samples of the sites in versions 1, 2, …: as many as before
  /// Held-back samples as the sites see them from a date on. Each site has a part as large as its share of the training
  /// samples.
  struct HeldBack {
    double from = 0;  ///< date, seconds
    Samples samples;
  };
  std::vector<HeldBack> held_back;  ///< held-back samples by ascending date; before the first date Dataset::test
                                    ///< applies

  std::int64_t version(std::size_t site, double seconds) const;
  /// Returns 0 for Dataset::test, else one plus the index into `held_back`.
  std::size_t number_held_back_at(double seconds) const;
  /// Returns the held-back samples at that time; nullptr: Dataset::test.
  const Samples* held_back_at(double seconds) const;
};

/// Makes drifted data: corrupted samples are appended to data.train, and partitions name them. A site whose classes
/// drift draws as many samples as it had from all training samples, with class shares ~ Dir(α); samples of a small
/// class may repeat. Throws InputError for samples with several labels, which have no classes to drift, and like
/// Corrupter.
DriftedData make_drift(const std::vector<spec::DriftSpec>& drifts, Dataset& data, const Partition& partition,
                       std::uint64_t seed);

/// Returns the held-back samples of each site: its share of them, as large as its share of the training samples,
/// corrupted by its own instrument. With `label_alpha` above 0 they are drawn from all, with class shares ~
/// Dir(label_alpha). With more sites than samples, some sites have none. Throws InputError as make_drift() does.
std::vector<Samples> held_back_of_sites(spec::Corruption corruption, std::int64_t severity, double label_alpha,
                                        const Dataset& data, const Partition& partition, std::uint64_t seed);

}  // namespace dadsim::models
