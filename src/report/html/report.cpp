#include "report/html/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "report/document/document_json.hpp"
#include "report/run/result_document.hpp"
#include "report/text/json_values.hpp"
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

Json spans_of(const std::vector<Span>& spans) {
  Json json = Json::array();
  for (const Span& span : spans) json.push_back(Json::array({span.begin, span.end, span.label}));
  return json;
}

/// Returns "worker 3 (gpu-3)" for "worker 3 (gpu-3) compute".
std::string name_of_node(const std::string& track) {
  const std::size_t bracket = track.rfind(')');
  return bracket == std::string::npos ? track.substr(0, track.rfind(' ')) : track.substr(0, bracket + 1);
}

Json play_of(const TracedStep& traced) {
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
  Json json{{"step", traced.number},
            {"cold", traced.cold},
            {"seconds", number(timeline.seconds)},
            {"units", kUnits},
            {"left_out", std::max(all, timeline.workers) - shown.size()}};
  Json& labels = json["labels"] = Json::array();
  for (const Timeline::Label& label : timeline.labels) labels.push_back(label.name);
  Json& lanes = json["nodes"] = Json::array();
  for (const std::int32_t number : shown) {
    const Node& node = nodes.at(number);
    lanes.push_back({{"name", node.name},
                     {"computing", spans_of(joined(node.lanes[computing]))},
                     {"waiting", spans_of(joined(node.lanes[waiting]))},
                     {"sending", spans_of(joined(node.lanes[sending]))},
                     {"receiving", spans_of(joined(node.lanes[receiving]))}});
  }
  return json;
}

/// Returns JSON of the steps that a page animates: one per run, on warm connections if possible; null for a run without
/// a timeline. Contains the computations, waits, and sent and received messages of the first nodes and of the last
/// node. Empty if no run has a timeline.
std::string timelines_for_page(const Result& result) {
  Json json = Json::array();
  bool any = false;
  for (const RunResult& run : result.runs) {
    const auto warm = std::ranges::find_if(run.traced, [](const TracedStep& step) { return !step.cold; });
    const auto chosen = warm != run.traced.end() ? warm : run.traced.begin();
    const bool there = chosen != run.traced.end() && chosen->timeline && chosen->timeline->seconds > 0;
    json.push_back(there ? play_of(*chosen) : Json(nullptr));
    any = any || there;
  }
  return any ? one_line(json) : std::string();
}

/// Maps values to levels 0 … 255, with `darkest` at 0 and `brightest` at 255.
Json levels(const std::vector<float>& pixels, float darkest, float brightest) {
  constexpr float kLevels = 255;
  const float scale = brightest > darkest ? kLevels / (brightest - darkest) : 0.0F;
  Json all = Json::array();
  for (const float pixel : pixels)
    all.push_back(static_cast<int>(std::lround(std::clamp((pixel - darkest) * scale, 0.0F, kLevels))));
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

/// Returns JSON of the image that messages reveal best, per run, with its reconstruction. Grey levels or colours range
/// from 0, the original's darkest, to 255, its brightest. Empty if no run has such an image.
std::string pictures_for_page(const Result& result) {
  Json pictures = Json::array();
  for (std::size_t run = 0; run < result.runs.size(); ++run) {
    const step::AdversaryLeak* most = shown_most(result.runs[run]);
    if (most == nullptr) continue;
    const step::ShownImage& image = *most->best_image;
    const bool drawn = image.shape.channels == 1 || image.shape.channels == 3;
    if (!drawn || image.original.empty() || image.shown.size() != image.original.size()) continue;
    const auto [darkest, brightest] = std::ranges::minmax(image.original);
    pictures.push_back({{"run", run},
                        {"adversary", spec::to_string(most->adversary)},
                        {"step", image.step},
                        {"site", image.site},
                        {"sample", image.sample},
                        {"share", number(image.share)},
                        {"height", image.shape.height},
                        {"width", image.shape.width},
                        {"channels", image.shape.channels},
                        {"original", levels(image.original, darkest, brightest)},
                        {"shown", levels(image.shown, darkest, brightest)}});
  }
  return pictures.empty() ? std::string() : pictures.dump();
}

/// Returns the picture without the XML declaration and document type, which HTML does not have.
std::string_view from_svg_on(std::string_view picture) {
  const std::size_t start = picture.find("<svg");
  return start == std::string_view::npos ? std::string_view() : picture.substr(start);
}

}  // namespace

std::string to_html(const Result& result, const std::string& platform_svg, const Retiming& retiming,
                    const About& about) {
  const bool fitted = !retiming.runs.empty() || retiming.why_not;
  const Document document = document_of(result);
  return make_page(PageKind::run, {result.scenario_name,
                                   verdict(document),
                                   one_line(in_json(document)) + '\n',
                                   from_svg_on(platform_svg),
                                   {{"retiming", fitted ? to_json(retiming) : ""},
                                    {"timelines", timelines_for_page(result)},
                                    {"pictures", pictures_for_page(result)},
                                    {"charts", charts_for_page(document)},
                                    {"document", document_in_words(document)},
                                    {"about", to_json(about)}}});
}

}  // namespace dadsim::report
