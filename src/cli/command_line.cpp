#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <tbb/global_control.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <string_view>
#include <system_error>

#include "cli/algorithm_pages.hpp"
#include "cli/calibrate_command.hpp"
#include "cli/collective_command.hpp"
#include "cli/exit_code.hpp"
#include "cli/explain_command.hpp"
#include "cli/graphviz.hpp"
#include "cli/listings.hpp"
#include "cli/options.hpp"
#include "cli/output_files.hpp"
#include "cli/plan_command.hpp"
#include "cli/platform_command.hpp"
#include "cli/print.hpp"
#include "cli/study_options.hpp"
#include "cli/sweep_command.hpp"
#include "cli/usage_error.hpp"
#include "report/csv.hpp"
#include "report/html/report.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "report/trace.hpp"
#include "scenario/load.hpp"
#include "sim/platform.hpp"
#include "sim/simulator.hpp"
#include "study/carry_over.hpp"
#include "study/catalog.hpp"
#include "study/experiment.hpp"
#include "support/atomic_file.hpp"
#include "support/build.hpp"
#include "support/diagnostics.hpp"
#include "support/environment_error.hpp"
#include "support/interrupt.hpp"
#include "support/output_error.hpp"
#include "support/progress.hpp"
#include "support/terminal.hpp"
#include "support/version.hpp"

namespace dadsim::cli {
namespace {

/// By the names of links, in the run that keeps them busiest.
std::map<std::string, double> busy_shares(const report::Result& result) {
  std::map<std::string, double> shares;
  for (const report::RunResult& run : result.runs) {
    for (const step::LinkUse& use : run.network.link_use) {
      double& share = shares[use.link];
      share = std::max(share, use.busy_share);
    }
  }
  return shares;
}

/// A picture of the platform and of how busy its links are, for a page; empty where it cannot be drawn, which is no
/// reason to have no page.
std::string picture_of(const scenario::Scenario& scenario, const report::Result& result, bool quiet) {
  try {
    return draw_svg(find_dot(), sim::to_dot(sim::inspect_platform(scenario.platform), busy_shares(result)));
  } catch (const Cancelled&) {
    throw;
  } catch (const std::runtime_error& error) {
    if (!quiet) say(fmt::format("dadsim: the page has no picture of the platform: {}\n", error.what()));
    return {};
  }
}

OutputFiles outputs_of(const Options& options) {
  return {{{"--json", options.json}, {"--csv", options.csv}, {"--report", options.report}, {"--trace", options.trace}},
          {{"the scenario", options.scenario}}};
}

void run_scenario(const Options& options, const scenario::Scenario& scenario) {
  const OutputFiles outputs = outputs_of(options);
  outputs.check_writable();
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads_to_use(options.threads));
  study::TraceRequest trace;
  if (!options.trace.empty()) trace.steps = options.trace_steps;
  const report::Result result =
      study::run_experiment(scenario, !options.quiet && standard_error_is_terminal(), trace, options.timing_only);
  if (!options.json.empty()) write_file_atomically(options.json, to_json(result));
  if (!options.csv.empty()) write_file_atomically(options.csv, to_csv(result));
  if (!options.report.empty())
    write_file_atomically(options.report, to_html(result, picture_of(scenario, result, options.quiet)));
  if (!options.trace.empty()) {
    write_file_atomically(options.trace, to_trace(result));
    if (!options.quiet) {
      for (const std::string& sentence : left_out_of_trace(result)) {
        say(fmt::format("dadsim: not in the trace: {}\n", sentence));
      }
    }
  }
  // A result that goes to standard output is not mixed with the table.
  if (!options.quiet && !outputs.take_standard_output()) print(to_table(result));
}

/// What the author of a scenario should know before it learns.
void warn(const scenario::Scenario& scenario) {
  for (const std::string& sentence : study::warnings_of(scenario)) say(fmt::format("dadsim: warning: {}\n", sentence));
}

void write_pages(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw OutputError(fmt::format("cannot make the folder '{}': {}", folder, error.message()));
  for (const auto& [name, text] : algorithm_pages()) write_file_atomically(folder + "/" + name, text);
}

void carry_out(const Options& options) {
  switch (options.command) {
    case Options::Command::help:
      return print(usage());
    case Options::Command::version:
      return print(fmt::format("dadsim {}, build {} (SimGrid {})\n", kVersion, build(), sim::simgrid_version()));
    case Options::Command::listing:
      if (!options.pages.empty()) return write_pages(options.pages);
      return print(entries_with(find_listing(options.listing)->text(), options.words));
    case Options::Command::platform:
      return run_platform_command(options.arguments);
    case Options::Command::collective:
      return run_collective_command(options.arguments);
    case Options::Command::calibrate:
      return run_calibrate_command(options.arguments);
    case Options::Command::explain:
      return run_explain_command(options.arguments);
    case Options::Command::plan:
      return run_plan_command(options.arguments);
    case Options::Command::sweep:
      return run_sweep_command(options.arguments);
    case Options::Command::merge:
      return run_merge_command(options.arguments);
    case Options::Command::run:
    case Options::Command::check:
    case Options::Command::print_scenario:
      break;
  }
  if (options.command == Options::Command::run) static_cast<void>(outputs_of(options));
  const scenario::Scenario scenario =
      scenario::load_scenario(options.scenario, options.overrides, study::make_catalog());
  if (options.command == Options::Command::print_scenario) return write_file_atomically("-", print_scenario(scenario));
  if (!options.quiet) warn(scenario);
  if (options.command == Options::Command::check) {
    if (!options.quiet) print(fmt::format("{}: nothing wrong with it\n", options.scenario));
    return;
  }
  run_scenario(options, scenario);
}

void execute(const Options& options) {
  try {
    carry_out(options);
  } catch (const std::system_error& error) {  // of std::thread
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    throw EnvironmentError("a thread could not be started");
  }
}

int complain(int code, const std::string& message) {
  say(message + "\n");
  return code;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  hold_standard_descriptors();
  catch_interrupts();
  try {
    execute(parse_options(argc, argv));
    return kSuccess;
  } catch (const UsageError& error) {
    return complain(kUsage, fmt::format("dadsim: {}", error.what()));
  } catch (const InputError& error) {
    return complain(kWrongInput, error.what());
  } catch (const OutputError& error) {
    return complain(kOutputFailed, fmt::format("dadsim: {}", error.what()));
  } catch (const Cancelled& cancelled) {
    return complain(kInterrupted, fmt::format("dadsim: interrupted; {}", cancelled.what()));
  } catch (const EnvironmentError& error) {
    return complain(
        kSimulationFailed,
        fmt::format("dadsim: {}; nothing is wrong with what was asked, and the same command goes on once the "
                    "system gives what it takes",
                    error.what()));
  } catch (const sim::SimulationError& error) {
    if (interrupted().load()) return complain(kInterrupted, "dadsim: interrupted; nothing was written");
    const std::string_view message = error.what();
    return complain(
        kSimulationFailed,
        fmt::format("dadsim: {}{}", message.starts_with("the simulation ") ? "" : "the simulation failed: ", message));
  } catch (const std::bad_alloc&) {
    return complain(kInternalError, "dadsim: out of memory; fewer workers, a smaller network or less data would fit");
  } catch (const std::exception& error) {
    return complain(kInternalError, fmt::format("dadsim: a bug of ours, please report it: {}", error.what()));
  }
}

}  // namespace dadsim::cli
