#include "formats/kineto.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "formats/json.hpp"

namespace dadsim::formats {
namespace {

constexpr double kTraceMicrosecond = 1e-6;
constexpr double kLastClock = 1e18;    // largest valid date, microseconds
constexpr double kLongestSpan = 1e13;  // largest valid duration, microseconds: four months
constexpr double kSameCycle = 0.01;    // longest pause between consecutive steps, as a share of a step

struct TimeSpan {
  double from = 0, to = 0;  // beginning and end, microseconds
  double length() const { return to - from; }
};

/// A kernel or a copy, and the host call that launched it.
struct DeviceEvent {
  TimeSpan span;
  std::int64_t call = 0;
};

bool is_collective(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<std::string_view, 5> kLibraries{"nccl", "rccl", "mscclpp", "nvshmem", "deep_ep"};
  return std::ranges::any_of(kLibraries, [&](std::string_view one) { return name.find(one) != std::string::npos; });
}

/// Sorts spans, and merges overlapping ones.
std::vector<TimeSpan> merged(std::vector<TimeSpan> spans) {
  std::ranges::sort(spans, {}, &TimeSpan::from);
  std::vector<TimeSpan> apart;
  for (const TimeSpan& span : spans) {
    if (apart.empty() || span.from > apart.back().to)
      apart.push_back(span);
    else
      apart.back().to = std::max(apart.back().to, span.to);
  }
  return apart;
}

/// Returns the time of merged spans within a window.
double covered(const std::vector<TimeSpan>& spans, const TimeSpan& window) {
  double sum = 0;
  for (auto span = std::ranges::upper_bound(spans, window.from, {}, &TimeSpan::to);
       span != spans.end() && span->from < window.to; ++span)
    sum += std::min(span->to, window.to) - std::max(span->from, window.from);
  return sum;
}

class TraceReader {
 public:
  /// Reads an event of the trace about steps, the device, or the host's launches.
  void take(const Json& event) {
    const auto text = [&](const char* key) {
      const auto found = event.find(key);
      return found != event.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const auto has = [&](const char* key) { return event.contains(key) && event[key].is_number(); };
    if (!has("ts") || !has("dur")) return;
    const std::string name = text("name");
    const std::string category = text("cat");
    const bool kernel = category == "kernel" || category == "Kernel";
    const bool copy =
        category == "gpu_memcpy" || category == "gpu_memset" || category == "Memcpy" || category == "Memset";
    const bool step = name.starts_with("ProfilerStep#");
    const bool call = category == "cuda_runtime" || category == "cuda_driver" || category == "Runtime";
    if (!kernel && !copy && !step && !call) return;
    const double from = event["ts"].get<double>();
    const double takes = event["dur"].get<double>();
    if (!(std::abs(from) <= kLastClock && takes >= 0 && takes <= kLongestSpan))
      throw std::runtime_error(
          fmt::format("has '{}' at {} µs for {} µs, which is not a valid time", name, from, takes));
    const TimeSpan span{from, from + takes};
    if (step) return (category == "gpu_user_annotation" ? steps_of_device_ : steps_).push_back(span);
    std::int64_t number = 0;
    if (const auto args = event.find("args"); args != event.end() && args->is_object()) {
      const auto found = args->find("correlation");
      if (found != args->end() && found->is_number_integer()) number = found->get<std::int64_t>();
    }
    if (call) {
      if (number != 0) begun_at_.emplace(number, from);
      return;
    }
    events_.push_back({span, number});
    all_.push_back(span);
    if (copy || !is_collective(name)) computing_.push_back(span);
  }

  ProfiledStep mean_step() {
    if (steps_.empty()) throw std::runtime_error("has no ranges called ProfilerStep#N");
    if (all_.empty()) throw std::runtime_error("has no kernels of a device");
    all_ = merged(std::move(all_));
    computing_ = merged(std::move(computing_));
    std::ranges::sort(steps_, {}, &TimeSpan::from);
    ProfiledStep mean{.step = 0.0, .idle = 0.0, .steps = steps_.size()};
    const double part = kTraceMicrosecond / static_cast<double>(steps_.size());
    const auto add = [&](const TimeSpan& window) {
      const double whole = covered(all_, window);
      const double compute = covered(computing_, window);
      *mean.step += part * window.length();
      mean.computing += part * compute;
      mean.communicating += part * (whole - compute);
      *mean.idle += part * (window.length() - whole);
    };
    // A profile may contain several cycles of consecutive steps.
    for (auto first = steps_.begin(); first != steps_.end();) {
      double by_host = first->length();
      auto last = first + 1;
      for (; last != steps_.end() && last->from - last[-1].to < kSameCycle * last->length(); ++last)
        by_host += last->length();
      const double next = last == steps_.end() ? std::numeric_limits<double>::infinity() : last->from;
      const TimeSpan by_device = on_device({first->from, last[-1].to}, next);
      if (by_device.length() > by_host)
        add(by_device);
      else
        std::for_each(first, last, add);
      first = last;
    }
    return mean;
  }

 private:
  /// Returns the span of the device's work for steps that the host ran in `window`. Uses the trace's marks; or else all
  /// work launched in the window; or, if the trace has no launches, all later work without a longer pause than in the
  /// window.
  TimeSpan on_device(const TimeSpan& window, double next) const {
    TimeSpan whole{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    const auto include = [&](const TimeSpan& span) {
      whole = {std::min(whole.from, span.from), std::max(whole.to, span.to)};
    };
    for (const TimeSpan& step : steps_of_device_) {
      if (step.from >= window.from && step.from < next) include(step);
    }
    if (whole.length() > 0) return whole;
    for (const DeviceEvent& event : events_) {
      const auto begun = begun_at_.find(event.call);
      if (begun != begun_at_.end() && begun->second >= window.from && begun->second < window.to) include(event.span);
    }
    if (whole.length() > 0) return whole;
    double longest = 0;
    for (auto span = std::ranges::lower_bound(all_, window.from, {}, &TimeSpan::from);
         span != all_.end() && span->from < next; ++span) {
      const double pause = span->from - whole.to;
      if (span->from < window.to && std::isfinite(pause)) longest = std::max(longest, pause);
      if (span->from >= window.to && !(pause <= longest)) break;
      include(*span);
    }
    return whole;
  }

  std::vector<TimeSpan> steps_, steps_of_device_, all_, computing_;
  std::vector<DeviceEvent> events_;
  std::unordered_map<std::int64_t, double> begun_at_;  ///< date of the host's call, by correlation number
};

}  // namespace

std::optional<ProfiledStep> profile_of_trace(const std::string& text) {
  TraceReader reader;
  constexpr int kDepthOfEvents = 2;
  // Drops events after reading them, because a trace may have millions.
  const auto keep = [&](int depth, Json::parse_event_t what, const Json& parsed) {
    if (depth != kDepthOfEvents || what != Json::parse_event_t::object_end) return true;
    reader.take(parsed);
    return false;
  };
  const Json trace = Json::parse(text, keep, false);
  if (trace.is_discarded() || !trace.is_object() || !trace.contains("traceEvents")) return std::nullopt;
  return reader.mean_step();
}

}  // namespace dadsim::formats
