#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <tbb/global_control.h>

#include <cstdio>
#include <exception>
#include <string_view>
#include <thread>

#include "algorithms/learn.hpp"
#include "cli/collective_command.hpp"
#include "cli/exit_code.hpp"
#include "cli/listings.hpp"
#include "cli/options.hpp"
#include "cli/platform_command.hpp"
#include "cli/usage_error.hpp"
#include "report/csv.hpp"
#include "report/json.hpp"
#include "report/table.hpp"
#include "scenario/load.hpp"
#include "sim/simulator.hpp"
#include "study/catalog.hpp"
#include "study/experiment.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
#include "support/interrupt.hpp"
#include "support/output_error.hpp"
#include "support/progress.hpp"
#include "support/version.hpp"

namespace dadsim {
namespace {

void print(const std::string& text) { write_file_atomically("-", text); }

void run_scenario(const Options& options, const Scenario& scenario) {
  for (const std::string& path : {options.json, options.csv}) {
    if (!path.empty()) check_writable(path);
  }
  const std::size_t threads = options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
  const Result result = run_experiment(scenario, !options.quiet && standard_error_is_terminal());
  if (!options.json.empty()) write_file_atomically(options.json, to_json(result));
  if (!options.csv.empty()) write_file_atomically(options.csv, to_csv(result));
  // A result that goes to standard output is not mixed with the table.
  if (!options.quiet && options.json != "-" && options.csv != "-") print(to_table(result));
}

void execute(const Options& options) {
  switch (options.command) {
    case Options::Command::help:
      return print(usage());
    case Options::Command::version:
      return print(fmt::format("dadsim {} (SimGrid {})\n", kVersion, simgrid_version()));
    case Options::Command::listing:
      return print(find_listing(options.listing)->text());
    case Options::Command::platform:
      return run_platform_command(options.arguments);
    case Options::Command::collective:
      return run_collective_command(options.arguments);
    case Options::Command::run:
    case Options::Command::check:
    case Options::Command::print_scenario:
      break;
  }
  const Scenario scenario = load_scenario(options.scenario, options.overrides, make_catalog());
  if (options.command == Options::Command::print_scenario) return print(print_scenario(scenario));
  if (options.command == Options::Command::check) {
    if (!options.quiet) print(fmt::format("{}: nothing wrong with it\n", options.scenario));
    return;
  }
  run_scenario(options, scenario);
}

int complain(int code, const std::string& message) {
  fmt::print(stderr, "{}\n", message);
  return code;
}

}  // namespace

int run_command_line(int argc, char** argv) {
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
  } catch (const Cancelled&) {
    return complain(kInterrupted, "dadsim: interrupted; nothing was written");
  } catch (const SimulationError& error) {
    if (interrupted().load()) return complain(kInterrupted, "dadsim: interrupted; nothing was written");
    const std::string_view words = error.what();
    return complain(
        kSimulationFailed,
        fmt::format("dadsim: {}{}", words.starts_with("the simulation ") ? "" : "the simulation failed: ", words));
  } catch (const std::bad_alloc&) {
    return complain(kInternalError, "dadsim: out of memory; fewer workers, a smaller network or less data would fit");
  } catch (const std::exception& error) {
    return complain(kInternalError, fmt::format("dadsim: a bug of ours, please report it: {}", error.what()));
  }
}

}  // namespace dadsim
