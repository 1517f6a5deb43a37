#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "scenario/elements/elements.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read.hpp"
#include "scenario/language/catalog.hpp"
#include "scenario/language/node.hpp"
#include "scenario/xml/files.hpp"
#include "support/split.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxFiles = 100;

/// Returns the absolute path of a data file, or an empty one with a finding at its attribute.
std::string found_file(const Node& node, const char* attribute, const std::string& name, const std::string& form,
                       const ReadContext& context) {
  DataFile file = find_data_file(context.path, name, form);
  if (file.path.empty()) node.fail_at(attribute, file.what, file.remedy);
  return file.path;
}

/// Returns the absolute path of the data file in an attribute, looked up in the data folders. If there is none, returns
/// an empty path and reports a finding. `form` describes a valid value.
std::string data_file(const Node& node, const char* attribute, const std::string& form, const ReadContext& context) {
  const std::optional<std::string> name = node.required_text(attribute, form);
  return name ? found_file(node, attribute, *name, form, context) : std::string();
}
/// Returns the names in a comma-separated list, at most `most`. Returns none, with a finding, if there are more or a
/// name is empty.

std::vector<std::string> comma_list(const Node& node, const char* attribute, const std::string& text,
                                    const std::string& form, const char* what, std::size_t most) {
  std::vector<std::string> names;
  for (const std::string_view name : split_at(text, ',')) {
    const std::vector<std::string> parts = words_of(name);
    if (names.size() == most) {
      node.fail_at(attribute, fmt::format("names more than {} {}", most, what), "fewer");
      return {};
    }
    if (parts.empty()) {
      node.fail_at(attribute, "has an empty name between commas", form);
      return {};
    }
    names.push_back(fmt::format("{}", fmt::join(parts, " ")));
  }
  return names;
}
/// Returns the files in a comma-separated list; empty with a finding if one is not found.

std::vector<std::string> data_files(const Node& node, const char* attribute, const std::string& form,
                                    const ReadContext& context) {
  const std::optional<std::string> names = node.required_text(attribute, form);
  std::vector<std::string> files;
  if (!names) return files;
  bool complete = true;
  for (const std::string& name : comma_list(node, attribute, *names, form, "files", kMaxFiles)) {
    files.push_back(found_file(node, attribute, name, form, context));
    complete = complete && !files.back().empty();
    // The printed scenario has the absolute paths, separated by commas.
    if (files.back().find(',') != std::string::npos) {
      node.fail_at(attribute, fmt::format("names the file '{}', whose path has a comma", printable(files.back())),
                   "move it to a folder without a comma: commas separate the files");
      complete = false;
    }
  }
  if (!complete) files.clear();
  return files;
}

constexpr const char* kIdxFile = "the path of an IDX file";
constexpr const char* kCsvFile = "the path of a CSV file";

constexpr std::size_t kMaxIgnored = 1000;
constexpr const char* kTsFile = "the path of a .ts file";
constexpr const char* kCifarFiles = "paths of CIFAR-10 binary files, separated by commas";
constexpr Range kTestShare{.minimum = 0, .maximum = 1, .open_minimum = true, .open_maximum = true};

/// Returns the row of a file's path, looked up in the data folders.
template <class Source>
Row<Source> file(const char* name, std::string Source::*member, const char* form) {
  return by_code<Source>(
             attribute(name, text(form)),
             [=](const Node& node, const ReadContext& context, Source& source) {
               source.*member = data_file(node, name, form, context);
             },
             [=](const Source& source, const PathText& path) { return path ? path(source.*member) : source.*member; })
      .if_given();
}

/// Returns the row of a comma-separated list of paths of data files.
template <class Source>
Row<Source> files(const char* name, std::vector<std::string> Source::*member, const char* form) {
  return by_code<Source>(
             attribute(name, text(form)),
             [=](const Node& node, const ReadContext& context, Source& source) {
               source.*member = data_files(node, name, form, context);
             },
             [=](const Source& source, const PathText& path) {
               std::string text;
               for (const std::string& one : source.*member)
                 text += (text.empty() ? "" : ", ") + (path ? path(one) : one);
               return text;
             })
      .if_given();
}

constexpr const char* kAll = "all there are";
constexpr const char* kAllOfFiles = "all samples, if held-back files are given; else required";

/// Returns the row of the number of training samples in files, which finish_files() reads.
template <class Source>
Row<Source> train_count(const char* left_out) {
  return attribute("train", &Source::train, integer(1, kMaxSamples))
      .by_reader()
      .without_default()
      .if_left_out(left_out);
}
template <class Source>
Row<Source> test_count(const char* left_out) {
  return attribute("test", &Source::test, integer(1, kMaxSamples)).by_reader().without_default().if_left_out(left_out);
}

/// Returns the row of the number of training samples of a generated set.
template <class Source>
Row<Source> drawn_train_count() {
  return attribute("train", &Source::train, integer(1, spec::kMaxDrawnSamples));
}
template <class Source>
Row<Source> drawn_test_count() {
  return attribute("test", &Source::test, integer(1, spec::kMaxDrawnSamples));
}

template <class Source>
Row<Source> not_beside(const char* other, Row<Source> row, const char* because, const char* remedy) {
  return std::move(row).refused_if([=](const Node& node, const Source&) -> std::optional<Fault> {
    if (!node.has(other)) return std::nullopt;
    return Fault{because, remedy};
  });
}

/// Returns the row of a table's ignored columns.
Row<spec::CsvSource> ignored(const char* name) {
  constexpr const char* kNames = "names of columns, separated by commas";
  return by_code<spec::CsvSource>(
             attribute(name, text(kNames)),
             [name](const Node& node, const ReadContext&, spec::CsvSource& source) {
               source.ignore = comma_list(node, name, node.required_text(name, kNames).value_or(""), kNames, "columns",
                                          kMaxIgnored);
             },
             [](const spec::CsvSource& source, const PathText&) {
               return fmt::format("{}", fmt::join(source.ignore, ", "));
             })
      .if_given();
}

/// Returns the row of the scale of numeric features.
template <class Source>
Row<Source> scale() {
  return attribute("scale", &Source::scale).if_given();
}

// Tables of the sources of <data>.
const Table<spec::DigitsSource>& source_table(const spec::DigitsSource&) {
  using Spec = spec::DigitsSource;
  static const Table<Spec> kTable = Table<Spec>(
      "digits", "Built-in images that resemble handwritten digits, 28 by 28, ten classes; nothing to download.",
      {drawn_train_count<Spec>(), drawn_test_count<Spec>(), scale<Spec>()});
  return kTable;
}

const Table<spec::IdxSource>& source_table(const spec::IdxSource&) {
  using Spec = spec::IdxSource;
  static const Table<Spec> kTable =
      Table<Spec>("idx",
                  "Images and labels in IDX files, plain or gzip, as MNIST is published. Searched next to the scenario "
                  "file, then in the folder named by the environment variable DADSIM_DATA.",
                  {file("images", &Spec::images, kIdxFile).must(), file("labels", &Spec::labels, kIdxFile).must(),
                   file("test-images", &Spec::test_images, kIdxFile)
                       .if_left_out("the held-back samples follow the training samples in the same files"),
                   file("test-labels", &Spec::test_labels, kIdxFile)
                       .if_left_out("the held-back samples follow the training samples in the same files"),
                   train_count<Spec>(kAllOfFiles), test_count<Spec>(kAllOfFiles), scale<Spec>()});
  return kTable;
}

const Table<spec::Cifar10Source>& source_table(const spec::Cifar10Source&) {
  using Spec = spec::Cifar10Source;
  static const Table<Spec> kTable =
      Table<Spec>("cifar10",
                  "Colour images, 32 by 32, in the binary files of CIFAR-10. Searched next to the scenario file, then "
                  "in the folder named by the environment variable DADSIM_DATA; plain or gzip.",
                  {files("files", &Spec::files, kCifarFiles).must(),
                   files("test-files", &Spec::test_files, kCifarFiles)
                       .if_left_out("the held-back samples follow the training samples in the same files"),
                   train_count<Spec>(kAllOfFiles), test_count<Spec>(kAllOfFiles), scale<Spec>()});
  return kTable;
}

const Table<spec::TsSource>& source_table(const spec::TsSource&) {
  using Spec = spec::TsSource;
  static const Table<Spec> kTable = Table<Spec>(
      "ts",
      "Labelled time series in the .ts files of the UEA and UCR archive. Searched next to the scenario file, then in "
      "the folder named by the environment variable DADSIM_DATA; plain or gzip.",
      {file("train-file", &Spec::train_file, kTsFile).must(), file("test-file", &Spec::test_file, kTsFile).must(),
       train_count<Spec>(kAll), test_count<Spec>(kAll), scale<Spec>()});
  return kTable;
}

const Table<spec::CsvSource>& source_table(const spec::CsvSource&) {
  using Spec = spec::CsvSource;
  static const Table<Spec> kTable = Table<Spec>(
      "csv",
      "A table with a header line and commas, semicolons or tabs between fields; a column of words becomes one feature "
      "per word. Searched next to the scenario file, then in the folder named by the environment variable DADSIM_DATA; "
      "plain or gzip.",
      {not_beside("files", file("file", &Spec::file, kCsvFile), "cannot be combined with 'files'",
                  "use 'file' for one table, or 'files' for one table per site"),
       files("files", &Spec::site_files, "paths of CSV files, one per site, separated by commas"),
       attribute("names", &Spec::names).if_given(),
       attribute("target", &Spec::target, text("the name of the column with the class, its number from 1, or last"))
           .must(),
       not_beside("files", attribute("site", &Spec::site, text("the name of the column with each row's site")),
                  "cannot be combined with 'files'", "remove one of the two: each file is a site")
           .if_given(),
       ignored("ignore"),
       not_beside("test-file", attribute("test-share", &Spec::test_share, real(kTestShare)),
                  "cannot be combined with 'test-file'", "remove one of the two")
           .printed_if([](const Spec& csv) { return csv.test_file.empty(); }),
       file("test-file", &Spec::test_file, kCsvFile), train_count<Spec>(kAll), test_count<Spec>(kAll), scale<Spec>()});
  return kTable;
}

const Table<spec::TextSource>& source_table(const spec::TextSource&) {
  using Spec = spec::TextSource;
  static const Table<Spec> kTable = Table<Spec>(
      "text",
      "Plain text in UTF-8; the next character is learned at every position of windows of equal length. Searched next "
      "to the scenario file, then in the folder named by the environment variable DADSIM_DATA; plain or gzip.",
      {file("file", &Spec::file, "the path of a text").must(),
       attribute("length", &Spec::length, integer(spec::kMinTextLength, spec::kMaxTextLength)),
       attribute("test-share", &Spec::test_share, real(kTestShare)), train_count<Spec>(kAll), test_count<Spec>(kAll)});
  return kTable;
}

const Table<spec::ShapesSource>& source_table(const spec::ShapesSource&) {
  using Spec = spec::ShapesSource;
  static const Table<Spec> kTable =
      Table<Spec>("shapes", "Built-in coloured shapes, 32 by 32 by 3, ten classes; nothing to download.",
                  {drawn_train_count<Spec>(), drawn_test_count<Spec>(), scale<Spec>()});
  return kTable;
}

const Table<spec::UtterancesSource>& source_table(const spec::UtterancesSource&) {
  using Spec = spec::UtterancesSource;
  static const Table<Spec> kTable = Table<Spec>(
      "utterances", "Built-in sequences that resemble spoken digits, 13 channels, ten classes; nothing to download.",
      {attribute("length", &Spec::length, integer(spec::kMinUtteranceLength, spec::kMaxUtteranceLength)),
       drawn_train_count<Spec>(), drawn_test_count<Spec>(), scale<Spec>()});
  return kTable;
}

const Table<spec::GrammarSource>& source_table(const spec::GrammarSource&) {
  using Spec = spec::GrammarSource;
  static const Table<Spec> kTable =
      Table<Spec>("grammar",
                  "Built-in arithmetic with nested brackets, in which the next character is learned; 21 characters; "
                  "nothing to download.",
                  {attribute("length", &Spec::length, integer(spec::kMinTextLength, spec::kMaxTextLength)),
                   drawn_train_count<Spec>(), drawn_test_count<Spec>()});
  return kTable;
}

const Table<spec::TabularSource>& source_table(const spec::TabularSource&) {
  using Spec = spec::TabularSource;
  static const Table<Spec> kTable =
      Table<Spec>("tabular", "Built-in table, labelled by a random network; nothing to download.",
                  {attribute("features", &Spec::features, integer(1, spec::kMaxTabularFeatures)),
                   attribute("classes", &Spec::classes, integer(2, spec::kMaxTabularClasses)),
                   attribute("noise", &Spec::noise, real(kDecay)), drawn_train_count<Spec>(), drawn_test_count<Spec>(),
                   scale<Spec>()});
  return kTable;
}

const Table<spec::ShiftSpec>& shift_table() {
  using Spec = spec::ShiftSpec;
  static const Table<Spec> kTable = Table<Spec>(
      "shift",
      "Makes the training features differ between sites, as if each site had its own instrument; held-back samples "
      "stay unchanged.",
      {attribute("gain", &Spec::gain, real(kDeviation)), attribute("offset", &Spec::offset, real(kNonNegative)),
       attribute("noise", &Spec::noise, real(kNonNegative))});
  return kTable;
}

/// Reads a generated set, and determines its shape and sizes.
template <class Source>
DataFindings read_drawn(const Node& node, const ReadContext& context) {
  Source source;
  source_table(source).read(node, context, source);
  if (source.train + source.test > spec::kMaxDrawnSamples) {
    node.fail(fmt::format("<{}> asks for {} samples", node.element().name, source.train + source.test),
              fmt::format("use at most {} for 'train' and 'test' together", spec::kMaxDrawnSamples));
  }
  const Catalog::DataAnswer answer = context.catalog.inspect_data(source);
  return {{source, {}, {}, {}}, source.train, answer.facts.classes, answer.facts.shape, answer.facts.labels_per_sample};
}

/// Reads `train` and `test` of a source in files, and inspects the files if all were found. `own_test`: held-back
/// samples have files of their own, or the source marks them.
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
      if (facts && held < 1)
        node.fail(fmt::format("the files for '{}' hold no samples", attribute), "use files with at least one sample");
      return held;
    }
    const std::optional<std::int64_t> asked = node.integer(attribute);
    if (asked && own_test && facts && *asked > held) {
      node.fail_at(attribute, "is more than the files hold", fmt::format("the files hold {} samples", held));
    }
    return asked.value_or(0);
  };
  source.train = samples("train", facts ? facts->train : 0);
  source.test = samples("test", facts ? facts->test.value_or(0) : 0);
  if (!own_test && facts && source.train + source.test > facts->train) {
    node.fail(fmt::format("<{}> asks for {} + {} samples", node.element().name, source.train, source.test),
              fmt::format("reduce 'train' or 'test': the files hold {} samples", facts->train));
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

DataFindings read_idx(const Node& node, const ReadContext& context) {
  const spec::IdxSource idx = source_table(spec::IdxSource()).read(node, context);
  bool complete = !idx.images.empty() && !idx.labels.empty();
  const bool own_test = node.has("test-images") || node.has("test-labels");
  if (own_test) {
    for (const char* one : {"test-images", "test-labels"}) {
      if (!node.has(one)) node.required_text(one, kIdxFile);
    }
    complete = complete && !idx.test_images.empty() && !idx.test_labels.empty();
  }
  return finish_files(node, idx, own_test, complete, context);
}

DataFindings read_cifar10(const Node& node, const ReadContext& context) {
  const spec::Cifar10Source source = source_table(spec::Cifar10Source()).read(node, context);
  const bool own_test = node.has("test-files");
  return finish_files(node, source, own_test, !source.files.empty() && own_test == !source.test_files.empty(), context);
}

DataFindings read_ts(const Node& node, const ReadContext& context) {
  const spec::TsSource source = source_table(spec::TsSource()).read(node, context);
  return finish_files(node, source, true, !source.train_file.empty() && !source.test_file.empty(), context);
}

DataFindings read_csv(const Node& node, const ReadContext& context) {
  spec::CsvSource source;
  source_table(source).read(node, context, source);
  bool complete = !source.target.empty();
  if (node.has("files")) {
    complete = complete && !source.site_files.empty() && !node.has("file") && !node.has("site");
  } else {
    if (!node.has("file")) data_file(node, "file", kCsvFile, context);
    complete = complete && !source.file.empty() && node.has("site") == !source.site.empty();
  }
  if (node.has("ignore")) complete = complete && !source.ignore.empty();
  if (node.has("test-file")) complete = complete && !source.test_file.empty();
  const auto refuse_target = [&](const char* attribute) {
    node.fail_at(attribute, fmt::format("names the target '{}'", printable(source.target)), "other columns");
    complete = false;
  };
  if (!source.target.empty() && source.site == source.target) refuse_target("site");
  if (std::ranges::find(source.ignore, source.target) != source.ignore.end()) refuse_target("ignore");
  if (!source.site.empty() && std::ranges::find(source.ignore, source.site) != source.ignore.end()) {
    node.fail_at("ignore", fmt::format("contains '{}', the column of sites", printable(source.site)),
                 "remove it: the column of sites is not a feature");
    complete = false;
  }
  return finish_files(node, source, true, complete, context);
}

DataFindings read_text(const Node& node, const ReadContext& context) {
  const spec::TextSource source = source_table(spec::TextSource()).read(node, context);
  return finish_files(node, source, true, !source.file.empty(), context);
}

using ReadSource = DataFindings (*)(const Node&, const ReadContext&);
constexpr std::array<std::pair<const char*, ReadSource>, 10> kSources = {
    {{"digits", read_drawn<spec::DigitsSource>},
     {"idx", read_idx},
     {"cifar10", read_cifar10},
     {"ts", read_ts},
     {"csv", read_csv},
     {"text", read_text},
     {"shapes", read_drawn<spec::ShapesSource>},
     {"utterances", read_drawn<spec::UtterancesSource>},
     {"grammar", read_drawn<spec::GrammarSource>},
     {"tabular", read_drawn<spec::TabularSource>}}};

/// Reads the source of <data>. If there are several, uses the first, and reads the others only to report their errors.
DataFindings read_source(const Node& node, const ReadContext& context) {
  DataFindings data;
  const Element* first = nullptr;
  for (const Element& child : node.element().children) {  // children are in document order
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
                    fmt::format("use at most {} values (samples × values per sample), which are 1 GiB",
                                spec::kMaxSampleValues));
      }
    } else if (child.name != first->name) {
      context.findings.add(child.origin, fmt::format("<{}> and <{}> in <data>", first->name, child.name),
                           "keep one source");
    }
  }
  if (first == nullptr) {
    std::vector<std::string> names;
    for (const auto& [name, read] : kSources) names.push_back(fmt::format("<{}>", name));
    node.fail("<data> lacks a source", fmt::format("one of {}", fmt::join(names, ", ")));
  }
  return data;
}

}  // namespace

DataFindings read_data(const Element& element, std::size_t workers, const ReadContext& context) {
  const Node node(element, context.findings);
  DataFindings data = read_source(node, context);
  const auto count = static_cast<std::int64_t>(workers);
  if (data.train > 0 && data.train < count) {
    node.fail(fmt::format("{} training samples for {} workers", data.train, workers),
              "use at least one for each worker");
  }
  // Samples that name their site belong to this site unless the scenario has a <split>.
  const auto fallback = data.sites.empty() ? spec::SplitSpec::Kind::iid : spec::SplitSpec::Kind::by_site;
  const Element left_out{.name = "split", .origin = element.origin};
  const Element* split = node.child("split");
  data.spec.split = read_split(split == nullptr ? left_out : *split, workers, data, fallback, context);
  if (const Element* shift = node.child("shift")) {
    const Node one(*shift, context.findings);
    shift_table().read(one, context, data.spec.shift);
    if (data.shape.vocabulary > 0 && !data.spec.shift.none())
      one.fail("<shift> needs numeric data, but the data are symbols", "use numeric data, or remove <shift>");
  }
  return data;
}

void write_data(XmlWriter& xml, const spec::DataSpec& data, const PathText& file) {
  const XmlWriter::Open element(xml, "data");
  std::visit([&](const auto& source) { source_table(source).print(xml, source, file); }, data.source);
  split_table().print(xml, data.split, file);
  if (!data.shift.none()) shift_table().print(xml, data.shift, file);
  write_drifts(xml, data.drifts);
}

std::vector<ElementRule> data_rules() {
  std::vector<std::string> children;
  for (const auto& [name, read] : kSources) children.emplace_back(name);
  return {element("data",
                  "Training data and their division among sites; exactly one source, at most one split and one shift, "
                  "any number of drifts.")
              .holds(children)
              .holds({"split", "shift", "drift"}),
          source_table(spec::DigitsSource()).rule(),
          source_table(spec::IdxSource()).rule(),
          source_table(spec::Cifar10Source()).rule(),
          source_table(spec::TsSource()).rule(),
          source_table(spec::CsvSource()).rule(),
          source_table(spec::TextSource()).rule(),
          source_table(spec::ShapesSource()).rule(),
          source_table(spec::UtterancesSource()).rule(),
          source_table(spec::GrammarSource()).rule(),
          source_table(spec::TabularSource()).rule(),
          shift_table().rule()};
}

}  // namespace dadsim::scenario
