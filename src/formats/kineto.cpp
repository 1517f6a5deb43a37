#include "formats/kineto.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>
#include <utility>
#include <vector>

#include "formats/json.hpp"

namespace dadsim::formats {
namespace {

constexpr double kTraceMicrosecond = 1e-6;

using TimeSpan = std::pair<double, double>;  // from, to; microseconds

/// Time that is in any of the spans, within one.
double covered(std::vector<TimeSpan> spans, const TimeSpan& within) {
  std::ranges::sort(spans);
  double sum = 0;
  double end = within.first;
  for (const auto& [from, to] : spans) {
    const double begin = std::max(from, end);
    const double last = std::min(to, within.second);
    if (last > begin) sum += last - begin;
    end = std::max(end, std::min(to, within.second));
  }
  return sum;
}

bool is_collective(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("nccl") != std::string::npos || name.find("rccl") != std::string::npos;
}

}  // namespace

std::optional<ProfiledStep> profile_of_trace(const std::string& text) {
  const Json trace = Json::parse(text, nullptr, false);
  if (trace.is_discarded() || !trace.is_object() || !trace.contains("traceEvents")) return std::nullopt;
  std::vector<TimeSpan> steps, computing, all;
  for (const Json& event : trace["traceEvents"]) {
    if (!event.is_object() || !event.contains("ts") || !event.contains("dur") || !event.contains("name")) continue;
    if (!event["ts"].is_number() || !event["dur"].is_number() || !event["name"].is_string()) continue;
    const double from = event["ts"].get<double>();
    const TimeSpan span{from, from + event["dur"].get<double>()};
    const auto name = event["name"].get<std::string>();
    const std::string category =
        event.contains("cat") && event["cat"].is_string() ? event["cat"].get<std::string>() : "";
    if (category == "kernel" || category == "Kernel") {
      all.push_back(span);
      if (!is_collective(name)) computing.push_back(span);
    } else if (name.starts_with("ProfilerStep#") && category != "gpu_user_annotation") {
      steps.push_back(span);
    }
  }
  if (steps.empty()) throw std::runtime_error("has no ranges called ProfilerStep#N");
  if (all.empty()) throw std::runtime_error("has no kernels of a device");
  ProfiledStep mean{.step = 0.0, .idle = 0.0, .steps = steps.size()};
  for (const TimeSpan& step : steps) {
    const double part = kTraceMicrosecond / static_cast<double>(steps.size());
    const double whole = covered(all, step);
    const double compute = covered(computing, step);
    *mean.step += part * (step.second - step.first);
    mean.computing += part * compute;
    mean.communicating += part * (whole - compute);
    *mean.idle += part * (step.second - step.first - whole);
  }
  return mean;
}

}  // namespace dadsim::formats
