#pragma once

#include <cstdint>
#include <vector>

#include "models/data/dataset.hpp"

namespace dadsim::models {

/// Versions of the sites' data over time, numbered from 0. Version 0 is the initial one.
struct DriftedData {
  std::vector<std::vector<double>> from;  ///< ascending dates, in seconds, at which versions 1, 2, … of each site begin
  std::vector<Partition> partitions;      ///< samples of each site in versions 1, 2, …; their number does not change
  /// Held-back samples that the sites see from a date on. Each site's part is as large as its share of the training
  /// samples.
  struct HeldBack {
    double from = 0;  ///< date, seconds
    Samples samples;
  };
  std::vector<HeldBack> held_back;  ///< held-back samples by ascending date; before the first date Dataset::test
                                    ///< applies

  std::int64_t version(std::size_t site, double seconds) const;
  /// Returns 0 for Dataset::test, otherwise 1 + the index into `held_back`.
  std::size_t number_held_back_at(double seconds) const;
  /// Returns the held-back samples at a date in seconds; nullptr: Dataset::test.
  const Samples* held_back_at(double seconds) const;
};

/// Makes drifted data. Corrupted samples are appended to data.train, and partitions refer to them. A site whose class
/// shares drift draws as many samples as it had from all training samples, with shares ~ Dir(α); samples of a small
/// class may repeat. Throws InputError for samples with several labels, which have no classes, and for data that
/// Corrupter rejects.
DriftedData make_drift(const std::vector<spec::DriftSpec>& drifts, Dataset& data, const Partition& partition,
                       std::uint64_t seed);

/// Returns the held-back samples of each site, corrupted by the site's own instrument. Each site gets the same share of
/// the held-back samples as of the training samples. With `label_alpha` above 0, samples are drawn from all held-back
/// ones, with class shares ~ Dir(label_alpha). With more sites than samples, some sites have none. Throws InputError as
/// make_drift() does.
std::vector<Samples> held_back_of_sites(spec::Corruption corruption, std::int64_t severity, double label_alpha,
                                        const Dataset& data, const Partition& partition, std::uint64_t seed);

}  // namespace dadsim::models
