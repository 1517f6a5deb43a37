#pragma once

#include <cstdint>
#include <vector>

#include "models/data/dataset.hpp"

namespace dadsim::models {

/// What sites see from which time on. Versions of a site are numbered from 0, which it has at the beginning.
struct DriftedData {
  std::vector<std::vector<double>> from;  ///< per site, seconds at which its versions 1, 2, … begin, rising
  std::vector<Partition> partitions;      ///< versions 1, 2, … of the sites that have them: as many samples as before
  /// Held-back samples as they are when the sites see what they see from a time on: each site stands for a share of
  /// them as large as that of its training samples.
  struct HeldBack {
    double from = 0;  ///< seconds
    Samples samples;
  };
  std::vector<HeldBack> held_back;  ///< in rising order; before the first, Dataset::test

  std::int64_t version(std::size_t site, double seconds) const;
  /// 0: Dataset::test; else one more than its place in `held_back`.
  std::size_t number_held_back_at(double seconds) const;
  /// Nullptr: Dataset::test.
  const Samples* held_back_at(double seconds) const;
};

/// Makes what drifts: samples that are corrupted are appended to data.train, and partitions name them. A site whose
/// classes drift draws as many samples as it had from all training samples, in shares of the classes ~ Dir(α); where a
/// class has fewer, some come again. Samples of more than one label have no classes to drift: throws InputError, as
/// Corrupter does.
DriftedData make_drift(const std::vector<spec::DriftSpec>& drifts, Dataset& data, const Partition& partition,
                       std::uint64_t seed);

/// Held-back samples as each site would see them: its share of them, which is as large as that of its training samples,
/// corrupted by its own instrument, and, with `label_alpha` above 0, drawn from all of them in shares of the classes
/// ~ Dir(label_alpha). Where there are more sites than samples, some have none. Throws InputError as make_drift() does.
std::vector<Samples> held_back_of_sites(spec::Corruption corruption, std::int64_t severity, double label_alpha,
                                        const Dataset& data, const Partition& partition, std::uint64_t seed);

}  // namespace dadsim::models
