#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <typeinfo>

#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/completion.hpp"
#include "cli/dask_client.hpp"
#include "cli/exit_code.hpp"
#include "cli/listings.hpp"
#include "cli/method_pages.hpp"
#include "cli/options.hpp"
#include "cli/output.hpp"
#include "cli/run_page.hpp"
#include "cli/study_options.hpp"
#include "report/export/trace.hpp"
#include "report/run/figure_values.hpp"
#include "report/run/result_document.hpp"
#include "scenario/document/load.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "study/learning/learned.hpp"
#include "study/learning/shared_cache.hpp"
#include "study/remote/remote_learning.hpp"
#include "study/results/transfer.hpp"
#include "study/run/experiment.hpp"
#include "study/setting/catalog.hpp"
#include "study/trials/outcome.hpp"
#include "support/atomic_file.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/interrupt.hpp"
#include "support/kernel_set.hpp"
#include "support/last_resort.hpp"
#include "support/output_error.hpp"
#include "support/terminal.hpp"
#include "support/thread_limit.hpp"
#include "support/version.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

constexpr double kHistoriesOfOneSimulation = 1e8;  // largest size of kept histories, bytes

OutputFiles outputs_of(const Options& options) {
  return {{{"--json", options.json}, {"--csv", options.csv}, {"--report", options.report}, {"--trace", options.trace}},
          {{"the scenario", options.scenario}}};
}

void run_scenario(const Options& options, const scenario::Scenario& scenario, const scenario::ScenarioSource& source) {
  const OutputFiles outputs = outputs_of(options);
  outputs.check_writable();
  OutputFiles::check_folder(options.plots);
  const ThreadLimit limit(threads_to_use(options.threads));
  study::TraceRequest trace;
  const bool with_timeline = !options.report.empty() && options.sliders;  // a page includes the timeline of a step
  if (!options.trace.empty() || with_timeline) trace.steps = options.trace_steps;
  const bool show_progress = !options.quiet;
  study::TaskQueue queue;
  study::LearningStore store;
  std::optional<DaskClient> client;
  if (!options.scheduler.empty()) {
    client.emplace(options.scheduler, options.scenario, queue);
    store.shared_cache()->set_remote(std::make_shared<study::RemoteLearning>(queue, scenario, options.overrides));
  }
  const study::Learned learned = study::learn_scenario(scenario, client ? &store : nullptr, show_progress);
  // Keeps few histories, because a single simulation reuses little learning of other runs.
  if (!client && !with_timeline) learned.shared_cache->keep_histories_in(kHistoriesOfOneSimulation);
  report::Result result = study::time_scenario(scenario, learned, study::cluster_of(scenario), show_progress, trace);
  result.rate_as_tcp = study::rate_as_tcp(scenario);
  study::add_step_with_rdma(source, options.overrides, scenario, learned, result);
  if (!options.quiet) {
    for (const std::string& sentence : study::warnings_of(scenario, result))
      say(fmt::format("dadsim: warning: {}\n", sentence));
  }
  report::Document document = document_of(result);
  if (!options.json.empty()) write_file_atomically(options.json, to_json(document));
  if (!options.csv.empty()) write_file_atomically(options.csv, to_csv(result));
  if (!options.plots.empty()) outputs.write_into("--plots", options.plots, plots_of(document));
  if (!options.trace.empty()) {
    write_file_atomically(options.trace, to_trace(result));
    if (!options.quiet) {
      for (const std::string& sentence : left_out_of_trace(result)) {
        say(fmt::format("dadsim: not in the trace: {}\n", sentence));
      }
    }
  }
  // Prints no table if the result goes to standard output.
  if (!options.quiet && !outputs.take_standard_output()) print(summary_of(document, options.verbose));
  // Writes the page last, so that the other results exist if it fails.
  if (!options.report.empty()) {
    const RunPage page{source, options.overrides, scenario, learned, with_timeline, options.quiet};
    write_file_atomically(options.report, page.html(std::move(document), result));
  }
}

/// Prints those warnings of a scenario that are known before learning.
void warn(const scenario::Scenario& scenario) {
  for (const std::string& sentence : study::warnings_of(scenario)) say(fmt::format("dadsim: warning: {}\n", sentence));
}

void write_pages(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw OutputError(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  const std::map<std::string, std::string> pages = method_pages();
  // Replaces only files with the same title, because the folder may have another program's README.md.
  for (const auto& [name, text] : pages) {
    const std::string path = folder + "/" + name;
    const std::string there = whole_file(path).value_or("");
    if (there.empty() || text.starts_with(there.substr(0, there.find('\n')) + "\n")) continue;
    throw UsageError(
        fmt::format("--pages would overwrite '{}', which this program did not write; use another folder", path));
  }
  for (const auto& [name, text] : pages) write_file_atomically(folder + "/" + name, text);
}

/// Chooses the set of kernels. Must be called first, so that an unknown set is reported like an error of the command
/// line.
void choose_kernels() {
  try {
    static_cast<void>(kernel_set());
  } catch (const InputError& error) {
    throw UsageError(error.what());
  }
}

void carry_out(const Options& options) {
  switch (options.command) {
    case Options::Command::help:
      return print(usage());
    case Options::Command::version:
      return print(fmt::format("dadsim {}, build {} (SimGrid {}; {} kernels)\n", kVersion, build(),
                               sim::simgrid_version(), name_of(kernel_set())));
    case Options::Command::listing:
      if (!options.pages.empty()) return write_pages(options.pages);
      return print(entries_with(find_listing(options.listing)->text(), options.words));
    case Options::Command::own_options:
      return cli::run(*options.own, options.arguments);
    case Options::Command::completion:
      return write_file_atomically("-", candidates_in_lines(options.arguments));
    case Options::Command::run:
    case Options::Command::check:
    case Options::Command::print_scenario:
      break;
  }
  if (options.command == Options::Command::run) static_cast<void>(outputs_of(options));
  const scenario::ScenarioSource source(options.scenario);
  scenario::Scenario scenario = source.load(
      options.overrides, options.timing_only ? study::make_catalog_without_learning() : study::make_catalog());
  scenario.timing_only = scenario.timing_only || options.timing_only;
  if (!options.scheduler.empty() && std::ranges::none_of(scenario.runs, &spec::RunSpec::event_driven)) {
    throw InputError(Diagnostic{options.scenario, 0, "has no event-driven run, which --on needs",
                                "remove --on; dadsim sweep --on distributes many points"});
  }
  if (options.command == Options::Command::print_scenario) return write_file_atomically("-", print_scenario(scenario));
  if (!options.quiet && !scenario.timing_only) warn(scenario);
  if (options.command == Options::Command::check) {
    if (!options.quiet) print(fmt::format("{}: no errors\n", options.scenario));
    return;
  }
  run_scenario(options, scenario, source);
}

constexpr const char* kNoThread = "a thread could not be started";

void execute(const Options& options) {
  try {
    carry_out(options);
  } catch (const std::system_error& error) {                                   // also thrown by std::thread
    if (error.code() == std::errc::not_enough_memory) throw std::bad_alloc();  // also thrown by std::filesystem
    if (error.code() == std::errc::too_many_files_open || error.code() == std::errc::too_many_files_open_in_system) {
      throw EnvironmentError(error.what());
    }
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    throw EnvironmentError(kNoThread);
  } catch (const std::runtime_error& error) {
    if (!denies_thread(error)) throw;
    throw EnvironmentError(kNoThread);
  }
}

int complain(int code, const std::string& message) {
  ends_by_itself();
  dadsim::complain(message);
  return code;
}

}  // namespace

bool denies_thread(const std::runtime_error& error) {
  return typeid(error) == typeid(std::runtime_error) &&
         std::string_view(error.what()).find("pthread_create") != std::string_view::npos;
}

int run_command_line(int argc, char** argv) {
  hold_standard_descriptors();
  catch_interrupts();
  end_when_interrupted(kInterrupted);
  fit_standard_output();
  try {
    const Options options = parse_options(argc, argv);
    choose_kernels();
    execute(options);
    return kSuccess;
  } catch (const UsageError& error) {
    return complain(kUsage, fmt::format("dadsim: {}", error.what()));
  } catch (const InputError& error) {
    const bool by_options = !error.is_infeasible() && std::ranges::all_of(error.diagnostics(), [](const auto& one) {
      return one.file.starts_with("--") || one.file == "MODEL" || one.file == "N";
    });
    return complain(by_options ? kUsage : kWrongInput, error.what());
  } catch (const OutputError& error) {
    return complain(kOutputFailed, fmt::format("dadsim: {}", error.what()));
  } catch (const Cancelled& cancelled) {
    return complain(kInterrupted, fmt::format("dadsim: interrupted; {}", cancelled.what()));
  } catch (const EnvironmentError& error) {
    return complain(
        kSimulationFailed,
        fmt::format("dadsim: {}; the input is correct; run the same command again when the system has more resources",
                    error.what()));
  } catch (const sim::SimulationError& error) {
    if (interrupted().load()) return complain(kInterrupted, "dadsim: interrupted; nothing was written");
    return complain(kSimulationFailed, fmt::format("dadsim: {}", error.what()));
  } catch (const std::bad_alloc&) {
    return complain(kInternalError, std::string(kOutOfMemory));
  } catch (const std::exception& error) {
    return complain(kInternalError, fmt::format("dadsim: a bug of ours, please report it: {}", error.what()));
  }
}

}  // namespace dadsim::cli
