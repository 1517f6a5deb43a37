#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "scenario/files.hpp"
#include "scenario/read.hpp"
#include "scenario/white_space.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxFiles = 100;
constexpr std::size_t kMaxIgnored = 1000;

/// Reads `train` and `test` of a drawn set and asks what it looks like.
template <class Source>
DataFindings finish_drawn(const Node& node, Source source, const ReadContext& context) {
  source.train = node.integer("train", 1, spec::kMaxDrawnSamples, source.train);
  source.test = node.integer("test", 1, spec::kMaxDrawnSamples, source.test);
  if (source.train + source.test > spec::kMaxDrawnSamples) {
    node.fail(fmt::format("<{}> asks for {} samples", node.element().name, source.train + source.test),
              fmt::format("train and test together are at most {}", spec::kMaxDrawnSamples));
  }
  const Catalog::DataAnswer answer = context.catalog.inspect_data(source);
  return {{source, {}, {}, {}}, source.train, answer.facts.classes, answer.facts.shape, answer.facts.labels_per_sample};
}

/// Reads `train` and `test` of a set in files and asks what those hold, where all of them were found. `own_test`:
/// held-back samples have files of their own, or are set apart by the source itself.
template <class Source>
DataFindings finish_files(const Node& node, Source source, bool own_test, bool complete, const ReadContext& context) {
  std::optional<spec::DataFacts> facts;
  if (complete) {
    Catalog::DataAnswer answer = context.catalog.inspect_data(source);
    if (answer.errors.empty()) facts = answer.facts;
    for (Diagnostic& error : answer.errors) context.findings.add(std::move(error));
  }
  const auto samples = [&](const char* attribute, std::int64_t held) -> std::int64_t {
    if (own_test && !node.has(attribute)) {
      if (facts && held < 1) node.fail(fmt::format("the files for '{}' hold no samples", attribute), "at least one");
      return held;
    }
    const std::optional<std::int64_t> asked = node.integer(attribute, 1, kMaxSamples);
    if (asked && own_test && facts && *asked > held) {
      node.fail_at(attribute, "is more than there is", fmt::format("the files hold {} samples", held));
    }
    return asked.value_or(0);
  };
  source.train = samples("train", facts ? facts->train : 0);
  source.test = samples("test", facts ? facts->test.value_or(0) : 0);
  if (!own_test && facts && source.train + source.test > facts->train) {
    node.fail(fmt::format("<{}> asks for {} + {} samples", node.element().name, source.train, source.test),
              fmt::format("the files hold {}; train and test together are at most that", facts->train));
  }
  DataFindings data;
  data.spec.source = source;
  data.train = source.train;
  if (facts) {
    data.classes = facts->classes;
    data.shape = facts->shape;
    data.labels_per_sample = facts->labels_per_sample;
    data.sites = std::move(facts->sites);
  }
  return data;
}

/// Absolute path of a data file, or empty with a finding at the attribute that names it.
std::string found_file(const Node& node, const char* attribute, const std::string& name, const std::string& form,
                       const ReadContext& context) {
  DataFile file = find_data_file(context.path, name, form);
  if (file.path.empty()) node.fail_at(attribute, file.what, file.remedy);
  return file.path;
}

std::string data_file(const Node& node, const char* attribute, const std::string& form, const ReadContext& context) {
  const std::optional<std::string> name = node.required_text(attribute, form);
  return name ? found_file(node, attribute, *name, form, context) : std::string();
}

/// Names with commas between them, at most `most`; empty with a finding where there are more or one is empty.
std::vector<std::string> comma_list(const Node& node, const char* attribute, const std::string& text,
                                    const std::string& form, const char* what, std::size_t most) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::vector<std::string> parts = split_words(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (names.size() == most) {
      node.fail_at(attribute, fmt::format("names more than {} {}", most, what), "fewer");
      return {};
    }
    if (parts.empty()) {
      node.fail_at(attribute, "lacks a name between commas", form);
      return {};
    }
    names.push_back(fmt::format("{}", fmt::join(parts, " ")));
  }
  return names;
}

/// Files with commas between them; empty with a finding where one of them is not found.
std::vector<std::string> data_files(const Node& node, const char* attribute, const std::string& form,
                                    const ReadContext& context) {
  const std::optional<std::string> names = node.required_text(attribute, form);
  std::vector<std::string> files;
  if (!names) return files;
  bool complete = true;
  for (const std::string& name : comma_list(node, attribute, *names, form, "files", kMaxFiles)) {
    files.push_back(found_file(node, attribute, name, form, context));
    complete = complete && !files.back().empty();
    // The scenario that is written back names it by its whole path.
    if (files.back().find(',') != std::string::npos) {
      node.fail_at(attribute, fmt::format("is found in '{}', a path with a comma", printable(files.back())),
                   "a folder without one: commas part the files");
      complete = false;
    }
  }
  if (!complete) files.clear();
  return files;
}

DataFindings read_digits(const Node& node, const ReadContext& context) {
  return finish_drawn(node, spec::DigitsSource(), context);
}

DataFindings read_shapes(const Node& node, const ReadContext& context) {
  return finish_drawn(node, spec::ShapesSource(), context);
}

DataFindings read_utterances(const Node& node, const ReadContext& context) {
  spec::UtterancesSource source;
  source.length = node.integer("length", spec::kMinUtteranceLength, spec::kMaxUtteranceLength, source.length);
  return finish_drawn(node, source, context);
}

DataFindings read_grammar(const Node& node, const ReadContext& context) {
  spec::GrammarSource source;
  source.length = node.integer("length", spec::kMinTextLength, spec::kMaxTextLength, source.length);
  return finish_drawn(node, source, context);
}

DataFindings read_tabular(const Node& node, const ReadContext& context) {
  spec::TabularSource source;
  source.features = node.integer("features", 1, spec::kMaxTabularFeatures, source.features);
  source.classes = node.integer("classes", 2, spec::kMaxTabularClasses, source.classes);
  source.noise = node.real("noise", {.minimum = 0, .maximum = 1, .open_maximum = true}, source.noise);
  return finish_drawn(node, source, context);
}

DataFindings read_idx(const Node& node, const ReadContext& context) {
  const std::string form = "the path of an IDX file";
  spec::IdxSource idx;
  idx.images = data_file(node, "images", form, context);
  idx.labels = data_file(node, "labels", form, context);
  bool complete = !idx.images.empty() && !idx.labels.empty();
  const bool own_test = node.has("test-images") || node.has("test-labels");
  if (own_test) {
    idx.test_images = data_file(node, "test-images", form, context);
    idx.test_labels = data_file(node, "test-labels", form, context);
    complete = complete && !idx.test_images.empty() && !idx.test_labels.empty();
  }
  return finish_files(node, idx, own_test, complete, context);
}

DataFindings read_cifar10(const Node& node, const ReadContext& context) {
  const std::string form = "paths of binary files of CIFAR-10 with commas between them";
  spec::Cifar10Source source;
  source.files = data_files(node, "files", form, context);
  bool complete = !source.files.empty();
  const bool own_test = node.has("test-files");
  if (own_test) {
    source.test_files = data_files(node, "test-files", form, context);
    complete = complete && !source.test_files.empty();
  }
  return finish_files(node, source, own_test, complete, context);
}

DataFindings read_ts(const Node& node, const ReadContext& context) {
  const std::string form = "the path of a .ts file";
  spec::TsSource source;
  source.train_file = data_file(node, "train-file", form, context);
  source.test_file = data_file(node, "test-file", form, context);
  return finish_files(node, source, true, !source.train_file.empty() && !source.test_file.empty(), context);
}

constexpr Range kTestShare{.minimum = 0, .maximum = 1, .open_minimum = true, .open_maximum = true};

DataFindings read_csv(const Node& node, const ReadContext& context) {
  const std::string form = "the path of a CSV file";
  spec::CsvSource source;
  bool complete = false;
  if (node.has("files")) {
    source.site_files =
        data_files(node, "files", "paths of CSV files with commas between them, one for each site", context);
    node.refuse("file", "stands beside 'files'", "file for one table, files for a table for each site");
    node.refuse("site", "means nothing beside 'files'", "each file is a site: one of the two");
    complete = !source.site_files.empty() && !node.has("file") && !node.has("site");
  } else {
    source.file = data_file(node, "file", form, context);
    source.site =
        node.has("site")
            ? node.required_text("site", "the name of the column that says of which site a row is").value_or("")
            : "";
    complete = !source.file.empty() && node.has("site") == !source.site.empty();
  }
  source.names = node.boolean("names", true);
  source.target =
      node.required_text("target", "the name of the column that holds the class, its number from 1, or last")
          .value_or("");
  complete = complete && !source.target.empty();
  if (node.has("ignore")) {
    const std::string names = "names of columns with commas between them";
    source.ignore =
        comma_list(node, "ignore", node.required_text("ignore", names).value_or(""), names, "columns", kMaxIgnored);
    complete = complete && !source.ignore.empty();
  }
  const auto refuse_target = [&](const char* attribute) {
    node.fail_at(attribute, fmt::format("names the target '{}'", printable(source.target)), "other columns");
    complete = false;
  };
  if (!source.target.empty() && source.site == source.target) refuse_target("site");
  if (std::ranges::find(source.ignore, source.target) != source.ignore.end()) refuse_target("ignore");
  if (!source.site.empty() && std::ranges::find(source.ignore, source.site) != source.ignore.end()) {
    node.fail_at("ignore", fmt::format("names the column of the sites '{}'", printable(source.site)),
                 "other columns: nothing is learned from it anyway");
    complete = false;
  }
  if (node.has("test-file")) {
    source.test_file = data_file(node, "test-file", form, context);
    complete = complete && !source.test_file.empty();
    node.refuse("test-share", "means nothing beside 'test-file'", "one of the two");
  } else {
    source.test_share = node.real("test-share", kTestShare, source.test_share);
  }
  return finish_files(node, source, true, complete, context);
}

DataFindings read_text(const Node& node, const ReadContext& context) {
  spec::TextSource source;
  source.file = data_file(node, "file", "the path of a text", context);
  source.length = node.integer("length", spec::kMinTextLength, spec::kMaxTextLength, source.length);
  source.test_share = node.real("test-share", kTestShare, source.test_share);
  return finish_files(node, source, true, !source.file.empty(), context);
}

using ReadSource = DataFindings (*)(const Node&, const ReadContext&);
constexpr std::array<std::pair<const char*, ReadSource>, 10> kSources = {{{"digits", read_digits},
                                                                          {"idx", read_idx},
                                                                          {"cifar10", read_cifar10},
                                                                          {"ts", read_ts},
                                                                          {"csv", read_csv},
                                                                          {"text", read_text},
                                                                          {"shapes", read_shapes},
                                                                          {"utterances", read_utterances},
                                                                          {"grammar", read_grammar},
                                                                          {"tabular", read_tabular}}};

/// The first source; every further one is read too, so that what is wrong with it is said as well.
DataFindings read_source(const Node& node, const ReadContext& context) {
  DataFindings data;
  const Element* first = nullptr;
  for (const Element& child : node.element().children) {  // in document order
    const auto* source = std::ranges::find(kSources, child.name, &std::pair<const char*, ReadSource>::first);
    if (source == kSources.end()) continue;
    const Node inside(child, context.findings);
    DataFindings found = source->second(inside, context);
    if (first == nullptr) {
      first = &child;
      data = std::move(found);
      const auto asked = std::visit([](const auto& one) { return one.train + one.test; }, data.spec.source);
      if (data.shape.size() > 0 && asked > spec::kMaxSampleValues / data.shape.size()) {
        inside.fail(fmt::format("<{}> asks for {} samples of {} values", child.name, asked, data.shape.size()),
                    fmt::format("at most {} values together, which are 1 GiB", spec::kMaxSampleValues));
      }
    } else if (child.name != first->name) {
      context.findings.add(child.origin, fmt::format("<{}> and <{}> in <data>", first->name, child.name), "one source");
    }
  }
  if (first == nullptr) {
    std::vector<std::string> names;
    for (const auto& [name, read] : kSources) names.push_back(fmt::format("<{}>", name));
    node.fail("<data> lacks a source", fmt::format("one of {}", fmt::join(names, ", ")));
  }
  return data;
}

spec::ShiftSpec read_shift(const Element& element, const DataFindings& data, const ReadContext& context) {
  const Node node(element, context.findings);
  const spec::ShiftSpec none;
  spec::ShiftSpec shift;
  shift.gain = node.real("gain", {.minimum = 0, .maximum = 3}, none.gain);
  shift.offset = node.real("offset", {.minimum = 0, .maximum = 1e6}, none.offset);
  shift.noise = node.real("noise", {.minimum = 0, .maximum = 1e6}, none.noise);
  if (data.shape.vocabulary > 0 && !shift.none()) {
    node.fail("<shift> of data that are symbols", "data that are numbers, or no <shift>");
  }
  return shift;
}

}  // namespace

DataFindings read_data(const Element& element, std::size_t workers, const ReadContext& context) {
  const Node node(element, context.findings);
  DataFindings data = read_source(node, context);
  const auto count = static_cast<std::int64_t>(workers);
  if (data.train > 0 && data.train < count) {
    node.fail(fmt::format("{} training samples for {} workers", data.train, workers), "at least one for each");
  }
  // Samples that say where they are from are not dealt anew unless that is asked for.
  const auto fallback = data.sites.empty() ? spec::SplitSpec::Kind::iid : spec::SplitSpec::Kind::by_site;
  const Element left_out{.name = "split", .origin = element.origin};
  const Element* split = node.child("split");
  data.spec.split = read_split(split == nullptr ? left_out : *split, workers, data, fallback, context);
  if (const Element* shift = node.child("shift")) data.spec.shift = read_shift(*shift, data, context);
  return data;
}

}  // namespace dadsim::scenario
