#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/import_files.hpp"
#include "cli/output_files.hpp"
#include "formats/federation_log.hpp"
#include "sim/platform.hpp"
#include "study/import/import_federation.hpp"
#include "study/import/import_model.hpp"
#include "support/diagnostics.hpp"
#include "support/human.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

constexpr const char* kLogForm =
    "a config.json of Hugging Face, a Chakra trace (NAME.0.et), or logs: of clients of NVIDIA FLARE (getTask, "
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
      if (files.size() > 1) throw InputError({file, 0, "is the log of a Flower server", "use that log alone"});
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

}  // namespace

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

}  // namespace dadsim::cli
