#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/import_files.hpp"
#include "cli/output_files.hpp"
#include "cli/usage_error.hpp"
#include "formats/chakra.hpp"
#include "spec/precision.hpp"
#include "study/import/import_model.hpp"
#include "study/import/recorded_step.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

constexpr std::int64_t kMostRanks = 100'000;
constexpr InputLimit kMostOfTrace{std::size_t{1} << 30U, "a trace of fewer nodes"};
constexpr InputLimit kMostOfGroups{std::size_t{16} << 20U, "groups of fewer ranks"};
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
  constexpr const char* kForm = "groups as ASTRA-sim has them: {\"1\": [0, 1], \"2\": [2, 3]}";
  try {
    return formats::read_groups(read_input(path, kForm, kMostOfGroups));
  } catch (const InputError&) {
    throw;
  } catch (const std::runtime_error& fault) {
    throw InputError({path, 0, fault.what(), kForm});
  }
}

}  // namespace

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
    throw UsageError(fmt::format("--ranks needs a trace of one rank, and there are {}; remove it", traces.size()));
  study::RecordedStep step;
  try {
    step = study::recorded_step_of(traces, groups_in(groups_file), copies);
  } catch (const std::runtime_error& fault) {
    if (dynamic_cast<const InputError*>(&fault) != nullptr) throw;
    throw InputError({file, 0, fault.what(),
                      traces.size() == 1 ? "use --ranks N, if all repeat its work; or add the traces of all ranks"
                                         : "use traces of one step of all ranks; --groups names their groups"});
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

}  // namespace dadsim::cli
