#include <fmt/format.h>

#include <optional>
#include <string>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/import_files.hpp"
#include "cli/output_files.hpp"
#include "cli/usage_error.hpp"
#include "formats/launch.hpp"
#include "spec/precision.hpp"
#include "study/import/import_model.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

constexpr std::int64_t kMostTokens = 10'000'000;
constexpr std::int64_t kMostBatch = 1'000'000;

constexpr const char* kFiles =
    "a config.json, an adapter_config.json, a params.json, a Chakra trace (NAME.0.et), logs of a federation or launch "
    "arguments";

/// Returns true if the content begins like JSON.
bool is_config(const std::string& content) {
  const std::size_t first = content.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first == std::string::npos || content[first] == '{';
}

const char* words_of(formats::ModelRemark remark) {
  switch (remark) {
    case formats::ModelRemark::irregular_windows:
      return "the model has attention windows in irregular blocks; every block is timed with all positions";
    case formats::ModelRemark::projection_bias:
      return "the biases of the projection after attention are not timed";
    case formats::ModelRemark::dropout:
      return "the dropout of 'resid_pdrop' is not timed";
    case formats::ModelRemark::both_heads:
      return "the network is timed in pre-training, with both heads";
    case formats::ModelRemark::pooler_alone:
      return "the network is timed with the pooler and without a head";
    case formats::ModelRemark::thousand_classes:
      return "the config names no labels; the classifier is timed with 1,000 classes";
    case formats::ModelRemark::language_part:
      return "only the language part is timed, without encoders of images or sound";
    case formats::ModelRemark::feed_forward_bias:
      return "the biases of feed-forward layers and of the decoder are not timed";
    case formats::ModelRemark::decoder_bias:
      return "the bias of the decoder is not timed";
    case formats::ModelRemark::no_room:
      return "the network needs more memory than 1,024 nodes of eight H100 have, the largest system tried; reduce "
             "--batch or --sequence, or use other devices";
  }
  return "";
}

std::string in_words(const study::ImportedModel& model) {
  std::string text =
      fmt::format("{}: {} parameters, {}.\n", model.type, model.shape.parameters(),
                  model.workload.empty() ? "with its layers in a separate file"
                                         : fmt::format("with the layers of workload '{}'", model.workload));
  if (!model.workload.empty())
    text += "Attention is fused (attention=\"flash\"), as usual; attention=\"plain\" writes and keeps its scores.\n";
  if (model.adapter) text += fmt::format("Adapters of rank {}; other weights are frozen.\n", model.adapter->rank);
  if (!model.quantised.empty())
    text += fmt::format("Note: the stored weights are quantised ({}); they are timed with the width of --precision.\n",
                        model.quantised);
  for (const formats::ModelRemark remark : model.remarks) text += fmt::format("Note: {}.\n", words_of(remark));
  return text;
}

std::optional<formats::AdapterConfig> adapter_in(const std::string& file, const std::string& content) {
  try {
    return formats::adapter_config_of(content);
  } catch (const std::runtime_error& fault) {
    throw InputError(Diagnostic{file, 0, fault.what(), "use a LoRA, or write <timed-as adapters=\"…\"/> by hand"});
  }
}

struct ReadFile {
  std::string path, content;
};

/// A config is smaller than a log.
ReadFile read_file(const std::string& path) {
  constexpr std::size_t kMostOfConfig = std::size_t{16} << 20U;
  ReadFile file{path, read_input(path, kFiles, kMostOfLog)};
  if (is_config(file.content) && file.content.size() > kMostOfConfig)
    throw InputError({path, 0, "has more than 16 MiB", "the config.json of a model"});
  return file;
}

/// `base`: the config.json for an adapter_config.json; empty: there is only one file.
void import_config(const po::variables_map& values, const ReadFile& file, const std::optional<ReadFile>& base) {
  refuse_other_options(values, {"sequence", "batch", "precision", "scenario", "layers"}, "a config.json");
  const std::string layers = text_of(values, "layers");
  const OutputFiles outputs({{"--out", text_of(values, "out")}, {"--layers", layers}},
                            {{"the file", file.path}, {"the base", base ? base->path : std::string()}});
  const std::int64_t sequence =
      value_of<std::int64_t>(values, "sequence", scenario::integer(1, kMostTokens)).value_or(0);
  const std::int64_t batch = value_of<std::int64_t>(values, "batch", scenario::integer(1, kMostBatch)).value_or(1);
  const std::string precision =
      to_string(value_of<spec::Precision>(values, "precision").value_or(spec::Precision::bf16));

  const std::optional<formats::AdapterConfig> adapter = adapter_in(file.path, file.content);
  std::optional<study::ImportedModel> of_base;
  if (base) of_base = study::import_model(base->path, base->content, sequence);
  study::ImportedModel model = adapter ? study::import_adapter(file.path, *adapter, std::move(of_base), sequence)
                                       : study::import_model(file.path, file.content, sequence);
  std::string named;
  if (!layers.empty()) {
    named = name_in_document(values, "layers");
    model.workload.clear();
    model.sizes.clear();
  } else if (model.workload.empty()) {
    throw UsageError(
        "no workload has these layers; use --layers FILE to write them into a file, which the element names");
  }
  const std::string text = values.contains("scenario") ? study::scenario_of(model, named, batch, precision)
                                                       : study::timed_as_element(model, named, batch, precision);
  outputs.check_writable();
  if (!layers.empty()) {
    const std::string shapes = study::file_of_layers(file.path, model.shape);
    study::check_workload_made_of(file.path, shapes);
    write_file_atomically(layers, shapes);
  }
  write_import(values, text, in_words(model));
}

}  // namespace

void run_import(const po::variables_map& values) {
  const std::vector<std::string> files = operands_of(values);
  if (files.empty() || is_chakra_trace(files[0]))
    return import_chakra_trace(
        values, only_operand(values, "no file is named", "name one file, or logs of several clients", "import"));
  const ReadFile first = read_file(files[0]);
  if (const std::string framework = formats::framework_of_launch(first.content); !framework.empty()) {
    only_operand(values, "no file is named", "name one file of launch arguments", "import");
    return import_launch(values, first.path, framework, first.content);
  }
  if (!is_config(first.content)) return import_federation_logs(values, files);
  if (files.size() == 2) {
    const ReadFile second = read_file(files[1]);
    if (adapter_in(first.path, first.content)) return import_config(values, first, second);
    if (adapter_in(second.path, second.content)) return import_config(values, second, first);
  }
  only_operand(values, "no file is named", "name one file, or an adapter_config.json and its base's config.json",
               "import");
  import_config(values, first, std::nullopt);
}

}  // namespace dadsim::cli
