#include "sim/step/step_without.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include "sim/step/replay.hpp"
#include "sim/step/steady_state.hpp"
#include "sim/step/steps_by_flow.hpp"

namespace dadsim::sim {
namespace {

constexpr double kRounding = 2e-6;  // difference that counts as equal, as a share of a step

}  // namespace

void hold_to_savings(const SecondsWithout& without, step::StepTiming& timing) {
  const auto cause_of = [&](const step::Bound& bound) -> const std::optional<double>* {
    if (bound.kind == "compute") return &without.computing;
    if (bound.kind == "framework") return &without.framework;
    const bool of_links = bound.kind == "bandwidth" || bound.kind == "latency" || bound.kind == "queueing";
    return of_links ? &without.network : nullptr;
  };
  double overlap = 0;
  for (const std::optional<double>* cause : {&without.computing, &without.network, &without.framework}) {
    if (!*cause) continue;
    double on_path = 0;
    for (const step::Bound& bound : timing.bounds) on_path += cause_of(bound) == cause ? bound.seconds : 0;
    double saved = std::clamp(timing.seconds - **cause, 0.0, on_path);
    if (on_path - saved <= kRounding * timing.seconds) saved = on_path;
    for (step::Bound& bound : timing.bounds) {
      if (cause_of(bound) == cause) bound.seconds *= saved / on_path;
    }
    overlap += on_path - saved;
  }
  if (overlap > 0) timing.bounds.push_back({"", "overlap", overlap});
  std::erase_if(timing.bounds, [](const step::Bound& bound) { return !(bound.seconds > 0); });
  for (step::Bound& bound : timing.bounds) bound.share = bound.seconds / timing.seconds;
  std::ranges::stable_sort(timing.bounds, std::greater(), &step::Bound::seconds);
}

void hold_to_savings(SecondsWithout without, double seconds, step::StepTiming& timing) {
  for (std::optional<double>* one : {&without.computing, &without.network, &without.framework}) {
    if (*one) **one *= timing.seconds / seconds;
  }
  hold_to_savings(without, timing);
}

void weigh_first_step(StepWithout& without, double cold, double warm, double times) {
  if (!(times > 1)) return;
  for (const auto cause : {&SecondsWithout::computing, &SecondsWithout::network, &SecondsWithout::framework}) {
    if (!(without.cold.*cause) || !(without.seconds.*cause)) continue;
    double& of_first = *(without.cold.*cause);
    double& of_others = *(without.seconds.*cause);
    if (of_first > cold) {
      of_others += (of_first - cold) / (times - 1);
    } else if (of_others > warm) {
      of_first += (of_others - warm) * (times - 1);
    }
  }
}

std::pair<double, double> seconds_now(const Nodes& nodes, Connections& connections,
                                      const collectives::RankLayout& layout, const schedule::Schedule& schedule,
                                      const std::vector<double>& slowdown) {
  StepReplayer replayer(nodes, connections.network(), connections);
  const auto has_tcp = [&] {
    return std::ranges::any_of(connections.network().links(),
                               [](const NetworkLink& link) { return link.use.transport == spec::Transport::tcp; });
  };
  if (!has_barrier(schedule)) {
    const double settled = until_settled(replayer, layout, schedule, connections, has_tcp(), slowdown).timing().seconds;
    return {settled, settled};
  }
  const bool are_new = connections.messages() == 0;
  const double first = replayer.replay(layout, schedule, slowdown).seconds;
  if (!are_new || !has_tcp()) return {first, first};
  return {replayer.replay(layout, schedule, slowdown).seconds, first};
}

InstantNodes::InstantNodes(const Nodes& as) : nodes(as) {
  std::map<std::tuple<std::string, double, double>, const spec::DeviceSpec*> known;
  for (const spec::DeviceSpec*& device : nodes.devices) {
    const auto [made, is_new] = known.try_emplace({device->name, device->slowdown, device->step_seconds}, nullptr);
    if (is_new) {
      made->second = devices_.emplace_back(std::make_unique<spec::DeviceSpec>(*device)).get();
      devices_.back()->slowdown *= kNoTime;
    }
    device = made->second;
  }
}

SecondsWithout without_by_closed_form(const Nodes& nodes, Interconnect& network, const collectives::RankLayout& layout,
                                      const schedule::Schedule& schedule, const std::vector<double>& slowdown,
                                      double seconds) {
  StepsByFlow closed(nodes, network, true);
  FlowStep step;
  if (closed.time(layout, schedule, slowdown, step)) return {};
  SecondsWithout without = closed.without(slowdown);
  for (std::optional<double>* one : {&without.computing, &without.framework}) {
    if (*one) **one *= seconds / step.timing.seconds;
  }
  return without;
}

}  // namespace dadsim::sim
