#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/data/source_bytes.hpp"

namespace dadsim::models {

/// Labelled time series as they stand in one .ts file: a header of lines that start with @, then one case per line, its
/// channels parted by colons, their values by commas, the class behind the last colon (Loning et al., sktime,
/// https://www.sktime.net; https://www.timeseriesclassification.com).
struct TsFile {
  std::string name;
  std::int64_t channels = 0;
  std::int64_t longest = 0;          ///< values of a channel
  std::vector<std::string> classes;  ///< in the order of the header
  std::int64_t cases = 0;
  // Of the first cases, as many as were asked for:
  std::vector<std::int32_t> labels;   ///< of each case
  std::vector<std::uint32_t> starts;  ///< cases × channels + 1: where the values of each channel start in `values`
  std::vector<float> values;          ///< NaN: missing
};

/// Throws InputError with file and line: header lines that are unknown, missing or do not agree with the data, words
/// among the numbers, classes that the header does not name, timestamps and regression targets (not supported).
/// The values of the first `keep` cases are kept, the others looked at.
TsFile read_ts(SourceBytes& bytes, std::int64_t keep = std::numeric_limits<std::int64_t>::max());

/// The first cases of two files, each a sequence of `longest` positions. Every channel is scaled by the values
/// that the training part of it holds; a missing value is the last one seen of its channel, the mean before any; the
/// rest of a shorter series is 0. Throws InputError where the files do not fit each other.
Dataset dataset_of(const TsFile& train, const TsFile& test, std::int64_t train_cases, std::int64_t test_cases,
                   spec::Scale scale = spec::Scale::standard);

spec::DataFacts inspect_ts(const spec::TsSource& source);
Dataset read_ts(const spec::TsSource& source);

}  // namespace dadsim::models
