#include "scenario/elements/data_sources.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "scenario/elements/data_files.hpp"
#include "scenario/elements/read.hpp"

namespace dadsim::scenario {
namespace {

constexpr std::size_t kMaxIgnored = 1000;
constexpr const char* kTsFile = "the path of a .ts file";
constexpr const char* kCifarFiles = "paths of binary files of CIFAR-10 with commas between them";
constexpr Range kTestShare{.minimum = 0, .maximum = 1, .open_minimum = true, .open_maximum = true};

/// The path of a file that is looked up where data lie.
template <class Source>
Row<Source> file(const char* name, std::string Source::*member, const char* form, const char* words) {
  return by_code<Source>(
             attribute(name, text(form), words),
             [=](const Node& node, const ReadContext& context, Source& source) {
               source.*member = data_file(node, name, form, context);
             },
             [=](const Source& source, const PathText& path) { return path ? path(source.*member) : source.*member; })
      .if_given();
}

/// Paths of such files with commas between them.
template <class Source>
Row<Source> files(const char* name, std::vector<std::string> Source::*member, const char* form, const char* words) {
  return by_code<Source>(
             attribute(name, text(form), words),
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
constexpr const char* kAllOfFiles = "all there are, with held-back files of their own; else required";

/// Samples of a set in files, which finish_files() reads.
template <class Source>
Row<Source> train_count(const char* left_out) {
  return attribute("train", &Source::train, integer(1, kMaxSamples), "Training samples.")
      .by_reader()
      .without_default()
      .if_left_out(left_out);
}
template <class Source>
Row<Source> test_count(const char* left_out) {
  return attribute("test", &Source::test, integer(1, kMaxSamples), "Held-back samples.")
      .by_reader()
      .without_default()
      .if_left_out(left_out);
}

/// Samples of a set that is drawn.
template <class Source>
Row<Source> drawn_train_count(const char* words = "Training samples; with test at most 200000.") {
  return attribute("train", &Source::train, integer(1, spec::kMaxDrawnSamples), words);
}
template <class Source>
Row<Source> drawn_test_count() {
  return attribute("test", &Source::test, integer(1, spec::kMaxDrawnSamples), "Samples held back to measure accuracy.");
}

template <class Source>
Row<Source> not_beside(const char* other, Row<Source> row, const char* because, const char* remedy) {
  return std::move(row).refused_if([=](const Node& node, const Source&) -> std::optional<Fault> {
    if (!node.has(other)) return std::nullopt;
    return Fault{because, remedy};
  });
}

/// Columns of a table.
Row<spec::CsvSource> ignored(const char* name, const char* words) {
  constexpr const char* kNames = "names of columns with commas between them";
  return by_code<spec::CsvSource>(
             attribute(name, text(kNames), words),
             [name](const Node& node, const ReadContext&, spec::CsvSource& source) {
               source.ignore = comma_list(node, name, node.required_text(name, kNames).value_or(""), kNames, "columns",
                                          kMaxIgnored);
             },
             [](const spec::CsvSource& source, const PathText&) {
               return fmt::format("{}", fmt::join(source.ignore, ", "));
             })
      .if_given();
}

/// Of features that are numbers.
template <class Source>
Row<Source> scale(const char* words) {
  return attribute("scale", &Source::scale, words).if_given();
}

constexpr const char* kPixelScale =
    "`none`: pixels from 0 to 255; `unit`: divided by 255; `standard`: less the mean of their colour over the training "
    "samples, divided by its deviation.";
constexpr const char* kColumnScale =
    "`none`: numbers as they stand in the file; `unit`: from 0 to 1 by the least and the largest among the training "
    "samples; `standard`: less their mean there, divided by their deviation.";
constexpr const char* kDrawnScale =
    "`none`: as they are drawn; `unit`: from 0 to 1 by the least and the largest among the training samples; "
    "`standard`: less their mean there, divided by their deviation.";

}  // namespace

const Table<spec::DigitsSource>& source_table(const spec::DigitsSource&) {
  using Spec = spec::DigitsSource;
  static const Table<Spec> kTable =
      Table<Spec>("digits", "Built-in handwritten-like digits, 28 by 28, ten classes; nothing to download.",
                  {drawn_train_count<Spec>("Training samples."), drawn_test_count<Spec>(), scale<Spec>(kPixelScale)});
  return kTable;
}

const Table<spec::IdxSource>& source_table(const spec::IdxSource&) {
  using Spec = spec::IdxSource;
  static const Table<Spec> kTable = Table<Spec>(
      "idx",
      "Images and labels in IDX files, plain or gzip, as MNIST is published. Looked up beside the scenario file, then "
      "in the folder named by the environment variable DADSIM_DATA.",
      {file("images", &Spec::images, kIdxFile, "Training images.").must(),
       file("labels", &Spec::labels, kIdxFile, "Training labels.").must(),
       file("test-images", &Spec::test_images, kIdxFile,
            "Held-back images. Without them the held-back samples follow the training samples in the same files.")
           .if_left_out("the held-back samples follow the training samples in the same files"),
       file("test-labels", &Spec::test_labels, kIdxFile, "Held-back labels; with test-images only.")
           .if_left_out("the held-back samples follow the training samples in the same files"),
       train_count<Spec>(kAllOfFiles), test_count<Spec>(kAllOfFiles), scale<Spec>(kPixelScale)});
  return kTable;
}

const Table<spec::Cifar10Source>& source_table(const spec::Cifar10Source&) {
  using Spec = spec::Cifar10Source;
  static const Table<Spec> kTable = Table<Spec>(
      "cifar10",
      "Colour images, 32 by 32, in the binary files of CIFAR-10. Looked up beside the scenario file, then in the "
      "folder named by the environment variable DADSIM_DATA; plain or gzip.",
      {files("files", &Spec::files, kCifarFiles,
             "Training files with commas between them, e.g. data_batch_1.bin, data_batch_2.bin.")
           .must(),
       files("test-files", &Spec::test_files, kCifarFiles,
             "Held-back files. Without them the held-back samples follow the training samples in the same files.")
           .if_left_out("the held-back samples follow the training samples in the same files"),
       train_count<Spec>(kAllOfFiles), test_count<Spec>(kAllOfFiles), scale<Spec>(kPixelScale)});
  return kTable;
}

const Table<spec::TsSource>& source_table(const spec::TsSource&) {
  using Spec = spec::TsSource;
  static const Table<Spec> kTable =
      Table<Spec>("ts",
                  "Labelled time series in the .ts files of the UEA and UCR archive. Looked up beside the scenario "
                  "file, then in the folder named by the environment variable DADSIM_DATA; plain or gzip.",
                  {file("train-file", &Spec::train_file, kTsFile, "Training series.").must(),
                   file("test-file", &Spec::test_file, kTsFile, "Held-back series.").must(), train_count<Spec>(kAll),
                   test_count<Spec>(kAll), scale<Spec>(kColumnScale)});
  return kTable;
}

const Table<spec::CsvSource>& source_table(const spec::CsvSource&) {
  using Spec = spec::CsvSource;
  static const Table<Spec> kTable = Table<Spec>(
      "csv",
      "A table with a line of names and commas, semicolons or tabs between fields; columns of words become one feature "
      "per word. Looked up beside the scenario file, then in the folder named by the environment variable DADSIM_DATA; "
      "plain or gzip.",
      {not_beside("files", file("file", &Spec::file, kCsvFile, "The table. Required unless files are named."),
                  "stands beside 'files'", "file for one table, files for a table for each site"),
       files(
           "files", &Spec::site_files, "paths of CSV files with commas between them, one for each site",
           "Instead of file: a table for each site, with commas between them; the first is that of the first worker."),
       attribute(
           "names", &Spec::names,
           "Whether the first line names the columns; false: it is a sample, and columns are called 1, 2, 3 and so on.")
           .if_given(),
       attribute("target", &Spec::target,
                 text("the name of the column that holds the class, its number from 1, or last"),
                 "Name of the column that holds the class; where none has that name its number from 1, or last.")
           .must(),
       not_beside("files",
                  attribute("site", &Spec::site, text("the name of the column that says of which site a row is"),
                            "Name of the column that says of which site a row is; nothing is learned from it. Sites "
                            "are numbered by value where all are numbers, else by letter. Not with files."),
                  "means nothing beside 'files'", "each file is a site: one of the two")
           .if_given(),
       ignored("ignore",
               "Names of columns that nothing is learned from, with commas between them, e.g. id, date of visit."),
       not_beside(
           "test-file",
           attribute(
               "test-share", &Spec::test_share, real(kTestShare),
               "Share of the rows, drawn from the seed, that is held back; above 0, below 1. Not with test-file."),
           "means nothing beside 'test-file'", "one of the two")
           .printed_if([](const Spec& csv) { return csv.test_file.empty(); }),
       file("test-file", &Spec::test_file, kCsvFile,
            "Held-back rows, with the same names; the columns of the site and those that are ignored may be missing."),
       train_count<Spec>(kAll), test_count<Spec>(kAll), scale<Spec>(kColumnScale)});
  return kTable;
}

const Table<spec::TextSource>& source_table(const spec::TextSource&) {
  using Spec = spec::TextSource;
  static const Table<Spec> kTable =
      Table<Spec>("text",
                  "Plain text in UTF-8, of which the next character is learned, at every position of windows of the "
                  "same length. Looked up beside the scenario file, then in the folder named by the environment "
                  "variable DADSIM_DATA; plain or gzip.",
                  {file("file", &Spec::file, "the path of a text", "The text.").must(),
                   attribute("length", &Spec::length, integer(spec::kMinTextLength, spec::kMaxTextLength),
                             "Characters of a sample, 2 to 4096."),
                   attribute("test-share", &Spec::test_share, real(kTestShare),
                             "Share of the characters, at the end of the text, that is held back; above 0, below 1."),
                   train_count<Spec>(kAll), test_count<Spec>(kAll)});
  return kTable;
}

const Table<spec::ShapesSource>& source_table(const spec::ShapesSource&) {
  using Spec = spec::ShapesSource;
  static const Table<Spec> kTable =
      Table<Spec>("shapes", "Built-in coloured shapes, 32 by 32 by 3, ten classes; nothing to download.",
                  {drawn_train_count<Spec>(), drawn_test_count<Spec>(), scale<Spec>(kPixelScale)});
  return kTable;
}

const Table<spec::UtterancesSource>& source_table(const spec::UtterancesSource&) {
  using Spec = spec::UtterancesSource;
  static const Table<Spec> kTable = Table<Spec>(
      "utterances", "Built-in sequences in the manner of spoken digits, 13 channels, ten classes; nothing to download.",
      {attribute("length", &Spec::length, integer(spec::kMinUtteranceLength, spec::kMaxUtteranceLength),
                 "Frames to which all are padded, 8 to 2000."),
       drawn_train_count<Spec>(), drawn_test_count<Spec>(), scale<Spec>(kDrawnScale)});
  return kTable;
}

const Table<spec::GrammarSource>& source_table(const spec::GrammarSource&) {
  using Spec = spec::GrammarSource;
  static const Table<Spec> kTable = Table<Spec>(
      "grammar",
      "Built-in arithmetic with nested brackets, of which the next character is learned; 21 characters; nothing to "
      "download.",
      {attribute("length", &Spec::length, integer(spec::kMinTextLength, spec::kMaxTextLength),
                 "Characters of a sample, 2 to 4096."),
       drawn_train_count<Spec>(), drawn_test_count<Spec>()});
  return kTable;
}

const Table<spec::TabularSource>& source_table(const spec::TabularSource&) {
  using Spec = spec::TabularSource;
  static const Table<Spec> kTable =
      Table<Spec>("tabular", "Built-in table that a random network labels; nothing to download.",
                  {attribute("features", &Spec::features, integer(1, spec::kMaxTabularFeatures), "1 to 10000."),
                   attribute("classes", &Spec::classes, integer(2, spec::kMaxTabularClasses), "2 to 1000."),
                   attribute("noise", &Spec::noise, real(kDecay),
                             "Share of the labels that are replaced by a class at random, from 0 to below 1."),
                   drawn_train_count<Spec>(), drawn_test_count<Spec>(), scale<Spec>(kDrawnScale)});
  return kTable;
}

}  // namespace dadsim::scenario
