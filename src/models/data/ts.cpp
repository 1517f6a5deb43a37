#include "models/data/ts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "models/data/csv_rows.hpp"
#include "models/data/line_errors.hpp"
#include "models/data/number_text.hpp"
#include "models/data/standardise.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/split.hpp"

namespace dadsim::models {
namespace {

constexpr std::int64_t kMaxTsBytes = std::int64_t{1} << 29U;
constexpr std::int64_t kLinesBetweenLooks = 4096;  // lines between checks for an interrupt
constexpr std::int64_t kMaxChannels = 10000;
constexpr std::int64_t kMaxTsClasses = 10000;
const char* const kTsForm = "use a .ts file: @ lines down to @data, then one case per line as 1,2,3:4,5,6:class";
const std::array<std::string, 9> kTags = {"problemName", "timeStamps",   "missing",    "univariate", "dimensions",
                                          "equalLength", "seriesLength", "classLabel", "data"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool is_missing(std::string_view text) { return text == "?" || lower(text) == "nan"; }

/// Removes the part of `rest` up to `separator`, and returns it.
std::string_view next_part(std::string_view& rest, char separator, bool& more) {
  const std::size_t end = rest.find(separator);
  more = end != std::string_view::npos;
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(more ? end + 1 : rest.size());
  return part;
}

class TsReader {
 public:
  TsReader(std::string name, std::int64_t keep) : errors_(name), keep_(keep) { file_.name = std::move(name); }
  TsFile read(std::string_view content) {
    file_.starts.push_back(0);
    bool more = true;
    while (more && !errors_.full()) {
      const std::string_view line = trimmed(next_part(content, '\n', more));
      if (++line_ % kLinesBetweenLooks == 0 && interrupted().load()) throw Cancelled();
      if (line.empty() || line[0] == '#') continue;
      if (line[0] == '@') {
        read_tag(line.substr(1));
      } else if (!in_data_) {
        errors_.add(line_, fmt::format("'{}' before @data", shown_field(line)), kTsForm);
        break;
      } else {
        read_case(line);
      }
    }
    if (errors_.empty() && !in_data_) errors_.add(0, "no @data", kTsForm);
    if (errors_.empty() && file_.cases == 0) errors_.add(0, "no cases", kTsForm);
    errors_.throw_if_any();
    return std::move(file_);
  }

 private:
  void read_tag(std::string_view text) {
    const std::vector<std::string> words = words_of(text);
    const std::string tag = words.empty() ? std::string() : lower(words[0]);
    const std::vector<std::string_view> values(words.begin() + (words.empty() ? 0 : 1), words.end());
    if (in_data_) {
      errors_.add(line_, fmt::format("'@{}' follows @data", shown_field(text)),
                  "put it above @data, which ends the header");
      return;
    }
    if (!tag.empty() && !seen_.insert(tag).second) {
      errors_.add(line_, fmt::format("a second @{}", shown_field(words[0])), "once");
      return;
    }
    if (tag == "problemname") return;
    if (tag == "timestamps") {
      if (truth(values).value_or(false)) {
        errors_.add(line_, "series with timestamps", "use evenly spaced values (@timeStamps false)");
      }
    } else if (tag == "missing") {
      missing_ = truth(values);
    } else if (tag == "univariate") {
      if (const std::optional<bool> univariate = truth(values)) {
        if (*univariate) set_channels(1);
        multivariate_ = !*univariate;
      }
    } else if (tag == "dimensions" || tag == "dimension") {
      if (const std::optional<std::int64_t> count = whole(values, kMaxChannels)) set_channels(*count);
    } else if (tag == "equallength") {
      equal_length_ = truth(values);
    } else if (tag == "serieslength") {
      series_length_ = whole(values, spec::kMaxSampleValues);
    } else if (tag == "classlabel") {
      read_classes(values);
    } else if (tag == "targetlabel") {
      errors_.add(line_, "the file has target numbers instead of classes",
                  "use a file with @classLabel true and the classes");
    } else if (tag == "data") {
      start_data();
    } else {
      errors_.add(line_, fmt::format("unknown '@{}'", shown_field(text)),
                  suggestion(words.empty() ? std::string_view() : words[0].substr(0, 40), kTags));
    }
  }

  std::optional<bool> truth(const std::vector<std::string_view>& values) {
    if (values.size() == 1 && lower(values[0]) == "true") return true;
    if (values.size() == 1 && lower(values[0]) == "false") return false;
    errors_.add(line_, "neither true nor false", "write true or false");
    return std::nullopt;
  }

  std::optional<std::int64_t> whole(const std::vector<std::string_view>& values, std::int64_t most) {
    const std::optional<double> number = values.size() == 1 ? number_in(values[0]) : std::nullopt;
    if (number && *number >= 1 && *number <= static_cast<double>(most) && std::floor(*number) == *number) {
      return static_cast<std::int64_t>(*number);
    }
    errors_.add(line_, "not a whole number", fmt::format("use a whole number from 1 to {}", most));
    return std::nullopt;
  }

  void set_channels(std::int64_t count) {
    if (file_.channels != 0 && file_.channels != count) {
      errors_.add(line_, fmt::format("{} dimensions, but {} in a line above", count, file_.channels),
                  "make @univariate and @dimensions agree");
    }
    file_.channels = count;
  }

  void read_classes(const std::vector<std::string_view>& values) {
    if (values.empty() || lower(values[0]) != "true" || values.size() < 2) {
      errors_.add(line_, "no classes", "write @classLabel true, then the name of each class");
      return;
    }
    if (static_cast<std::int64_t>(values.size()) - 1 > kMaxTsClasses) {
      errors_.add(line_, fmt::format("{} classes", values.size() - 1), fmt::format("at most {}", kMaxTsClasses));
      return;
    }
    for (std::size_t i = 1; i < values.size(); ++i) {
      if (!class_of_.emplace(values[i], static_cast<std::int32_t>(i - 1)).second) {
        errors_.add(line_, fmt::format("class '{}' twice", shown_field(values[i])), "each class once");
      }
      file_.classes.emplace_back(values[i]);
    }
  }

  void start_data() {
    in_data_ = true;
    if (!seen_.contains("classlabel"))
      errors_.add(line_, "no @classLabel above @data", "write @classLabel true and the names of the classes");
    if (multivariate_ && file_.channels == 1) {
      errors_.add(line_, "@univariate is false, but there is one dimension", "make @univariate and @dimensions agree");
    }
  }

  void read_case(std::string_view line) {
    const auto channels = std::count(line.begin(), line.end(), ':');
    if (channels == 0) {
      errors_.add(line_, "no ':' before a class", kTsForm);
      return;
    }
    if (file_.channels == 0 && channels <= kMaxChannels) file_.channels = channels;
    if (channels != file_.channels) {
      errors_.add(line_, fmt::format("{} dimensions", channels),
                  fmt::format("use {}, as in the header or the first case", file_.channels));
      return;
    }
    const std::size_t values_before = file_.values.size();
    const std::size_t starts_before = file_.starts.size();
    const std::size_t errors_before = errors_.count();
    // Reserves the exact size, because short values take twice as many bytes here as in the file.
    const std::size_t needed =
        values_before + static_cast<std::size_t>(channels + std::count(line.begin(), line.end(), ','));
    if (needed > file_.values.capacity())
      file_.values.reserve(std::max(needed, file_.values.capacity() + file_.values.capacity() / 4));
    bool more = true;
    for (std::int64_t channel = 0; channel < channels; ++channel) {
      read_channel(next_part(line, ':', more), channel);
      file_.starts.push_back(static_cast<std::uint32_t>(file_.values.size()));
    }
    const std::string label(trimmed(line));
    const auto found = class_of_.find(label);
    if (class_of_.empty()) return;  // the error is reported at @data
    if (found == class_of_.end()) {
      errors_.add(line_, fmt::format("class '{}' is not in the header", shown_field(label)),
                  suggestion(std::string_view(label).substr(0, 40), file_.classes));
    }
    const bool wrong = errors_.count() > errors_before;
    if (wrong || file_.cases >= keep_) {
      file_.values.resize(values_before);
      file_.starts.resize(starts_before);
    } else {
      file_.labels.push_back(found->second);
    }
    if (!wrong) ++file_.cases;
    if (static_cast<std::int64_t>(file_.values.size()) > spec::kMaxSampleValues) {
      errors_.add(line_, fmt::format("more than {} values up to this line", spec::kMaxSampleValues),
                  "use fewer samples");
    }
  }

  void read_channel(std::string_view text, std::int64_t channel) {
    const std::size_t before = file_.values.size();
    if (trimmed(text).empty()) {
      errors_.add(line_, fmt::format("no values in dimension {}", channel + 1),
                  "give at least one value, or ? for a missing one");
      return;
    }
    bool more = true;
    while (more) {
      const std::string_view word = trimmed(next_part(text, ',', more));
      if (is_missing(word)) {
        if (missing_ == false) {
          errors_.add(line_, fmt::format("a missing value in dimension {}", channel + 1),
                      "give a number, or write @missing true above");
          return;
        }
        file_.values.push_back(std::numeric_limits<float>::quiet_NaN());
        continue;
      }
      const std::optional<double> number = number_in(word);
      if (!number) {
        errors_.add(line_, fmt::format("'{}' in dimension {} is not a number", shown_field(word), channel + 1),
                    "use a number within float range, or ? for a missing value");
        return;
      }
      file_.values.push_back(static_cast<float>(*number));
    }
    const auto length = static_cast<std::int64_t>(file_.values.size() - before);
    if (equal_length_.value_or(false) && !series_length_) series_length_ = length;
    if (equal_length_.value_or(false) && length != *series_length_) {
      errors_.add(line_, fmt::format("{} values in dimension {}", length, channel + 1),
                  fmt::format("use {}, since @equalLength true makes all series equally long", *series_length_));
      return;
    }
    file_.longest = std::max(file_.longest, length);
  }

  TsFile file_;
  LineErrors errors_;
  std::int64_t keep_;
  std::int64_t line_ = 0;
  bool in_data_ = false;
  bool multivariate_ = false;
  std::optional<bool> missing_, equal_length_;
  std::optional<std::int64_t> series_length_;
  std::set<std::string> seen_;
  std::map<std::string, std::int32_t, std::less<>> class_of_;
};

/// Returns for each class of `other` its index in `first`.
std::vector<std::int32_t> renumber(const TsFile& first, const TsFile& other) {
  std::vector<std::int32_t> number;
  std::vector<Diagnostic> errors;
  for (const std::string& name : other.classes) {
    const auto found = std::ranges::find(first.classes, name);
    if (found == first.classes.end()) {
      errors.push_back({other.name, 0, fmt::format("class '{}' is not in {}", shown_field(name), first.name),
                        suggestion(std::string_view(name).substr(0, 40), first.classes)});
      if (errors.size() == 20) break;
    }
    number.push_back(static_cast<std::int32_t>(found - first.classes.begin()));
  }
  if (!errors.empty()) throw InputError(std::move(errors));
  return number;
}

spec::DataFacts facts_of(const TsFile& train, const TsFile& test) {
  renumber(train, test);
  if (train.channels != test.channels) {
    throw InputError(Diagnostic{
        test.name, 0,
        fmt::format("{} dimensions, but {} in the training file {}", test.channels, train.channels, train.name),
        "use files with equal dimensions"});
  }
  spec::DataFacts facts;
  facts.train = train.cases;
  facts.test = test.cases;
  facts.shape = {1, std::max<std::int64_t>(1, std::max(train.longest, test.longest)), train.channels};
  facts.classes = static_cast<std::int64_t>(train.classes.size());
  return facts;
}

std::vector<ColumnMoments> moments_of(const TsFile& file, std::int64_t cases) {
  std::vector<ColumnMoments> moments(static_cast<std::size_t>(file.channels));
  for (std::size_t at = 0; at < static_cast<std::size_t>(cases) * moments.size(); ++at) {
    for (std::uint32_t k = file.starts[at]; k < file.starts[at + 1]; ++k) {
      if (const float value = file.values[k]; !std::isnan(value)) moments[at % moments.size()].add(value);
    }
  }
  return moments;
}

Samples samples_of(const TsFile& file, std::int64_t cases, std::int64_t length,
                   const std::vector<ColumnMoments>& moments, spec::Scale scale) {
  Samples samples;
  samples.features = Matrix::Zero(cases, length * file.channels);
  samples.labels.assign(file.labels.begin(), file.labels.begin() + cases);
  for (std::int64_t row = 0; row < cases; ++row) {
    for (std::int64_t channel = 0; channel < file.channels; ++channel) {
      const auto at = static_cast<std::size_t>(row * file.channels + channel);
      const ColumnMoments& own = moments[static_cast<std::size_t>(channel)];
      float last = own.scaled(own.mean(), scale);
      for (std::uint32_t k = file.starts[at]; k < file.starts[at + 1]; ++k) {
        if (const float value = file.values[k]; !std::isnan(value)) last = own.scaled(value, scale);
        samples.features(row, static_cast<std::int64_t>(k - file.starts[at]) * file.channels + channel) = last;
      }
    }
  }
  return samples;
}

/// Reads both files to their ends, so that all errors are reported at once; keeps their first cases.
std::pair<TsFile, TsFile> read_files(const spec::TsSource& source, std::int64_t train, std::int64_t test) {
  std::pair<TsFile, TsFile> files;
  std::vector<Diagnostic> errors;
  const auto attempt = [&](TsFile& file, const std::string& path, std::int64_t keep) {
    try {
      SourceBytes bytes = SourceBytes::open(path, kTsForm);
      file = read_ts(bytes, keep);
    } catch (const InputError& error) {
      errors.insert(errors.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  };
  attempt(files.first, source.train_file, train);
  attempt(files.second, source.test_file, test);
  if (!errors.empty()) throw InputError(std::move(errors));
  return files;
}

}  // namespace

TsFile read_ts(SourceBytes& bytes, std::int64_t keep) {
  const std::string content = bytes.rest(kMaxTsBytes);
  return TsReader(bytes.name(), keep).read(content);
}

Dataset dataset_of(const TsFile& train, const TsFile& test, std::int64_t train_cases, std::int64_t test_cases,
                   spec::Scale scale) {
  const spec::DataFacts facts = facts_of(train, test);
  if (train_cases > facts.train || test_cases > *facts.test) {
    throw InputError(Diagnostic{train_cases > facts.train ? train.name : test.name, 0,
                                fmt::format("holds {} cases, fewer than the scenario needs",
                                            train_cases > facts.train ? facts.train : *facts.test),
                                "use fewer samples"});
  }
  // All series are as long as the longest, which can exhaust memory.
  if ((train_cases + test_cases) > spec::kMaxSampleValues / facts.shape.size()) {
    throw InputError(Diagnostic{train.name, 0,
                                fmt::format("{} cases padded to {} values in {} dimensions", train_cases + test_cases,
                                            facts.shape.width, facts.shape.channels),
                                fmt::format("use fewer samples, at most {} values together", spec::kMaxSampleValues)});
  }
  Dataset data;
  data.shape = facts.shape;
  data.classes = facts.classes;
  const std::vector<ColumnMoments> moments = moments_of(train, train_cases);
  data.train = samples_of(train, train_cases, facts.shape.width, moments, scale);
  data.test = samples_of(test, test_cases, facts.shape.width, moments, scale);
  const std::vector<std::int32_t> number = renumber(train, test);
  for (std::int32_t& label : data.test.labels) label = number[static_cast<std::size_t>(label)];
  data.name = std::filesystem::path(train.name).filename().string();
  return data;
}

spec::DataFacts inspect_ts(const spec::TsSource& source) {
  const auto [train, test] = read_files(source, 0, 0);
  return facts_of(train, test);
}

Dataset read_ts(const spec::TsSource& source) {
  const auto [train, test] = read_files(source, source.train, source.test);
  return dataset_of(train, test, source.train, source.test, source.scale);
}

}  // namespace dadsim::models
