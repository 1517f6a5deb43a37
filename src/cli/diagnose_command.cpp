#include "cli/diagnose_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>

#include "cli/arguments.hpp"
#include "cli/output_files.hpp"
#include "cli/print.hpp"
#include "cli/study_options.hpp"
#include "cli/usage_error.hpp"
#include "cli/usage_words.hpp"
#include "scenario/document/load.hpp"
#include "sim/platform.hpp"
#include "study/diagnose/diagnose_scenario.hpp"
#include "study/diagnose/read_log.hpp"
#include "study/setting/catalog.hpp"
#include "support/atomic_file.hpp"
#include "support/diagnostics.hpp"
#include "support/input_files.hpp"
#include "support/parse_whole.hpp"
#include "support/progress.hpp"
#include "support/thread_limit.hpp"
#include "support/whole_file.hpp"

namespace dadsim::cli {
namespace {

namespace po = boost::program_options;

constexpr std::array kMeasures{
    "log", "step", "tokens-per-second", "tokens-per-second-per-gpu", "samples-per-second", "mfu", "bus-bandwidth"};

po::options_description diagnose_options() {
  po::options_description options("Options");
  options.add_options()                                                                                      //
      ("step", po::value<std::string>()->value_name("TIME"), "what a step took, with its unit, e.g. 480ms")  //
      ("tokens-per-second", po::value<std::string>()->value_name("N"), "of all devices")                     //
      ("tokens-per-second-per-gpu", po::value<std::string>()->value_name("N"), "of one of them")             //
      ("samples-per-second", po::value<std::string>()->value_name("N"), "of all devices")                    //
      ("mfu", po::value<std::string>()->value_name("SHARE"), "model flops utilisation, e.g. 0.41 or 41%")    //
      ("bus-bandwidth", po::value<std::string>()->value_name("RATE"),
       "of a collective by itself, as nccl-tests have it, e.g. 6GBps; with --size and --test")        //
      ("size", po::value<std::string>()->value_name("BYTES"), "of that collective; 1GB unless said")  //
      ("test", po::value<std::string>()->value_name("NAME"), "all_reduce_perf unless said")           //
      ("log", po::value<std::string>()->value_name("FILE"),
       "a log that says it: nccl-tests, torchtitan, Megatron-LM, torch.profiler (table or trace)")  //
      ("json", po::value<std::string>()->value_name("FILE"),
       "write the same as JSON (docs/diagnose.md); - is standard output")  //
      ("verbose", "all that may be wrong, and all assumptions");
  add_study_options(options);
  return options;
}

std::optional<double> rate_of(const po::variables_map& values, const char* option) {
  const std::string text = text_of(values, option);
  if (text.empty()) return std::nullopt;
  const std::optional<double> number = parse_whole<double>(text);
  if (!number || !(*number > 0) || !std::isfinite(*number))
    throw UsageError(fmt::format("--{} '{}'; a number above 0", option, text));
  return number;
}

std::optional<double> share_of_option(const po::variables_map& values, const char* option) {
  std::string text = text_of(values, option);
  if (text.empty()) return std::nullopt;
  const bool percent = text.ends_with('%');
  if (percent) text.pop_back();
  const std::optional<double> number = parse_whole<double>(text);
  const double share = number.value_or(0) / (percent ? 100 : 1);
  if (!(share > 0 && share <= 1))
    throw UsageError(fmt::format("--{} '{}'; a share, 0.41 or 41%", option, text_of(values, option)));
  return share;
}

template <class Parse>
double with_unit(const std::string& option, const std::string& text, Parse parse, const char* example) {
  const std::optional<double> value = parse(text);
  if (!value || !(*value > 0))
    throw UsageError(fmt::format("--{} '{}'; with its unit, e.g. {}", option, text, example));
  return *value;
}

study::Measurement measurement_of_log(const std::string& path) {
  constexpr std::size_t kMostBytesOfLog = std::size_t{512} << 20U;
  const std::optional<std::string> text = whole_file(path, kMostBytesOfLog + 1);
  if (!text) throw InputError({path, 0, fmt::format("cannot be read: {}", std::strerror(errno)), "a log"});
  note_input(path);
  if (text->size() > kMostBytesOfLog) throw InputError({path, 0, "has more than 512 MiB", "a part of the log"});
  return study::read_log(path, *text);
}

study::Measurement measurement_of(const po::variables_map& values) {
  std::vector<std::string> said;
  for (const char* one : kMeasures) {
    if (values.contains(one)) said.emplace_back(one);
  }
  const bool profile = said.size() == 2 && said.front() == "log" && said.back() == "step";
  if (said.empty()) throw UsageError("nothing was measured; --step, --tokens-per-second, --mfu, --log …, see --help");
  if (said.size() > 1 && !profile)
    throw UsageError(fmt::format("--{} and --{} say the same; one of both", said[0], said[1]));
  study::Measurement measured;
  if (said.front() == "log") measured = measurement_of_log(text_of(values, "log"));
  if (measured.source.empty()) measured.source = "--" + said.front();
  if (const std::string text = text_of(values, "step"); !text.empty())
    measured.step_seconds = with_unit("step", text, sim::parse_seconds, "480ms");
  if (const auto rate = rate_of(values, "tokens-per-second")) measured.tokens_per_second = rate;
  if (const auto rate = rate_of(values, "tokens-per-second-per-gpu")) measured.tokens_per_second_per_device = rate;
  if (const auto rate = rate_of(values, "samples-per-second")) measured.samples_per_second = rate;
  if (const auto share = share_of_option(values, "mfu")) measured.utilisation = share;
  if (const std::string text = text_of(values, "bus-bandwidth"); !text.empty()) {
    const std::string size = text_of(values, "size");
    measured.collectives.push_back(
        {.test = text_of(values, "test"),
         .bytes = with_unit("size", size.empty() ? "1GB" : size, sim::parse_bytes, "1GB"),
         .bus_bandwidth = with_unit("bus-bandwidth", text, sim::parse_bytes_per_second, "6GBps")});
  } else if (values.contains("size") || values.contains("test")) {
    throw UsageError("--size and --test are of a collective; --bus-bandwidth beside them");
  }
  return measured;
}

}  // namespace

std::string usage_of_diagnose() {
  return "dadsim diagnose [options] scenario.xml\n"
         "says whether a time that was measured is what the scenario has to take, and what may be wrong where it is "
         "not:\neach cause is simulated (docs/diagnose.md).\n\n" +
         words_of_options(diagnose_options());
}

void run_diagnose_command(const std::vector<std::string>& arguments) {
  const po::variables_map values = read_arguments(arguments, diagnose_options());
  if (values.contains("help")) return print(usage_of_diagnose());
  const StudyOptions options = study_options_of(values, "diagnose");
  const std::string json = text_of(values, "json");
  const OutputFiles outputs({{"--json", json}},
                            {{"the scenario", options.scenario}, {"--log", text_of(values, "log")}});
  outputs.check_writable();
  const study::Measurement measured = measurement_of(values);
  const scenario::Scenario scenario =
      scenario::ScenarioSource(options.scenario).load_point(options.overrides, study::make_catalog_without_learning());
  outputs.check_against_inputs();
  const ThreadLimit limit(threads_to_use(options.threads));
  const report::Diagnosis diagnosis =
      study::diagnose_scenario(scenario, measured, !options.quiet && standard_error_is_terminal());
  if (!json.empty()) write_file_atomically(json, to_json(diagnosis));
  if (!options.quiet && !outputs.take_standard_output()) print(summary_of(diagnosis, values.contains("verbose")));
}

}  // namespace dadsim::cli
