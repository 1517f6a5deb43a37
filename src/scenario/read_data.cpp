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

constexpr std::int64_t kMaxSamples = 1'000'000'000;
constexpr std::size_t kMaxFiles = 100;

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

/// Files with commas between them; empty with a finding where one of them is not found.
std::vector<std::string> data_files(const Node& node, const char* attribute, const std::string& form,
                                    const ReadContext& context) {
  const std::optional<std::string> names = node.required_text(attribute, form);
  std::vector<std::string> files;
  if (!names) return files;
  bool complete = true;
  for (std::size_t begin = 0; begin <= names->size();) {
    const std::size_t end = std::min(names->find(',', begin), names->size());
    const std::vector<std::string> parts = split_words(std::string_view(*names).substr(begin, end - begin));
    begin = end + 1;
    if (files.size() == kMaxFiles) {
      node.fail_at(attribute, fmt::format("names more than {} files", kMaxFiles), "fewer");
      return {};
    }
    if (parts.empty()) {
      node.fail_at(attribute, "lacks a name between commas", form);
      return {};
    }
    const std::string name = fmt::format("{}", fmt::join(parts, " "));
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
  source.file = data_file(node, "file", form, context);
  source.target = node.required_text("target", "the name of the column that holds the class").value_or("");
  bool complete = !source.file.empty() && !source.target.empty();
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

spec::SplitSpec read_split(const Element& element, std::size_t workers, const DataFindings& data,
                           const ReadContext& context) {
  static const std::array<std::string, 5> kKinds = {"iid", "class", "dirichlet", "shards", "sizes"};
  const Node node(element, context.findings);
  spec::SplitSpec split;
  split.kind = static_cast<spec::SplitSpec::Kind>(node.choice("by", kKinds, 0));
  const Attribute* by = element.find("by");
  const bool kind_known = by == nullptr || std::ranges::find(kKinds, by->value) != kKinds.end();
  if (!kind_known) return split;

  const std::string because = fmt::format("means nothing with by=\"{}\"", kKinds[static_cast<std::size_t>(split.kind)]);
  const auto count = static_cast<std::int64_t>(workers);
  const std::int64_t train = data.train;
  if (data.labels_per_sample > 1 && split.kind != spec::SplitSpec::Kind::iid &&
      split.kind != spec::SplitSpec::Kind::sizes) {
    node.fail_at("by", fmt::format("needs samples of one class; these have {} labels each", data.labels_per_sample),
                 "by=\"iid\" or by=\"sizes\"");
  } else if (split.kind == spec::SplitSpec::Kind::by_class && data.classes > 0 && count > data.classes) {
    node.fail(fmt::format("{} classes cannot be dealt to {} workers", data.classes, workers),
              "a class goes to one worker: at most as many workers as classes, or another split");
  }
  if (split.kind == spec::SplitSpec::Kind::dirichlet) {
    split.alpha = node.real("alpha", {.minimum = 1e-3, .maximum = 1e6}, split.alpha);
  } else {
    node.refuse("alpha", because, "only by=\"dirichlet\" has it");
  }
  if (split.kind == spec::SplitSpec::Kind::shards) {
    split.shards = node.integer("shards", 1, 10000, split.shards);
    if (workers > 0 && train > 0 && split.shards * count > train) {
      node.fail(fmt::format("{} shards for each of {} workers are more than {} training samples", split.shards, workers,
                            train),
                "fewer shards");
    }
  } else {
    node.refuse("shards", because, "only by=\"shards\" has it");
  }
  if (split.kind == spec::SplitSpec::Kind::iid || split.kind == spec::SplitSpec::Kind::dirichlet) {
    split.size_spread = node.real("size-spread", {.minimum = 0, .maximum = 5}, split.size_spread);
    if (split.size_spread > 0) node.refuse("size-exponent", "stands beside size-spread", "one of the two");
    split.size_exponent = node.real("size-exponent", {.minimum = 0, .maximum = 5}, split.size_exponent);
  } else {
    for (const char* attribute : {"size-spread", "size-exponent"}) {
      node.refuse(attribute, because, "only by=\"iid\" and by=\"dirichlet\" have it");
    }
  }
  if (split.kind != spec::SplitSpec::Kind::sizes) {
    node.refuse("sizes", because, "only by=\"sizes\" has it");
    return split;
  }
  split.sizes = node.integers("sizes", 1, kMaxSamples);
  if (split.sizes.empty() || workers == 0) return split;
  if (split.sizes.size() != workers) {
    node.fail_at("sizes", fmt::format("holds {} numbers", split.sizes.size()),
                 fmt::format("one for each of the {} workers", workers));
    return split;
  }
  std::int64_t sum = 0;  // at most 1e5 workers × 1e9 samples
  for (const std::int64_t size : split.sizes) sum += size;
  if (train > 0 && sum > train)
    node.fail_at("sizes", fmt::format("adds up to {}", sum), fmt::format("at most the {} training samples", train));
  return split;
}

}  // namespace

DataFindings read_data(const Element& element, std::size_t workers, const ReadContext& context) {
  const Node node(element, context.findings);
  DataFindings data = read_source(node, context);
  const auto count = static_cast<std::int64_t>(workers);
  if (data.train > 0 && data.train < count) {
    node.fail(fmt::format("{} training samples for {} workers", data.train, workers), "at least one for each");
  }
  if (const Element* split = node.child("split")) data.spec.split = read_split(*split, workers, data, context);
  if (const Element* shift = node.child("shift")) data.spec.shift = read_shift(*shift, data, context);
  return data;
}

}  // namespace dadsim::scenario
