#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/collective_options.hpp"
#include "cli/commands.hpp"
#include "cli/study_options.hpp"
#include "scenario/document/load.hpp"
#include "sim/platform.hpp"
#include "study/diagnose/diagnose_scenario.hpp"
#include "study/diagnose/read_log.hpp"
#include "study/measured/collective_times.hpp"
#include "study/setting/catalog.hpp"
#include "support/terminal.hpp"
#include "support/thread_limit.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

constexpr std::array kMeasures{
    "log", "step", "tokens-per-second", "tokens-per-second-per-gpu", "samples-per-second", "mfu", "bus-bandwidth"};

constexpr std::int64_t kMostMeasured = 16'777'216;

/// A value for the first devices, as in "16:480ms"; without a number, for all devices.
struct OfDevices {
  std::int64_t devices = 0;
  std::string text;
};

std::vector<OfDevices> given(const po::variables_map& values, const std::string& option) {
  std::vector<OfDevices> all;
  if (!values.contains(option)) return all;
  for (const std::string& text : values[option].as<std::vector<std::string>>()) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos)
      all.push_back({0, text});
    else
      all.push_back({read_option<std::int64_t>(option, text.substr(0, colon), scenario::integer(1, kMostMeasured)),
                     text.substr(colon + 1)});
  }
  const bool some = std::ranges::any_of(all, [](const OfDevices& one) { return one.devices == 0; });
  if (all.size() > 1 && some)
    throw UsageError(fmt::format("--{} is given several times; write the number of GPUs before each: 16:…", option));
  return all;
}

double rate_of(const std::string& option, const std::string& text) {
  return read_option<double>(option, text, scenario::real({.minimum = 0, .open_minimum = true}));
}

double share_of_option(const std::string& option, const std::string& said) {
  const double whole = said.ends_with('%') ? 100 : 1;
  const std::string_view number = std::string_view(said).substr(0, said.size() - (whole > 1 ? 1 : 0));
  return read_option<double>(option, number, scenario::real({.minimum = 0, .maximum = whole, .open_minimum = true})) /
         whole;
}

double seconds_of(const std::string& option, const std::string& text) {
  return read_option<double>(option, text, quantity(scenario::kDurationForm));
}

study::Measurement measurement_of_log(const std::string& path) {
  return study::read_log(path, read_input(path, "use a log", kMostOfLog));
}

study::Measurement measurement_of(const po::variables_map& values) {
  std::vector<std::string> said;
  for (const char* one : kMeasures) {
    if (values.contains(one)) said.emplace_back(one);
  }
  const bool profile = said.size() == 2 && said.front() == "log" && said.back() == "step";
  if (said.empty())
    throw UsageError("no measurement is given; add --step, --tokens-per-second, --mfu, --log …, see --help");
  if (said.size() > 1 && !profile)
    throw UsageError(fmt::format("--{} and --{} give the same measurement; remove one of them", said[0], said[1]));
  study::Measurement measured;
  if (said.front() == "log") measured = measurement_of_log(text_of(values, "log"));
  if (measured.source.empty()) measured.source = "--" + said.front();
  if (values.contains("step")) measured.steps.clear();  // --step overrides the measurement in the profile
  const auto add = [&](const char* option, std::optional<double> study::MeasuredStep::*figure, const auto& parse) {
    for (const OfDevices& one : given(values, option)) {
      study::MeasuredStep& step = measured.steps.emplace_back();
      step.devices = one.devices;
      step.*figure = parse(option, one.text);
    }
  };
  add("step", &study::MeasuredStep::step_seconds, seconds_of);
  add("tokens-per-second", &study::MeasuredStep::tokens_per_second, rate_of);
  add("tokens-per-second-per-gpu", &study::MeasuredStep::tokens_per_second_per_device, rate_of);
  add("samples-per-second", &study::MeasuredStep::samples_per_second, rate_of);
  add("mfu", &study::MeasuredStep::utilisation, share_of_option);
  if (const auto bandwidth = value_of<double>(values, "bus-bandwidth", quantity(scenario::kBandwidthForm))) {
    const std::string size = text_of(values, "size");
    const double bytes = parse_byte_size("size", size.empty() ? "1GB" : size, "e.g. 64MB or 1GB (powers of 1024)");
    measured.collectives.push_back({.bytes = bytes, .bus_bandwidth = *bandwidth});
  } else if (values.contains("size")) {
    throw UsageError("--size needs a collective; add --bus-bandwidth");
  }
  if (values.contains("test") && measured.collectives.empty() && !measured.collective_log)
    throw UsageError("--test needs a collective; add --bus-bandwidth, or a log of a benchmark of collectives");
  return measured;
}

std::optional<report::Operation> operation_of(const po::variables_map& values) {
  const std::string test = text_of(values, "test");
  if (test.empty()) return std::nullopt;
  const std::optional<report::Operation> operation = study::operation_of_test(test);
  if (!operation)
    throw UsageError(fmt::format("--test '{}' is unknown; {}", test, suggestion(test, study::names_of_tests())));
  return operation;
}

}  // namespace

void run_diagnose(const po::variables_map& values) {
  const StudyOptions options = study_options_of(values, "diagnose");
  const StudyFiles files(values, {{"the scenario", options.scenario}, {"--log", text_of(values, "log")}});
  const std::optional<report::Operation> operation = operation_of(values);
  study::Measurement measured = measurement_of(values);
  const scenario::ScenarioSource source(options.scenario);
  const scenario::Scenario scenario = source.load_point(options.overrides, study::make_catalog_without_learning());
  files.check_against_inputs();
  for (const Diagnostic& warning : study::take_collectives(measured, operation, scenario.all_devices().size()))
    say(fmt::format("dadsim: warning: {}\n", to_string(warning)));
  const ThreadLimit limit(threads_to_use(options.threads));
  const report::Diagnosis diagnosis = study::diagnose_scenario(scenario, measured, !options.quiet);
  files.write(document_of(diagnosis), report::About{.scenario = source.text(), .set = options.overrides});
}

}  // namespace dadsim::cli
