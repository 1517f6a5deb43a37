#include <fmt/format.h>
#include <fmt/ranges.h>

#include <variant>

#include "scenario/print_parts.hpp"

namespace dadsim::scenario {
namespace {

using Open = XmlWriter::Open;

void write_split(XmlWriter& xml, const spec::SplitSpec& split) {
  Open element(xml, "split");
  switch (split.kind) {
    case spec::SplitSpec::Kind::iid:
      element.set("by", "iid");
      break;
    case spec::SplitSpec::Kind::by_class:
      element.set("by", "class");
      break;
    case spec::SplitSpec::Kind::dirichlet:
      element.set("by", "dirichlet").set("alpha", split.alpha);
      break;
    case spec::SplitSpec::Kind::shards:
      element.set("by", "shards").set("shards", split.shards);
      break;
    case spec::SplitSpec::Kind::sizes:
      element.set("by", "sizes").set("sizes", fmt::format("{}", fmt::join(split.sizes, " ")));
      break;
    case spec::SplitSpec::Kind::by_site:
      element.set("by", "site");
      break;
  }
  if (split.size_spread > 0) element.set("size-spread", split.size_spread);
  if (split.size_exponent > 0) element.set("size-exponent", split.size_exponent);
}

/// Writes one source; a file by what `file` makes of its path.
struct SourceWriter {
  XmlWriter& xml;
  const PathText& file;

  template <class Source>
  static void counts(Open& element, const Source& source) {
    element.set("train", source.train).set("test", source.test);
  }
  std::string list(const std::vector<std::string>& paths) const {
    std::string text;
    for (const std::string& path : paths) text += (text.empty() ? "" : ", ") + file(path);
    return text;
  }

  void operator()(const spec::DigitsSource& source) const {
    Open element(xml, "digits");
    counts(element, source);
  }
  void operator()(const spec::IdxSource& source) const {
    Open element(xml, "idx");
    element.set("images", file(source.images)).set("labels", file(source.labels));
    if (!source.test_images.empty())
      element.set("test-images", file(source.test_images)).set("test-labels", file(source.test_labels));
    counts(element, source);
  }
  void operator()(const spec::Cifar10Source& source) const {
    Open element(xml, "cifar10");
    element.set("files", list(source.files));
    if (!source.test_files.empty()) element.set("test-files", list(source.test_files));
    counts(element, source);
  }
  void operator()(const spec::TsSource& source) const {
    Open element(xml, "ts");
    element.set("train-file", file(source.train_file)).set("test-file", file(source.test_file));
    counts(element, source);
  }
  void operator()(const spec::CsvSource& source) const {
    Open element(xml, "csv");
    if (source.site_files.empty()) {
      element.set("file", file(source.file));
    } else {
      element.set("files", list(source.site_files));
    }
    if (!source.names) element.set("names", false);
    element.set("target", source.target);
    if (!source.site.empty()) element.set("site", source.site);
    if (!source.ignore.empty()) element.set("ignore", fmt::format("{}", fmt::join(source.ignore, ", ")));
    if (source.test_file.empty()) {
      element.set("test-share", source.test_share);
    } else {
      element.set("test-file", file(source.test_file));
    }
    counts(element, source);
  }
  void operator()(const spec::TextSource& source) const {
    Open element(xml, "text");
    element.set("file", file(source.file)).set("length", source.length).set("test-share", source.test_share);
    counts(element, source);
  }
  void operator()(const spec::ShapesSource& source) const {
    Open element(xml, "shapes");
    counts(element, source);
  }
  void operator()(const spec::UtterancesSource& source) const {
    Open element(xml, "utterances");
    element.set("length", source.length);
    counts(element, source);
  }
  void operator()(const spec::GrammarSource& source) const {
    Open element(xml, "grammar");
    element.set("length", source.length);
    counts(element, source);
  }
  void operator()(const spec::TabularSource& source) const {
    Open element(xml, "tabular");
    element.set("features", source.features).set("classes", source.classes).set("noise", source.noise);
    counts(element, source);
  }
};

}  // namespace

void write_data(XmlWriter& xml, const spec::DataSpec& data, const PathText& file) {
  const Open element(xml, "data");
  std::visit(SourceWriter{xml, file}, data.source);
  write_split(xml, data.split);
  const spec::ShiftSpec& shift = data.shift;
  if (!shift.none()) Open(xml, "shift").set("gain", shift.gain).set("offset", shift.offset).set("noise", shift.noise);
  write_drifts(xml, data.drifts);
}

}  // namespace dadsim::scenario
