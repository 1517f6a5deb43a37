#include <fmt/format.h>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/question_files.hpp"
#include "scenario/elements/count_row.hpp"
#include "scenario/language/quantity.hpp"
#include "spec/workload.hpp"
#include "study/train/train.hpp"
#include "support/parse_whole.hpp"

namespace dadsim::cli {
namespace {

constexpr std::int64_t kMostTrainDevices = 100'000;

/// Refuses "8k" for a whole number, because it may mean 8192 or 8000.
void check_no_thousands(const char* option, std::string_view text, std::int64_t most) {
  constexpr std::int64_t kBinary = 1024;
  if (!text.ends_with('k') && !text.ends_with('K')) return;
  const auto thousands = parse_whole<std::int64_t>(text.substr(0, text.size() - 1));
  if (thousands && *thousands > 0 && *thousands <= most / kBinary)
    throw UsageError(fmt::format("--{} '{}' is not a whole number; write {} or {}", option, text, *thousands * kBinary,
                                 *thousands * 1000));
}

study::TrainRequest train_request_of(const po::variables_map& values) {
  study::TrainRequest request;
  request.model =
      only_operand(values, "no model is named", "name one model, and the devices as --gpus N --device NAME", "train");
  const auto number = [&](const char* name, std::int64_t most) {
    check_no_thousands(name, text_of(values, name), most);
    return value_of<std::int64_t>(values, name, scenario::integer(1, most));
  };
  const auto gpus = number("gpus", kMostTrainDevices);
  request.device = text_of(values, "device");
  if (!gpus) throw UsageError("--gpus N is missing: the number of devices; see dadsim train --help");
  if (request.device.empty()) throw UsageError("--device NAME is missing: the kind of device, e.g. --device h100");
  request.gpus = *gpus;
  request.nic = text_of(values, "nic");
  request.inside = text_of(values, "inside");
  request.gpus_per_node = number("gpus-per-node", kMostTrainDevices);
  request.global_batch = number("global-batch", 1'000'000'000);
  request.sequence = number("sequence", 10'000'000);
  request.precision = text_of(values, "precision");
  if (const std::string tokens = text_of(values, "tokens"); !tokens.empty()) {
    request.tokens = scenario::parse_count(tokens);
    if (!request.tokens)
      throw UsageError(fmt::format("--tokens '{}' is wrong; {}", tokens, scenario::remedy_for_count(tokens)));
  }
  request.within = value_of<double>(values, "within", scenario::quantity(scenario::kDurationForm));
  request.price = value_of<double>(values, "price", scenario::real({.minimum = 0, .maximum = 1e6}));
  for (const char* name : {"within", "price"}) {
    if (values.contains(name) && !request.tokens)
      throw UsageError(fmt::format("--{} needs --tokens, the length of training; add e.g. --tokens 15T", name));
  }
  return request;
}

}  // namespace

Command::Names names_of_models() {
  Command::Names names;
  for (const spec::Workload& workload : spec::workload_registry().all()) names.emplace_back(workload.name, "");
  return names;
}

void run_train(const po::variables_map& values) {
  const study::TrainRequest request = train_request_of(values);
  const bool is_file = request.model.ends_with(".json");
  answer_question(values, is_file ? request.model : std::string(), "train", [&](bool show_progress) {
    study::TrainAnswer answer = study::train(request, show_progress);
    return Answered{std::move(answer.document), std::move(answer.scenario)};
  });
}

}  // namespace dadsim::cli
