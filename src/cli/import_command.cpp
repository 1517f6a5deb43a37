#include "cli/import_command.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "cli/arguments.hpp"
#include "cli/output_files.hpp"
#include "cli/print.hpp"
#include "cli/usage_error.hpp"
#include "cli/usage_words.hpp"
#include "spec/precision.hpp"
#include "study/imported/import_model.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
#include "support/parse_whole.hpp"
#include "support/terminal.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

namespace po = boost::program_options;

constexpr std::int64_t kMostTokens = 10'000'000;
constexpr std::int64_t kMostBatch = 1'000'000;

po::options_description import_options() {
  po::options_description options("Options");
  const auto text = [](const char* name) { return po::value<std::string>()->value_name(name); };
  options.add_options()                                                                                          //
      ("sequence", text("N"), "tokens of a sample; what is usual for the model if left out")                     //
      ("batch", text("N"), "samples of a worker in a step; 1 if left out")                                       //
      ("precision", text("NAME"), "fp32, tf32, fp16, bf16 …; bf16 if left out")                                  //
      ("scenario", "write a whole scenario with it, on a node of eight H100, to be changed")                     //
      ("layers", text("FILE"), "write its layers, as <timed-as file=\"FILE\"/> takes them (docs/workloads.md)")  //
      ("out", text("FILE"), "write the element, or the scenario, there; else to standard output")                //
      ("quiet", "say nothing of what was found")                                                                 //
      ("help", "this text");
  return options;
}

std::int64_t count_of(const po::variables_map& values, const char* option, std::int64_t otherwise, std::int64_t most) {
  const std::string text = text_of(values, option);
  if (text.empty()) return otherwise;
  const auto count = parse_whole<std::int64_t>(text, 1, most);
  if (!count) throw UsageError(fmt::format("--{} '{}' is no number; a whole one from 1 to {}", option, text, most));
  return *count;
}

std::string precision_of(const po::variables_map& values) {
  std::string text = text_of(values, "precision");
  if (text.empty()) return "bf16";
  if (!spec::parse<spec::Precision>(text))
    throw UsageError(fmt::format("--precision: no precision is called '{}'; bf16, fp16 or fp32", text));
  return text;
}

std::string content_of(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) throw InputError({path, 0, "is a folder", "a config.json"});
  if (std::optional<std::string> text = whole_file(path)) return std::move(*text);
  throw InputError({path, 0, fmt::format("cannot be read: {}", std::strerror(errno)), "a config.json"});
}

const char* words_of(report::ModelRemark remark) {
  switch (remark) {
    case report::ModelRemark::irregular_windows:
      return "blocks with a window do not repeat regularly there; here all see all";
    case report::ModelRemark::projection_bias:
      return "the projection behind attention has biases there, and none here";
    case report::ModelRemark::dropout:
      return "without dropout, which 'resid_pdrop' asks for";
    case report::ModelRemark::both_heads:
      return "timed in pre-training, with both heads";
    case report::ModelRemark::pooler_alone:
      return "timed without a head: with the pooler alone";
    case report::ModelRemark::thousand_classes:
      return "it says no labels; a classifier of 1,000 classes";
    case report::ModelRemark::language_part:
      return "the language part alone, without towers for pictures or sound";
  }
  return "";
}

std::string in_words(const study::ImportedModel& model) {
  std::string text = fmt::format("{}: {} parameters, {}.\n", model.type, model.shape.parameters(),
                                 model.workload.empty() ? "which no workload has; its layers are a file of their own"
                                                        : fmt::format("the layers of workload '{}'", model.workload));
  for (const report::ModelRemark remark : model.remarks) text += fmt::format("Note: {}.\n", words_of(remark));
  return text;
}

}  // namespace

std::string usage_of_import() {
  return "dadsim import [options] config.json\n"
         "turns the config.json of a model of Hugging Face into what a scenario times: <timed-as workload=\"…\"/>\n"
         "with its sizes (docs/workloads.md), and says how many parameters it has.\n\n" +
         words_of_options(import_options());
}

void run_import_command(const std::vector<std::string>& arguments) {
  const po::variables_map values = read_arguments(arguments, import_options());
  if (values.contains("help")) return print(usage_of_import());
  const std::vector<std::string> operands = operands_of(values);
  if (operands.empty()) throw UsageError("no file is named; see dadsim import --help");
  if (operands.size() > 1) throw UsageError(fmt::format("'{}' is one argument too many; one file", operands[1]));
  const std::string out = text_of(values, "out");
  const std::string layers = text_of(values, "layers");
  const OutputFiles outputs({{"--out", out}, {"--layers", layers}}, {{"the file", operands[0]}});
  const std::int64_t sequence = count_of(values, "sequence", 0, kMostTokens);
  const std::int64_t batch = count_of(values, "batch", 1, kMostBatch);
  const std::string precision = precision_of(values);

  study::ImportedModel model = study::import_model(operands[0], content_of(operands[0]), sequence);
  if (!layers.empty()) {
    if (layers == "-") throw UsageError("--layers - : the element names the file, which needs a name of its own");
    model.workload.clear();
    model.sizes.clear();
  } else if (model.workload.empty()) {
    throw UsageError("no workload has these layers; --layers FILE writes them into a file, which the element names");
  }
  outputs.check_writable();
  if (!layers.empty()) write_file_atomically(layers, study::file_of_layers(operands[0], model.shape));
  const std::string element = study::timed_as_element(model, layers, batch, precision);
  const std::string text = values.contains("scenario") ? study::scenario_of(model.type, element) : element;
  const bool to_file = !out.empty() && !outputs.take_standard_output();
  write_file_atomically(to_file ? out : "-", text);
  if (values.contains("quiet")) return;
  // The element alone goes to standard output where it is to be taken from there.
  if (to_file) return print(in_words(model));
  say(in_words(model));
}

}  // namespace dadsim::cli
