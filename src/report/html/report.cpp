#include "report/html/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "report/run/result_document.hpp"
#include "spec/names.hpp"

namespace dadsim::report {
namespace {

using step::Timeline;

constexpr std::size_t kMostNodes = 16;    // largest number of nodes in an animated step
constexpr double kUnits = 20'000;         // units per step; finer than the thousandth of a screen's width that is
                                          // visible
constexpr std::size_t kMostSpans = 1500;  // largest number of spans per node and activity; closer spans are merged

struct Span {
  std::int64_t begin = 0, end = 0;  ///< units, kUnits per step
  std::int32_t label = 0;
};

/// Returns spans in order. Joins touching spans with equal labels; if there are more than kMostSpans, also spans with
/// other labels and across small gaps.
std::vector<Span> joined(std::vector<Span> spans) {
  std::ranges::sort(spans, {}, [](const Span& span) { return std::pair(span.begin, span.end); });
  for (std::int64_t gap = 0;; gap = 2 * gap + 4) {
    std::vector<Span> result;
    for (const Span& span : spans) {
      const bool same = !result.empty() && (result.back().label == span.label || gap > 0);
      if (same && span.begin <= result.back().end + gap) {
        result.back().end = std::max(result.back().end, span.end);
      } else {
        result.push_back(span);
      }
    }
    if (result.size() <= kMostSpans) return result;
  }
}

using Numbers = std::vector<std::int64_t>;

std::vector<Numbers> numbers_of(const std::vector<Span>& spans) {
  std::vector<Numbers> all;
  for (const Span& span : spans) all.push_back({span.begin, span.end, span.label});
  return all;
}

/// Returns "worker 3 (gpu-3)" for "worker 3 (gpu-3) compute".
std::string name_of_node(const std::string& track) {
  const std::size_t bracket = track.rfind(')');
  return bracket == std::string::npos ? track.substr(0, track.rfind(' ')) : track.substr(0, bracket + 1);
}

void add_play(TableRow row, std::size_t run, const TracedStep& traced) {
  const Timeline& timeline = *traced.timeline;
  enum Lane : std::size_t { computing, waiting, sending, receiving };
  struct Node {
    std::string name;
    std::array<std::vector<Span>, 4> lanes;
  };
  std::map<std::int32_t, Node> nodes;
  for (const Timeline::Track& track : timeline.tracks) {
    if (track.node >= 0 && track.stream != Timeline::Stream::link)
      nodes.try_emplace(track.node, Node{name_of_node(track.name), {}});
  }
  std::vector<std::int32_t> shown;
  for (const auto& [node, what] : nodes) shown.push_back(node);
  const std::size_t all = shown.size();
  // The aggregator, if there is one, is the last node.
  if (all > kMostNodes) shown.erase(shown.begin() + kMostNodes - 1, shown.end() - 1);
  for (const Timeline::Span& span : timeline.spans) {
    const Timeline::Track& track = timeline.tracks[static_cast<std::size_t>(span.track)];
    const auto node = nodes.find(track.node);
    if (node == nodes.end() || track.stream == Timeline::Stream::link) continue;
    const Timeline::Label& label = timeline.labels[static_cast<std::size_t>(span.label)];
    const Lane lane = track.stream == Timeline::Stream::send          ? sending
                      : track.stream == Timeline::Stream::receive     ? receiving
                      : label.activity == Timeline::Activity::waiting ? waiting
                                                                      : computing;
    const auto at = [&](double seconds) { return std::llround(kUnits * seconds / timeline.seconds); };
    const std::int64_t begin = at(span.begin);
    node->second.lanes.at(lane).push_back(
        {begin, std::max<std::int64_t>(begin + 1, at(span.begin + span.seconds)), span.label});
  }
  std::vector<std::string> labels;
  for (const Timeline::Label& label : timeline.labels) labels.push_back(label.name);
  const auto lane = [&](Lane which) {
    return [&nodes, which](std::int32_t number) { return numbers_of(joined(nodes.at(number).lanes.at(which))); };
  };
  row.add("run", run, "step", traced.number, "cold", traced.cold, "seconds", timeline.seconds, "units", kUnits,
          "left_out", std::max(all, timeline.workers) - shown.size(), "labels", labels, "nodes",
          list_of(
              shown, "name", [&](std::int32_t number) { return nodes.at(number).name; }, "computing", lane(computing),
              "waiting", lane(waiting), "sending", lane(sending), "receiving", lane(receiving)));
}

/// Returns the steps that a page animates: one per run with a timeline, on warm connections if possible. Contains the
/// computations, waits, and sent and received messages of the first nodes and of the last node.
DocumentTable timelines_of(const Result& result) {
  DocumentTable plays;
  for (std::size_t run = 0; run < result.runs.size(); ++run) {
    const std::vector<TracedStep>& traced = result.runs[run].traced;
    const auto warm = std::ranges::find_if(traced, [](const TracedStep& step) { return !step.cold; });
    const auto chosen = warm != traced.end() ? warm : traced.begin();
    if (chosen != traced.end() && chosen->timeline && chosen->timeline->seconds > 0)
      add_play(plays.add_row(), run, *chosen);
  }
  return plays;
}

/// Maps values to levels 0 … 255, with `darkest` at 0 and `brightest` at 255.
Numbers levels(const std::vector<float>& pixels, float darkest, float brightest) {
  constexpr float kLevels = 255;
  const float scale = brightest > darkest ? kLevels / (brightest - darkest) : 0.0F;
  Numbers all;
  for (const float pixel : pixels) all.push_back(std::lround(std::clamp((pixel - darkest) * scale, 0.0F, kLevels)));
  return all;
}

/// Returns the leak to the adversary that reconstructs the best image.
const step::AdversaryLeak* shown_most(const RunResult& run) {
  const step::AdversaryLeak* most = nullptr;
  if (!run.leak) return most;
  for (const step::AdversaryLeak& one : run.leak->adversaries) {
    if (one.best_image && (most == nullptr || one.best_image->share > most->best_image->share)) most = &one;
  }
  return most;
}

/// Returns the image that messages reveal best, per run, with its reconstruction. Grey levels or colours range from 0,
/// the original's darkest, to 255, its brightest.
DocumentTable pictures_of(const Result& result) {
  DocumentTable pictures;
  for (std::size_t run = 0; run < result.runs.size(); ++run) {
    const step::AdversaryLeak* most = shown_most(result.runs[run]);
    if (most == nullptr) continue;
    const step::ShownImage& image = *most->best_image;
    const bool drawn = image.shape.channels == 1 || image.shape.channels == 3;
    if (!drawn || image.original.empty() || image.shown.size() != image.original.size()) continue;
    const auto [darkest, brightest] = std::ranges::minmax(image.original);
    pictures.add_row().add("run", run, "adversary", spec::to_string(most->adversary), "step", image.step, "site",
                           image.site, "sample", image.sample, "share", image.share, "height", image.shape.height,
                           "width", image.shape.width, "channels", image.shape.channels, "original",
                           levels(image.original, darkest, brightest), "shown",
                           levels(image.shown, darkest, brightest));
  }
  return pictures;
}

/// Returns the data of the sliders, with weights of ten digits, which change a time by less than a part in a million.
DocumentTable object_of(const Retiming& retiming) {
  using Knob = Retiming::Knob;
  using Run = Retiming::Run;
  const auto weights = [](const Run& run) {
    std::vector<double> rounded;
    for (const double weight : run.weights) {
      const double unit = weight == 0 ? 1 : std::pow(10, 9 - std::floor(std::log10(std::abs(weight))));
      rounded.push_back(std::round(weight * unit) / unit);
    }
    return rounded;
  };
  const auto shares = [](const Run& run) {
    std::vector<Numbers> all;
    for (const auto& point : run.shares) all.emplace_back(point.begin(), point.end());
    return all;
  };
  return object_with("reach", retiming.reach, "held_out", retiming.held_out, "why_not", retiming.why_not, "kinds",
                     retiming.kinds, "knobs",
                     list_of(
                         retiming.knobs, "what", [](const Knob& knob) { return to_string(knob.what); }, "name",
                         &Knob::name, "least", &Knob::least, "most", &Knob::most),
                     "points", retiming.points, "runs",
                     list_of(retiming.runs, "run", &Run::run, "worst_error", &Run::worst_error, "median_error",
                             &Run::median_error, "metric", &Run::metric, "weights", weights, "shares", shares));
}

}  // namespace

void add_page_data(Document& document, const Result& result, const std::string& platform_svg,
                   const Retiming& retiming) {
  // HTML has no XML declaration and document type.
  document.picture = platform_svg.substr(std::min(platform_svg.find("<svg"), platform_svg.size()));
  if (!retiming.runs.empty() || retiming.why_not) document.add_for_page("retiming", object_of(retiming));
  if (auto plays = timelines_of(result); !plays.rows.empty()) document.add_for_page("timelines", std::move(plays));
  if (auto pictures = pictures_of(result); !pictures.rows.empty())
    document.add_for_page("pictures", std::move(pictures));
}

std::string to_html(const Result& result, const std::string& platform_svg, const Retiming& retiming,
                    const About& about) {
  Document document = document_of(result);
  add_page_data(document, result, platform_svg, retiming);
  return to_html(document, about);
}

}  // namespace dadsim::report
