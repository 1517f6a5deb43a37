#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "spec/drift_specification.hpp"
#include "spec/names.hpp"
#include "spec/sample_shape.hpp"

// Data of a scenario: the source of samples, and their distribution over sites. Complete and checked.

namespace dadsim::spec {

inline constexpr std::int64_t kMaxDrawnSamples = 200000;                  ///< training + test samples of a drawn set
inline constexpr std::int64_t kMaxSampleValues = std::int64_t{1} << 28U;  ///< samples × values: 1 GiB of floats
inline constexpr std::int64_t kMinUtteranceLength = 8;                    ///< smallest number of frames of an utterance
inline constexpr std::int64_t kMaxUtteranceLength = 2000;
inline constexpr std::int64_t kMinTextLength = 2;  ///< smallest number of characters of a window
inline constexpr std::int64_t kMaxTextLength = 4096;
inline constexpr std::int64_t kMaxTabularFeatures = 10000;
inline constexpr std::int64_t kMaxTabularClasses = 1000;

/// Scaling of a source's features.
enum class Scale : std::uint8_t {
  none,     ///< none: pixels from 0 to 255, other values as in the files
  unit,     ///< to 0 … 1: pixels ÷ 255, other values by the minimum and maximum of their channel or column
  standard  ///< to mean 0 and standard deviation 1 per channel or column
};
constexpr auto names_of(Scale) {
  return std::to_array<Name<Scale>>({{Scale::none, "none"}, {Scale::unit, "unit"}, {Scale::standard, "standard"}});
}

/// Embedded digits, drawn by a procedure.
struct DigitsSource {
  std::int64_t train = 8000;  ///< number of training samples
  std::int64_t test = 2000;
  Scale scale = Scale::unit;
};

/// Images and labels in IDX files (plain or gzip).
struct IdxSource {
  std::string images, labels;            ///< files with the training images and labels
  std::string test_images, test_labels;  ///< test files; both empty: the test samples follow the training samples in
                                         ///< the same files
  std::int64_t train = 0;                ///< number of training samples
  std::int64_t test = 0;
  Scale scale = Scale::unit;
};

/// Colour images in the binary files of CIFAR-10.
struct Cifar10Source {
  std::vector<std::string> files;       ///< training files, in order
  std::vector<std::string> test_files;  ///< test files; empty: the test samples follow the training samples in the same
                                        ///< files
  std::int64_t train = 0;
  std::int64_t test = 0;
  Scale scale = Scale::unit;
};

/// Labelled time series in .ts files of the UEA & UCR archive.
struct TsSource {
  std::string train_file, test_file;
  std::int64_t train = 0;
  std::int64_t test = 0;
  Scale scale = Scale::standard;
};

/// A table with the class in one column. Columns are given by name, by number from 1, or as "last".
struct CsvSource {
  std::string file, target;
  std::vector<std::string> site_files;  ///< a table for each site, in place of `file`
  std::string site;                     ///< column with the site of a row; empty: none
  std::vector<std::string> ignore;      ///< columns that are no features
  bool names = true;                    ///< false: the first line is a sample, and columns are named 1, 2, 3 …
  std::string test_file;                ///< table of held-back rows; empty: a share of the rows of `file`
  double test_share = 0.2;              ///< share of the rows held back without a test file, in (0, 1)
  std::int64_t train = 0;
  std::int64_t test = 0;
  Scale scale = Scale::standard;
};

/// Plain text; the network learns the next character.
struct TextSource {
  std::string file;
  std::int64_t length = 64;  ///< characters per sample
  double test_share = 0.1;   ///< share of the characters held back, at the end of the text
  std::int64_t train = 0;    ///< number of training windows
  std::int64_t test = 0;
};

/// Drawn images of coloured shapes.
struct ShapesSource {
  std::int64_t train = 8000;
  std::int64_t test = 2000;
  Scale scale = Scale::unit;
};

/// Drawn sequences similar to spoken digits.
struct UtterancesSource {
  std::int64_t length = 93;  ///< frames of a sequence, including padding
  std::int64_t train = 4000;
  std::int64_t test = 1000;
  Scale scale = Scale::none;
};

/// Drawn arithmetic with nested brackets; the network learns the next character.
struct GrammarSource {
  std::int64_t length = 64;  ///< characters per sample
  std::int64_t train = 4000;
  std::int64_t test = 1000;
};

/// Drawn table with labels by a random network.
struct TabularSource {
  std::int64_t features = 20;
  std::int64_t classes = 4;
  double noise = 0.05;  ///< share of labels replaced by random ones
  std::int64_t train = 8000;
  std::int64_t test = 2000;
  Scale scale = Scale::none;
};

using DataSource = std::variant<DigitsSource, IdxSource, Cifar10Source, TsSource, CsvSource, TextSource, ShapesSource,
                                UtterancesSource, GrammarSource, TabularSource>;

/// Contents of a data source, loaded.
struct DataFacts {
  std::int64_t train = 0;            ///< training samples
  std::optional<std::int64_t> test;  ///< test samples; nullopt: `train` counts them too, after the training samples
  SampleShape shape;
  std::int64_t classes = 0;
  std::int64_t labels_per_sample = 1;
  std::vector<std::string> sites{};  ///< sites named in the data, in the order of the workers; empty: none
  std::vector<std::string> notes{};  ///< notes for the scenario's author, each "file:line: what; why"
};

/// Distribution of the training samples over the sites.
struct SplitSpec {
  enum class Kind { iid, by_class, dirichlet, shards, sizes, by_site };  ///< by_site: the sites named in the data
  Kind kind = Kind::iid;
  double alpha = 0.5;               ///< dirichlet: concentration; small values give uneven classes
  std::int64_t shards = 2;          ///< shards: number per site, from samples sorted by class
  std::vector<std::int64_t> sizes;  ///< sizes: number of samples of each site, drawn at random
  // iid and dirichlet: spread of site sizes; at most one is set; both 0: equal sizes
  double size_spread = 0;    ///< log-normal: standard deviation of the logarithm of sizes
  double size_exponent = 0;  ///< Zipf: the k-th largest site has a size proportional to k^−exponent
};
constexpr auto names_of(SplitSpec::Kind) {
  using enum SplitSpec::Kind;
  return std::to_array<Name<SplitSpec::Kind>>({{iid, "iid"},
                                               {by_class, "class"},
                                               {dirichlet, "dirichlet"},
                                               {shards, "shards"},
                                               {sizes, "sizes"},
                                               {by_site, "site"}});
}

/// Shift of the features between sites: x ↦ e^(gain·z) x + offset·z′ + noise·z″ with standard normal z and z′ for each
/// site and channel, z″ for each value.
struct ShiftSpec {
  double gain = 0;    ///< gain: standard deviation of the logarithm
  double offset = 0;  ///< offset: standard deviation
  double noise = 0;   ///< noise: standard deviation

  bool none() const { return gain == 0 && offset == 0 && noise == 0; }
};

struct DataSpec {
  DataSource source;
  SplitSpec split;
  ShiftSpec shift;
  std::vector<DriftSpec> drifts;  ///< drifts, in order of time
};

}  // namespace dadsim::spec
