#include "report/scale_study/ladder_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "report/text/json_values.hpp"

namespace dadsim::report {
namespace {

double size_of(const Json& rung, spec::SizeKind kind) {
  const Json& size = rung.at("size");
  if (kind == spec::SizeKind::parameters) return size.at("parameters").get<double>();
  if (kind == spec::SizeKind::rows_per_width) return size.at("rows_per_width").get<double>();
  return size.at("critical_batch").is_null() ? std::numeric_limits<double>::quiet_NaN()
                                             : size.at("batch").get<double>() / size.at("critical_batch").get<double>();
}

std::vector<double> decades_of(const Json& rung, const std::vector<spec::SizeKind>& against) {
  std::vector<double> decades;
  for (const spec::SizeKind kind : against) decades.push_back(std::log10(size_of(rung, kind)));
  return decades;
}

LadderFile::Run run_of(const Json& json, const Json& rungs, const LadderFile& file) {
  LadderFile::Run run;
  run.label = json.at("label").get<std::string>();
  run.algorithm = json.at("algorithm").get<std::string>();
  if (json.contains("set")) run.set = json["set"].get<spec::ParameterValues>();
  run.as_many_by_definition = json.at("as_many_by_definition").get<bool>();
  if (json.at("rungs").size() != rungs.size()) throw std::runtime_error(fmt::format("lacks rungs of '{}'", run.label));
  double missed = 0;   // largest size that did not reach the target
  double reached = 0;  // largest size that reached the target
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const Json& at = json.at("rungs").at(i);
    const double parameters = size_of(rungs[i], spec::SizeKind::parameters);
    if (!at.at("more_than").is_null()) missed = std::max(missed, parameters);
    if (at.at("relative_steps").is_null()) continue;
    reached = std::max(reached, parameters);
    estimate::Rung rung{decades_of(rungs[i], file.against), at.at("relative_steps").at("value").get<double>(),
                        at.at("seed_variance").get<double>()};
    if (!(rung.ratio > 0) || !std::isfinite(rung.ratio))
      throw std::runtime_error(
          fmt::format("has relative steps of {:g} for '{}', but they have to be above 0", rung.ratio, run.label));
    if (!(rung.seed_variance >= 0) || !std::isfinite(rung.seed_variance))
      throw std::runtime_error(fmt::format("has a seed_variance of {:g} for '{}', but it has to be at least 0",
                                           rung.seed_variance, run.label));
    const bool known = std::ranges::all_of(rung.size, [](double decades) { return std::isfinite(decades); });
    if (known) run.rungs.push_back(std::move(rung));
  }
  if (run.rungs.size() >= std::max<std::size_t>(3, file.against.size() + 2)) {
    try {
      static_cast<void>(estimate::Ladder(run.rungs));
    } catch (const std::invalid_argument& error) {
      throw std::runtime_error(fmt::format("has unusable rungs of '{}': {}", run.label, error.what()));
    }
  }
  if (missed > reached) run.never = Statement{"sizes-miss-target"}.with("parameters", missed);
  return run;
}

}  // namespace

const LadderFile::Run* LadderFile::find(std::string_view label) const {
  const auto found = std::ranges::find(runs, label, &Run::label);
  return found == runs.end() ? nullptr : &*found;
}

LadderFile parse_ladder(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    LadderFile file;
    file.scenario = json.at("scenario").at("name").get<std::string>();
    for (const Json& name : json.at("against"))
      file.against.push_back(spec::parse<spec::SizeKind>(name.get<std::string>()).value());
    file.target_accuracy = json.at("target_accuracy").get<double>();
    file.seeds = json.at("seeds").get<std::int64_t>();
    for (const Json& rung : json.at("rungs"))
      file.largest_parameters = std::max(file.largest_parameters, size_of(rung, spec::SizeKind::parameters));
    for (const Json& run : json.at("runs")) file.runs.push_back(run_of(run, json.at("rungs"), file));
    if (file.against.empty() || file.runs.empty()) throw std::runtime_error("holds an empty scale study");
    return file;
  } catch (const Json::exception&) {
    throw std::runtime_error("holds no scale study");
  } catch (const std::bad_optional_access&) {
    throw std::runtime_error("has an unknown kind of size");
  }
}

}  // namespace dadsim::report
