#include "sim/step/timeline_recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace dadsim::sim {
namespace {

constexpr std::size_t kMostWorkers = 64;         // largest number of workers in a timeline; more do not fit on a screen
constexpr std::size_t kMostLinkTracks = 256;     // largest number of links in a timeline
constexpr std::size_t kMostEntries = 4'000'000;  // largest nodes × tasks of which all nodes are recorded at first
constexpr double kShareOfLinks = 0.25;           // share of the spans reserved for links

/// Returns `count` of the numbers 0 … all−1, evenly spaced, including the first and the last.
std::vector<std::size_t> evenly(std::size_t count, std::size_t all) {
  std::vector<std::size_t> chosen;
  count = std::min(count, all);
  for (std::size_t i = 0; i < count; ++i) chosen.push_back(count == 1 ? 0 : i * (all - 1) / (count - 1));
  return chosen;
}

std::string with_layer(const std::string& layer, const std::string& words, bool behind) {
  if (layer.empty()) return words;
  return behind ? words + " " + layer : layer + " " + words;
}

}  // namespace

TimelineRecorder::TimelineRecorder(const Nodes& nodes, const schedule::Schedule& schedule, double begin,
                                   std::size_t most_spans)
    : nodes_(nodes), schedule_(schedule), parts_(schedule, nodes.workers), begin_(begin), most_spans_(most_spans) {
  const std::size_t count = parts_.nodes();
  streams_.resize(count);
  const bool all = count * schedule_.tasks.size() <= kMostEntries;
  keeps_.assign(count, all);
  for (const std::size_t worker : evenly(kMostWorkers, schedule_.workers)) keeps_[worker] = true;
  if (schedule_.uses_aggregator) keeps_.back() = true;
}

void TimelineRecorder::add(std::size_t node, std::size_t task, double begin, double end, std::size_t track) {
  if (!keeps_[node]) return;
  std::vector<RecordedEntry>& entries = streams_[node].entries[track];
  // Begins a message after earlier messages in its direction.
  if (!entries.empty()) begin = std::max(begin, entries.back().end);
  if (end > begin) entries.push_back({static_cast<std::int32_t>(task), begin, end});
}

std::vector<step::Timeline::Label> TimelineRecorder::labels() const {
  using Activity = step::Timeline::Activity;
  std::vector<step::Timeline::Label> labels;
  for (const schedule::Task& task : schedule_.tasks) {
    if (const auto* compute = std::get_if<schedule::ComputeTask>(&task.what)) {
      const std::string phase = to_string(compute->phase);
      labels.push_back({Activity::computing, with_layer(task.layer, phase, false), task.layer, phase, ""});
    } else if (const auto* collective = std::get_if<schedule::CollectiveTask>(&task.what)) {
      const std::string kind = to_string(collective->kind);
      const bool star = is_star(collective->kind);
      const std::string algorithm = star ? "flat" : collective->algorithm;
      labels.push_back({Activity::communicating, fmt::format("{} ({})", with_layer(task.layer, kind, true), algorithm),
                        task.layer, kind, algorithm});
    } else {
      step::Timeline::Label label =
          labels.at(static_cast<std::size_t>(std::get<schedule::WaitTask>(task.what).collective));
      label.activity = Activity::waiting;
      label.name = "wait for " + label.name;
      labels.push_back(std::move(label));
    }
  }
  labels.push_back({Activity::carrying, "carrying", "", "", ""});
  return labels;
}

double TimelineRecorder::amount(std::size_t node, std::size_t task) const {
  const auto& what = schedule_.tasks[task].what;
  const bool worker = parts_.is_worker(node);
  if (const auto* compute = std::get_if<schedule::ComputeTask>(&what)) return compute->flops[parts_.entry(node)];
  if (const auto* collective = std::get_if<schedule::CollectiveTask>(&what)) {
    if (collective->kind == step::CollectiveKind::broadcast) return collective->bytes[0];
    if (worker) return collective->bytes[parts_.entry(node)];
    double all = 0;  // bytes that the aggregator receives from all workers
    for (std::size_t from = 0; from < schedule_.workers; ++from) all += collective->bytes[from];
    return all;
  }
  return 0;
}

std::vector<std::size_t> TimelineRecorder::workers_to_show() const {
  std::size_t most = 1;
  for (std::size_t worker = 0; worker < schedule_.workers; ++worker) {
    std::size_t own = 0;
    for (const auto& entries : streams_[worker].entries) own += entries.size();
    most = std::max(most, own);
  }
  const double budget = (1 - kShareOfLinks) * static_cast<double>(most_spans_);
  const auto fit = static_cast<std::size_t>(std::max(1.0, budget / static_cast<double>(most)));
  std::vector<std::size_t> chosen = evenly(std::min(kMostWorkers, fit), schedule_.workers);
  std::erase_if(chosen, [this](std::size_t worker) { return !keeps_[worker]; });
  if (keeps_[last_] && std::ranges::count(chosen, last_) == 0) {
    // Replaces the last worker's nearest neighbour by the last worker, unless that neighbour is the first or the last
    // of all.
    if (chosen.size() >= std::min(kMostWorkers, fit)) {
      const auto nearest = std::ranges::min_element(chosen, {}, [&](std::size_t worker) {
        const std::size_t apart = worker > last_ ? worker - last_ : last_ - worker;
        return worker == 0 || worker + 1 == schedule_.workers ? apart + schedule_.workers : apart;
      });
      *nearest = last_;
    } else {
      chosen.push_back(last_);
    }
    std::ranges::sort(chosen);
  }
  return chosen;
}

/// Returns the busiest links, in the order of the network.
std::vector<std::size_t> TimelineRecorder::links_to_show(std::size_t budget) const {
  const auto& spans = links_.spans();
  std::vector<std::pair<double, std::size_t>> busy;
  for (std::size_t link = 0; link < spans.size(); ++link) {
    double seconds = 0;
    for (const LinkTrace::TracedSpan& span : spans[link]) seconds += span.end - span.begin;
    if (seconds > 0) busy.emplace_back(-seconds, link);
  }
  std::ranges::sort(busy);
  std::vector<std::size_t> chosen;
  for (const auto& [seconds, link] : busy) {
    if (chosen.size() == kMostLinkTracks || spans[link].size() > budget) break;
    budget -= spans[link].size();
    chosen.push_back(link);
  }
  std::ranges::sort(chosen);
  return chosen;
}

step::Timeline TimelineRecorder::timeline(const Interconnect& network, const std::string& fidelity) const {
  using Stream = step::Timeline::Stream;
  step::Timeline timeline;
  timeline.seconds = seconds_;
  timeline.last = static_cast<std::int32_t>(last_);
  timeline.fidelity = fidelity;
  timeline.labels = labels();
  const auto add_span = [&](std::size_t label, double begin, double end, double amount) {
    if (begin >= seconds_) {
      ++timeline.cut;
      return;
    }
    // Cuts the last worker's last span, which may end slightly after the step because of rounding.
    const bool cut = end > seconds_ * (1 + 1e-9);
    timeline.cut += cut ? 1 : 0;
    timeline.spans.push_back({static_cast<std::int32_t>(timeline.tracks.size()) - 1, static_cast<std::int32_t>(label),
                              begin, cut ? seconds_ - begin : end - begin, amount, cut});
  };

  timeline.workers = schedule_.workers;
  std::vector<std::size_t> shown = workers_to_show();
  timeline.workers_shown = shown.size();
  if (schedule_.uses_aggregator) shown.push_back(schedule_.workers);
  for (const std::size_t node : shown) {
    const bool worker = node < schedule_.workers;
    const char* host = nodes_.hosts[worker ? node : nodes_.workers]->get_cname();
    const std::string name = worker ? fmt::format("worker {} ({})", node, host) : fmt::format("aggregator ({})", host);
    constexpr std::pair<Stream, const char*> tracks[kTracks] = {
        {Stream::compute, "compute"},
        {Stream::send, "network"},
        {Stream::send, "network, tensor group"},
        {Stream::send, "network, to later stages"},
        {Stream::send, "network, to earlier stages"},
        {Stream::send, "network, experts and parts of sequences"},
        {Stream::send, "network, to the other end of the pipeline"},
        {Stream::receive, "network, receiving"},
        {Stream::receive, "network, tensor group, receiving"},
        {Stream::receive, "network, from earlier stages"},
        {Stream::receive, "network, from later stages"},
        {Stream::receive, "network, experts and parts of sequences, receiving"},
        {Stream::receive, "network, from the other end of the pipeline"},
    };
    for (std::size_t track = 0; track < kTracks; ++track) {
      const auto& [stream, word] = tracks[track];
      const std::vector<RecordedEntry>& entries = streams_[node].entries[track];
      if (entries.empty()) continue;
      timeline.tracks.push_back({stream, static_cast<std::int32_t>(node), name + " " + word});
      for (const RecordedEntry& entry : entries) {
        const auto task = static_cast<std::size_t>(entry.task);
        add_span(task, entry.begin - begin_, entry.end - begin_, amount(node, task));
      }
    }
  }

  for (const auto& spans : links_.spans()) timeline.links += spans.empty() ? 0 : 1;
  const std::size_t left = most_spans_ > timeline.spans.size() ? most_spans_ - timeline.spans.size() : 0;
  for (const std::size_t link : links_to_show(left)) {
    ++timeline.links_shown;
    timeline.tracks.push_back({Stream::link, -1, network.links()[link].name});
    for (const LinkTrace::TracedSpan& span : links_.spans()[link]) {
      add_span(timeline.labels.size() - 1, span.begin - begin_, span.end - begin_, span.bytes);
    }
  }
  return timeline;
}

}  // namespace dadsim::sim
