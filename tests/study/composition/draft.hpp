#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocols/registry.hpp"

namespace dadsim::study {

using DraftAttributes = std::vector<std::pair<std::string, std::string>>;

/// A small scenario to which features are added: four sites around a hub, each training on ten digits. A feature
/// changes the parts that it needs.
struct Draft {
  /// Command that runs the draft.
  enum class Question { run, plan, sweep, explain, compare };

  std::string method;
  DraftAttributes run = {};       ///< further attributes of <run>, including parameters
  std::string inside_run = {};    ///< elements inside <run>
  DraftAttributes training = {};  ///< attributes of <training>; each replaces the attribute of the same name
  std::string optimizer = {};     ///< XML element; empty: the optimizer that the method needs
  std::string schedule = {};      ///< XML element
  std::string first_layers = {};  ///< XML elements before the dense layers
  bool symbols = false;           ///< data are sequences of symbols instead of digits
  std::string inside_data = {}, inside_platform = {}, inside_network = {};
  DraftAttributes network = {}, timed_as = {}, workers = {}, worker = {};
  std::string device = "a100-sxm4-80";  ///< device of the sites
  std::string beside = {};              ///< further XML elements of the scenario
  bool learns = true;                   ///< false: the scenario has <timing-only>
  bool times_alone = false;             ///< the command gets --timing-only
  std::string split = {};               ///< XML element
  Question question = Question::run;

  /// Sets or replaces an attribute.
  static void set(DraftAttributes& attributes, const std::string& name, const std::string& value);
  /// Prints a scenario file; its paths are relative to its own folder.
  std::string xml() const;
};

/// Attributes of <timed-as> that require a network of repeated blocks.
inline constexpr std::string_view kOfBlocks[] = {"tensor", "pipeline", "context", "offload", "adapters", "recompute"};

inline std::string text_of(const DraftAttributes& attributes) {
  std::string text;
  for (const auto& [name, value] : attributes) text += fmt::format(" {}=\"{}\"", name, value);
  return text;
}

/// Sets the parameters that determine a run's length to the minimum that the method accepts.
inline void shorten(const methods::MethodInfo& info, DraftAttributes& run) {
  const bool flare = info.name == "flare";  // other methods choose among numbers of rounds by `window`
  for (const auto& [name, value] : {std::pair{"rounds", "2"},
                                    {"updates", "6"},
                                    {"duration", "20"},
                                    {"interval", "1"},
                                    {"period", "2"},
                                    {"fragments", "2"},
                                    {"samples", "10"},
                                    {flare ? "window" : "patience", "2"},
                                    {"patience", "2"}}) {
    const auto parameter = std::ranges::find(info.parameters, name, &spec::ParameterSpec::name);
    const bool is_number = parameter != info.parameters.end() && parameter->type != spec::ParameterSpec::Type::choice;
    if (is_number && std::ranges::find(run, name, &std::pair<std::string, std::string>::first) == run.end())
      run.emplace_back(name, value);
  }
}

inline const char* optimizer_of(const methods::MethodInfo& info) {
  return info.optimizer == methods::Needs::plain_sgd ? "<sgd learning-rate=\"0.05\"/>"
         : info.optimizer == methods::Needs::muon    ? "<muon/>"
                                                     : "<adam/>";
}

inline void Draft::set(DraftAttributes& attributes, const std::string& name, const std::string& value) {
  std::erase_if(attributes, [&](const auto& one) { return one.first == name; });
  attributes.emplace_back(name, value);
}

inline std::string Draft::xml() const {
  const methods::MethodInfo* info = protocols::find_method(method);
  DraftAttributes asked_run = run, asked_training{{"batch", "5"}, {"epochs", "2"}}, asked_timed_as = timed_as;
  for (const auto& [name, value] : training) set(asked_training, name, value);
  if (info != nullptr) shorten(*info, asked_run);
  const bool divided = std::ranges::any_of(
      timed_as, [](const auto& one) { return std::ranges::find(kOfBlocks, one.first) != std::end(kOfBlocks); });
  if ((!learns || divided) &&
      std::ranges::find(timed_as, "workload", &std::pair<std::string, std::string>::first) == timed_as.end())
    asked_timed_as.insert(asked_timed_as.begin(), {"workload", "bert-base"});
  if (!asked_timed_as.empty() &&
      std::ranges::find(timed_as, "batch", &std::pair<std::string, std::string>::first) == timed_as.end())
    asked_timed_as.emplace_back("batch", "4");
  const std::string needed = optimizer.empty() && info != nullptr ? optimizer_of(*info) : optimizer;

  std::string text =
      fmt::format(R"(<scenario name="composition" seed="1">
  <platform><federation><sites name="s" count="8" up="20Mbps" down="50Mbps" latency="5ms"/></federation>{}</platform>
  <network{}>{}</network>
  <workers{}><worker hosts="s-[1-4]" device="{}"{}/><aggregator host="hub" device="xeon-8380"/></workers>
)",
                  inside_platform, text_of(network), inside_network, text_of(workers), device, text_of(worker));
  // With <timing-only>, data and network that a feature requires stay in the draft, so that the check refuses them.
  const bool wants_data = learns || symbols || !inside_data.empty() || !split.empty();
  if (wants_data) {
    text += fmt::format("  <data>{}{}{}</data>\n",
                        symbols ? R"(<grammar train="40" test="20" length="6"/>)" : R"(<digits train="40" test="20"/>)",
                        split, inside_data);
  }
  if (learns || symbols || !first_layers.empty()) {
    text += symbols ? R"(  <model><embedding units="4"/><dense units="21" positions="each"/></model>
)"
                    : fmt::format("  <model>{}<dense units=\"6\"/><dense units=\"10\"/></model>\n", first_layers);
  }
  if (!learns) text += "  <timing-only/>\n";
  text += fmt::format("  <training{}>{}{}</training>\n", text_of(learns ? asked_training : training), needed, schedule);
  if (!asked_timed_as.empty()) text += fmt::format("  <timed-as{}/>\n", text_of(asked_timed_as));
  text += fmt::format("  <run algorithm=\"{}\"{}>{}</run>\n", method, text_of(asked_run), inside_run);
  if (question == Question::plan)
    text += R"(  <goal within="100s"><allow path="platform.federation.sites.up" values="10Mbps 20Mbps"/></goal>
)";
  if (question == Question::sweep)
    text += R"(  <sweep><vary path="platform.federation.sites.up" values="10Mbps 20Mbps"/></sweep>
)";
  return text + beside + "</scenario>\n";
}

}  // namespace dadsim::study
