#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <variant>

#include "scenario/elements/data_files.hpp"
#include "scenario/elements/data_sources.hpp"
#include "scenario/elements/print_parts.hpp"
#include "scenario/elements/read.hpp"

namespace dadsim::scenario {
namespace {

const Table<spec::ShiftSpec>& shift_table() {
  using Spec = spec::ShiftSpec;
  static const Table<Spec> kTable = Table<Spec>(
      "shift",
      "Makes the training features of the sites differ as if each had an instrument of its own; held-back samples stay "
      "as they are.",
      {attribute("gain", &Spec::gain, real(kDeviation),
                 "Standard deviation of the logarithm of a site's factor, one per channel."),
       attribute("offset", &Spec::offset, real(kNonNegative),
                 "Standard deviation of what a site adds, one number per channel."),
       attribute("noise", &Spec::noise, real(kNonNegative), "Standard deviation of noise added to each value.")});
  return kTable;
}

/// Asks for the shape and the sizes of a drawn set.
template <class Source>
DataFindings read_drawn(const Node& node, const ReadContext& context) {
  Source source;
  source_table(source).read(node, context, source);
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
    const std::optional<std::int64_t> asked = node.integer(attribute);
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
    node.fail_at("ignore", fmt::format("names the column of the sites '{}'", printable(source.site)),
                 "other columns: nothing is learned from it anyway");
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

/// The first source; further ones are read too, so that their faults are reported as well.
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

}  // namespace

DataFindings read_data(const Element& element, std::size_t workers, const ReadContext& context) {
  const Node node(element, context.findings);
  DataFindings data = read_source(node, context);
  const auto count = static_cast<std::int64_t>(workers);
  if (data.train > 0 && data.train < count) {
    node.fail(fmt::format("{} training samples for {} workers", data.train, workers), "at least one for each");
  }
  // Samples that name their site stay there unless a split is asked for.
  const auto fallback = data.sites.empty() ? spec::SplitSpec::Kind::iid : spec::SplitSpec::Kind::by_site;
  const Element left_out{.name = "split", .origin = element.origin};
  const Element* split = node.child("split");
  data.spec.split = read_split(split == nullptr ? left_out : *split, workers, data, fallback, context);
  if (const Element* shift = node.child("shift")) {
    const Node one(*shift, context.findings);
    shift_table().read(one, context, data.spec.shift);
    if (data.shape.vocabulary > 0 && !data.spec.shift.none())
      one.fail("<shift> of data that are symbols", "data that are numbers, or no <shift>");
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
                  "What is learned from, and how the sites share it; exactly one source, at most one split and one "
                  "shift, any number of drifts.")
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
