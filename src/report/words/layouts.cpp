#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "report/text/seconds.hpp"
#include "report/words/kinds.hpp"
#include "support/human.hpp"

namespace dadsim::report::words {
namespace {

std::string a_layout(const Statement& layout) {
  const auto times = [&](const char* name) { return human_count(static_cast<std::int64_t>(layout.number(name))); };
  const double devices = layout.number("tensor") * layout.number("context") * layout.number("pipeline");
  std::vector<std::string> words;
  std::string replica = fmt::format("{} replica{}", times("replicas"), layout.number("replicas") == 1 ? "" : "s");
  if (devices > 1) {
    std::vector<std::string> sides;
    if (layout.number("tensor") > 1) sides.push_back(fmt::format("{} devices to a layer", times("tensor")));
    if (layout.number("context") > 1) sides.push_back(fmt::format("{} parts of a sequence", times("context")));
    if (layout.number("pipeline") > 1) {
      sides.push_back(fmt::format(
          "{} stages{}", times("pipeline"),
          layout.number("interleave") > 1 ? fmt::format(" of {} pieces", times("interleave")) : std::string()));
    }
    replica += fmt::format(" of {}", fmt::join(sides, " × "));
  }
  words.push_back(std::move(replica));
  if (layout.number("experts") > 1) words.push_back(fmt::format("experts among {} devices", times("experts")));
  words.push_back(fmt::format("micro-batches of {}", times("micro_batch")));
  if (layout.text("recompute") == "selective") words.emplace_back("attention computed again");
  if (layout.text("recompute") == "full") words.emplace_back("blocks computed again");
  if (layout.text("sharding") == "optimizer") words.emplace_back("ZeRO-1");
  if (layout.text("sharding") == "gradients") words.emplace_back("ZeRO-2");
  if (layout.text("sharding") == "parameters") words.emplace_back("ZeRO-3");
  if (layout.number("sharding_group") > 0) words.back() += fmt::format(" in groups of {}", times("sharding_group"));
  if (layout.text("schedule") == "gpipe") words.emplace_back("GPipe");
  if (layout.text("schedule") == "zb-h1") words.emplace_back("ZB-H1");
  if (layout.text("schedule") == "dualpipe-v") words.emplace_back("DualPipeV");
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string searched_where(const Statement& answer) {
  return fmt::format("{} on {} {} at {} samples a step{}", answer.subjects.at(0),
                     human_count(static_cast<std::int64_t>(answer.number("devices"))), answer.subjects.at(1),
                     human_count(static_cast<std::int64_t>(answer.number("global_batch"))),
                     answer.has("fixed") ? " with " + answer.text("fixed") : std::string());
}

/// `answer`: its part is the layout.
std::string best_layout(const Statement& answer) {
  std::string done;
  if (answer.has("tokens_per_second")) {
    done = fmt::format(", {} tokens a second", rate_in_words(answer.number("tokens_per_second")));
  } else if (answer.has("samples_per_second")) {
    done = fmt::format(", {} samples a second", rate_in_words(answer.number("samples_per_second")));
  }
  if (answer.has("utilisation"))
    done += fmt::format(" at {} of the devices' peak", human_percent(answer.number("utilisation")));
  return fmt::format("The quickest layout found for {}: {}. A step takes {}{}.", searched_where(answer),
                     in_words(answer.part()), human_seconds(answer.number("step_seconds")), done);
}

std::string layout_bound(const Statement& answer) {
  std::vector<std::string> parts;
  const auto add = [&](const char* name, const char* words) {
    constexpr double kLeast = 0.005;
    if (answer.number(name) >= kLeast) parts.push_back(fmt::format("{:.0f} % {}", 100 * answer.number(name), words));
  };
  add("computing", "computing");
  add("tensor", "sums among the devices of a layer");
  add("bubble", "the pipeline's bubble");
  add("exchange", "gradients and parameters among replicas");
  std::string text = fmt::format("Of it {}", fmt::join(parts, ", "));
  text += fmt::format("; a device needs {}", human_bytes(answer.number("bytes")));
  if (answer.number("device_bytes") > 0) text += fmt::format(" of {}", human_bytes(answer.number("device_bytes")));
  return text + '.';
}

std::string layouts_tied(const Statement& answer) {
  return fmt::format("The first {:.0f} cannot be told apart by what predictions were off elsewhere.",
                     answer.number("layouts"));
}

std::string layout_written(const Statement& answer) {
  if (answer.number("rank") == 1) return "It is the layout that the scenario has.";
  return fmt::format("The layout of the scenario is number {:.0f} of {:.0f} that were simulated, {:.1f} % slower.",
                     answer.number("rank"), answer.number("of"), 100 * answer.number("gap"));
}

std::string layout_unasked(const Statement& answer) {
  std::string gap;
  if (answer.has("gap")) {
    const double share = answer.number("gap");
    gap = fmt::format(", {:.1f} % {}", 100 * std::abs(share), share < 0 ? "quicker" : "slower");
  }
  return fmt::format("The layout of the scenario is none of these; its step takes {}{}.",
                     human_seconds(answer.number("step_seconds")), gap);
}

std::string room_of_layout(const Statement& answer) {
  return fmt::format("{} of {}", human_bytes(answer.number("bytes")), human_bytes(answer.number("device_bytes")));
}

std::string layout_unfit(const Statement& answer) {
  return fmt::format("The layout of the scenario needs {} a device, more than a margin of {:.0f} % leaves.",
                     room_of_layout(answer), 100 * answer.number("margin"));
}

/// `answer`: its part is the layout.
std::string layout_no_room(const Statement& answer) {
  return fmt::format("With more memory: {} would take about {}, and needs {}.", in_words(answer.part()),
                     human_seconds(answer.number("step_seconds")), room_of_layout(answer));
}

std::string no_layout(const Statement& answer) {
  if (answer.number("divisible") == 0 && answer.has("fixed"))
    return fmt::format("No layout has {} on {} devices ({}, {}, {} samples a step).", answer.text("fixed"),
                       human_count(static_cast<std::int64_t>(answer.number("devices"))), answer.subjects.at(1),
                       answer.subjects.at(0), human_count(static_cast<std::int64_t>(answer.number("global_batch"))));
  if (answer.number("fitting") > 0)
    return fmt::format("No layout of {} could be simulated: {:.0f} divide evenly, and {:.0f} fit.",
                       searched_where(answer), answer.number("divisible"), answer.number("fitting"));
  return fmt::format(
      "No layout of {} fits: {:.0f} divide evenly, and none needs less than {} with a margin of {:.0f} %.",
      searched_where(answer), answer.number("divisible"), human_bytes(answer.number("device_bytes")),
      100 * answer.number("margin"));
}

std::string layouts_searched(const Statement& answer) {
  return fmt::format(
      "{} layouts divide evenly, {} fit the memory with a margin of {:.0f} %, and {} were simulated: those that a "
      "closed "
      "form has as the quickest. What is not computing is divided as the closed form has it.",
      human_count(static_cast<std::int64_t>(answer.number("divisible"))),
      human_count(static_cast<std::int64_t>(answer.number("fitting"))), 100 * answer.number("margin"),
      human_count(static_cast<std::int64_t>(answer.number("simulated"))));
}

std::string layout_doubt(const Statement& answer) {
  return fmt::format(
      "By flow, which overlooks what collectives at the same time take from one another, that may be wrong by {:.0f} "
      "%.",
      100 * answer.number("share"));
}

std::string layouts_failed(const Statement& answer) {
  return fmt::format("{:.0f} of those that were to be simulated could not be: {}.", answer.number("layouts"),
                     answer.text("fault"));
}

constexpr std::array kLayouts{
    StatementKind{"layout", "how a network is divided among devices: a part of sentences", a_layout},
    StatementKind{"best-layout", "what a search for layouts found: the layout is a part of it", best_layout},
    StatementKind{"layout-bound", "what the step of the quickest layout goes into, and the memory that it needs",
                  layout_bound},
    StatementKind{"layout-doubt", "by how much the step of the quickest layout may be wrong", layout_doubt},
    StatementKind{"layouts-failed", "how many layouts could not be simulated, and why one of them", layouts_failed},
    StatementKind{"layouts-tied", "the quickest layouts cannot be told apart", layouts_tied},
    StatementKind{"layout-written", "how the layout of the scenario stands to the quickest", layout_written},
    StatementKind{"layout-unasked", "the layout of the scenario is none of those that are asked for", layout_unasked},
    StatementKind{"layout-unfit", "the layout of the scenario does not fit with the margin", layout_unfit},
    StatementKind{"layout-no-room", "a layout would be quicker if it fitted: it is a part of the sentence",
                  layout_no_room},
    StatementKind{"no-layout", "no layout fits", no_layout},
    StatementKind{"layouts-searched", "how many layouts were looked at", layouts_searched},
};

}  // namespace

std::span<const StatementKind> of_layouts() { return kLayouts; }

}  // namespace dadsim::report::words
