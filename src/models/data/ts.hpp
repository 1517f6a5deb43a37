#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/data/dataset.hpp"
#include "models/data/source_bytes.hpp"

namespace dadsim::models {

/// Labelled time series of one .ts file: a header of lines that start with @, then one case per line, its channels
/// separated by colons, their values by commas, the class after the last colon (Loning et al., sktime,
/// https://www.sktime.net; https://www.timeseriesclassification.com).
struct TsFile {
  std::string name;
  std::int64_t channels = 0;
  std::int64_t longest = 0;          ///< largest number of values of a channel in a case
  std::vector<std::string> classes;  ///< in the order of the header
  std::int64_t cases = 0;
  // Data of the first cases, as many as requested:
  std::vector<std::int32_t> labels;   ///< class of each case
  std::vector<std::uint32_t> starts;  ///< cases × channels + 1: where the values of each channel start in `values`
  std::vector<float> values;          ///< values of the cases; NaN: missing
};

/// Reads a .ts file. Throws InputError with file and line: header lines that are unknown, missing or contradict the
/// data, words among the numbers, classes missing in the header, timestamps and regression targets (not supported).
/// Keeps the values of the first `keep` cases; the others are only checked.
TsFile read_ts(SourceBytes& bytes, std::int64_t keep = std::numeric_limits<std::int64_t>::max());

/// Returns the first cases of two files as sequences of `longest` positions. Every channel is scaled by its values in
/// the training part. A missing value becomes the value before it in its series, or the channel's mean if there is none
/// before. Positions after the end of a shorter series are 0. Throws InputError if the files do not fit each other.
Dataset dataset_of(const TsFile& train, const TsFile& test, std::int64_t train_cases, std::int64_t test_cases,
                   spec::Scale scale = spec::Scale::standard);

spec::DataFacts inspect_ts(const spec::TsSource& source);
Dataset read_ts(const spec::TsSource& source);

}  // namespace dadsim::models
