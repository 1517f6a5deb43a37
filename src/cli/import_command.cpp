#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "formats/chakra.hpp"
#include "formats/federation_log.hpp"
#include "formats/launch.hpp"
#include "sim/platform.hpp"
#include "spec/precision.hpp"
#include "study/import/import_federation.hpp"
#include "study/import/import_model.hpp"
#include "study/import/recorded_step.hpp"
#include "study/layout/launch.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
#include "support/file_identity.hpp"
#include "support/human.hpp"
#include "support/terminal.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

/// Throws UsageError for a given option that is not in `allowed`, because it has no effect on `what`.
void refuse_other_options(const po::variables_map& values, const std::vector<std::string>& allowed, const char* what) {
  const std::vector<std::string> always{"positional", "out", "quiet", "help", "color"};
  for (const auto& [name, value] : values) {
    if (std::ranges::find(allowed, name) == allowed.end() && std::ranges::find(always, name) == always.end())
      throw UsageError(fmt::format("--{} has no effect on {}; remove it", name, what));
  }
}

/// Returns the file of `option` as a path relative to the document of --out; unchanged if the path is absolute, or the
/// document goes to standard output. Throws UsageError if the option is missing, is "-" (standard output), or has a
/// name that XML does not allow.
std::string name_in_document(const po::variables_map& values, const std::string& option) {
  const std::string file = text_of(values, option.c_str());
  if (file.empty() || file == "-")
    throw UsageError(fmt::format("--{0} FILE is missing; add --{0} FILE: the element will name this file", option));
  if (has_hidden_characters(file))
    throw UsageError(fmt::format("--{} '{}' has characters that XML does not allow; use another name", option,
                                 with_hidden_characters_shown(file)));
  namespace fs = std::filesystem;
  const std::string out = text_of(values, "out");
  if (out.empty() || descriptor_of(out) || fs::path(file).is_absolute()) return file;
  return fs::absolute(file).lexically_normal().lexically_relative(fs::absolute(out).lexically_normal().parent_path());
}

/// Writes `text` to --out, or to standard output. Unless --quiet, prints `words`: to standard output if `text` went to
/// a file, otherwise to standard error.
void write_import(const po::variables_map& values, const std::string& text, const std::string& words) {
  const std::string out = text_of(values, "out");
  const bool to_file = !out.empty() && out != "-";
  write_file_atomically(to_file ? out : "-", text);
  if (values.contains("quiet")) return;
  // The message goes to standard output only if the result does not.
  if (to_file) return print(words);
  say(words);
}

constexpr std::int64_t kMostRanks = 100'000;
constexpr InputLimit kMostOfTrace{std::size_t{1} << 30U, "use a trace of fewer nodes"};
constexpr InputLimit kMostOfGroups{std::size_t{16} << 20U, "use groups of fewer ranks"};
constexpr const char* kTraceForm = "use execution traces of Chakra, one file for each rank: NAME.0.et, NAME.1.et …";

/// Returns NAME of a path NAME.12.et.
std::string name_of_trace(const std::string& path) {
  const std::string stem = path.substr(0, path.size() - 3);
  const std::size_t point = stem.rfind('.');
  const bool numbered = point != std::string::npos && point + 1 < stem.size() &&
                        std::all_of(stem.begin() + static_cast<std::ptrdiff_t>(point) + 1, stem.end(),
                                    [](char c) { return c >= '0' && c <= '9'; });
  if (!numbered) throw InputError({path, 0, "has no rank in its name", kTraceForm});
  return stem.substr(0, point);
}

std::vector<formats::ChakraTrace> traces_of(const std::string& name) {
  std::vector<formats::ChakraTrace> traces;
  for (std::size_t rank = 0;; ++rank) {
    const std::string path = fmt::format("{}.{}.et", name, rank);
    std::error_code error;
    if (rank > 0 && !std::filesystem::exists(path, error)) return traces;
    const std::string content = read_input(path, kTraceForm, kMostOfTrace);
    try {
      traces.push_back(formats::read_chakra(content));
    } catch (const std::runtime_error& fault) {
      throw InputError({path, 0, fault.what(), kTraceForm});
    }
  }
}

std::map<std::string, std::vector<std::int64_t>> groups_in(const std::string& path) {
  if (path.empty()) return {};
  constexpr const char* kForm = "write groups as ASTRA-sim does: {\"1\": [0, 1], \"2\": [2, 3]}";
  try {
    return formats::read_groups(read_input(path, kForm, kMostOfGroups));
  } catch (const InputError&) {
    throw;
  } catch (const std::runtime_error& fault) {
    throw InputError({path, 0, fault.what(), kForm});
  }
}

/// Returns whether a path is that of a Chakra trace (its name ends in .et).
bool is_chakra_trace(const std::string& path) { return path.ends_with(".et"); }

void import_chakra_trace(const po::variables_map& values, const std::string& file) {
  refuse_other_options(values, {"batch", "scenario", "step", "groups", "precision", "ranks"}, "a trace");
  const std::string to = text_of(values, "step");
  const std::string element =
      study::timed_as_step(name_in_document(values, "step"), values.contains("batch") ? text_of(values, "batch") : "1");
  const std::string groups_file = text_of(values, "groups");
  const OutputFiles outputs({{"--out", text_of(values, "out")}, {"--step", to}},
                            {{"the trace", file}, {"--groups", groups_file}});
  static_cast<void>(value_of<std::int64_t>(values, "batch", scenario::integer(1, 1'000'000)));
  const auto named = value_of<spec::Precision>(values, "precision");
  const std::string precision = named ? to_string(*named) : "";
  const auto copies = value_of<std::int64_t>(values, "ranks", scenario::integer(1, kMostRanks)).value_or(0);
  const std::string name = name_of_trace(file);
  const std::vector<formats::ChakraTrace> traces = traces_of(name);
  if (copies > 0 && traces.size() > 1)
    throw UsageError(fmt::format("--ranks needs a single trace, but there are {}; remove --ranks", traces.size()));
  study::RecordedStep step;
  try {
    step = study::recorded_step_of(traces, groups_in(groups_file), copies);
  } catch (const std::runtime_error& fault) {
    if (dynamic_cast<const InputError*>(&fault) != nullptr) throw;
    throw InputError({file, 0, fault.what(),
                      traces.size() == 1
                          ? "use --ranks N if all ranks repeat its work, or add the traces of all ranks"
                          : "use traces of the same step of all ranks, and name their groups with --groups FILE"});
  }
  outputs.check_against_inputs();
  outputs.check_writable();
  const std::string called = std::filesystem::path(name).filename().string();
  const std::string recorded = study::file_of_recorded_step(called, step, precision);
  study::check_workload_made_of(file, recorded);
  write_file_atomically(to, recorded);
  const auto counted = [](std::int64_t number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  const auto count = [&](study::RecordedStep::RecordedTask::TraceTask what) {
    return std::ranges::count(step.tasks, what, &study::RecordedStep::RecordedTask::what);
  };
  const std::int64_t collectives = count(study::RecordedStep::RecordedTask::TraceTask::collective);
  std::string words = fmt::format("{}: a step of {}, {} and {}, in {}.\n", called, counted(step.workers, "rank"),
                                  counted(count(study::RecordedStep::RecordedTask::TraceTask::compute), "computation"),
                                  counted(collectives, "collective"), to);
  if (copies > 0)
    words += "Note: one rank's trace: all ranks are assumed to run the same operations at the same time.\n";
  if (collectives == 0) words += "Note: the trace has no collective: its devices share nothing in the step.\n";
  if (step.tensor > 1 || step.stages > 1)
    words += fmt::format("Ranks: {} per layer × {} replicas × {} stages.\n", step.tensor,
                         step.workers / step.tensor / step.stages, step.stages);
  if (step.host_operations > 0)
    words += fmt::format("Note: {} operations of hosts are left out; devices are assumed not to wait for hosts.\n",
                         step.host_operations);
  if (step.small_collectives > 0)
    words += fmt::format("Note: {} collectives of a few bytes among ranks of several stages are left out.\n",
                         step.small_collectives);
  write_import(values, values.contains("scenario") ? study::scenario_of_step(called, element, step.workers) : element,
               words);
}

/// Imports launch arguments of a framework as the layout of a network.
void import_launch(const po::variables_map& values, const std::string& file, const std::string& framework,
                   const std::string& text) {
  constexpr std::int64_t kMostDevices = 1'000'000;
  refuse_other_options(values, {"devices"}, "launch arguments");
  const std::optional<std::int64_t> devices =
      value_of<std::int64_t>(values, "devices", scenario::integer(1, kMostDevices));
  const OutputFiles outputs({{"--out", text_of(values, "out")}}, {{"the file", file}});
  const study::Launch launch = study::read_launch(file, framework, text, devices);
  outputs.check_writable();
  std::string set;
  for (const std::string& one : study::assignments_of(launch))
    set += fmt::format("{}--set {}", set.empty() ? "" : " ", one);
  write_import(
      values, set + '\n',
      fmt::format("{}: {} devices, {} × {} (replicas × devices per replica), {} samples per replica and step.\n",
                  framework, launch.devices(), launch.layout.replicas, launch.layout.how.devices(),
                  launch.layout.batch));
}

constexpr const char* kLogForm =
    "use a config.json of Hugging Face, a Chakra trace (NAME.0.et), or logs: of clients of NVIDIA FLARE (getTask, "
    "SubmitUpdate), or of a server of Flower (fit_round, configure_fit, configure_train)";

study::ImportedFederation federation_in(const std::vector<std::string>& files, const study::FederationFacts& facts) {
  std::vector<formats::ClientLog> clients;
  for (const std::string& file : files) {
    const std::string text = read_input(file, kLogForm, kMostOfLog);
    try {
      if (std::optional<formats::ClientLog> client = formats::read_client_log(text)) {
        // The name of a site is the folder of its log.
        if (client->name.empty()) client->name = std::filesystem::path(file).stem().string();
        clients.push_back(*std::move(client));
        continue;
      }
      const std::optional<formats::ServerLog> server = formats::read_server_log(text);
      if (!server) throw InputError({file, 0, "cannot be imported", kLogForm});
      if (files.size() > 1) throw InputError({file, 0, "is the log of a Flower server", "give this log alone"});
      return study::federation_of(*server, facts);
    } catch (const InputError&) {
      throw;
    } catch (const std::runtime_error& fault) {
      throw InputError({file, 0, fault.what(), "use another log, or add --model-bytes, --step-time or --line"});
    }
  }
  try {
    return study::federation_of(clients, facts);
  } catch (const std::runtime_error& fault) {
    throw InputError({files.front(), 0, fault.what(), "use logs of clients that took part in a round"});
  }
}

std::string words_of_federation(const study::ImportedFederation& federation) {
  std::string text = fmt::format("{} clients, a model of {}; a round takes {} in the log.\n", federation.sites,
                                 human_bytes(federation.model_bytes), human_seconds(federation.round_seconds));
  if (federation.line_is_assumed)
    text +=
        fmt::format("Note: no log gives the speed of the lines: {:.0f} Mbit/s assumed; set --line or --step-time.\n",
                    8 * study::kAssumedLine / 1e6);
  if (federation.training_is_the_rest)
    text += "Note: all time of a round except its transfers counts as training; --step-time overrides it.\n";
  return text;
}

/// Imports logs of NVIDIA FLARE's clients, or of a Flower server.
void import_federation_logs(const po::variables_map& values, const std::vector<std::string>& files) {
  refuse_other_options(values, {"scenario", "model-bytes", "step-time", "line"}, "logs of a federation");
  study::FederationFacts facts;
  facts.model_bytes = value_of<double>(values, "model-bytes", quantity(scenario::kBytesForm));
  facts.step_seconds = value_of<double>(values, "step-time", quantity(scenario::kDurationForm));
  facts.line = value_of<double>(values, "line", quantity(scenario::kBandwidthForm));
  std::vector<OutputFiles::Named> inputs;
  for (const std::string& file : files) inputs.push_back({"the log", file});
  const OutputFiles outputs({{"--out", text_of(values, "out")}}, std::move(inputs));
  const study::ImportedFederation federation = federation_in(files, facts);
  study::check_scenario_made_of(files.front(), federation.scenario);
  outputs.check_writable();
  write_import(values, federation.scenario, words_of_federation(federation));
}

constexpr std::int64_t kMostTokens = 10'000'000;
constexpr std::int64_t kMostBatch = 1'000'000;

constexpr const char* kFiles =
    "use a config.json, an adapter_config.json, a params.json, a Chakra trace (NAME.0.et), logs of a federation or "
    "launch "
    "arguments";

/// Returns true if the content begins like a JSON object, or is blank.
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

/// Reads a file. A config may have at most 16 MiB; a log may be larger.
ReadFile read_file(const std::string& path) {
  constexpr std::size_t kMostOfConfig = std::size_t{16} << 20U;
  ReadFile file{path, read_input(path, kFiles, kMostOfLog)};
  if (is_config(file.content) && file.content.size() > kMostOfConfig)
    throw InputError({path, 0, "has more than 16 MiB", "use the config.json of a model"});
  return file;
}

/// `base`: the config.json that belongs to an adapter_config.json; empty: there is only one file.
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
        "no workload has these layers; add --layers FILE to write them to a file, which the element will name");
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
