#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/gossip/graph.hpp"
#include "methods/idle_parameters.hpp"
#include "protocols/local/local_rounds.hpp"
#include "protocols/local/outer_rule.hpp"
#include "protocols/methods.hpp"
#include "protocols/protocol.hpp"
#include "spec/islands.hpp"

// The methods of the family, each a row of choices.

namespace dadsim::protocols {
namespace {

/// A method that takes local steps in rounds, as a table row of default choices. A run may replace each.
struct LocalMethod {
  std::string name;
  /// Values that differ from the family's defaults (LocalRounds, outer::parameters): at least `period` and `outer`.
  spec::ParameterValues defaults;
  bool averages_moments = false;  ///< true: has parameters for means of Adam's moments, and requires Adam
  bool by_fragments = false;      ///< true: has parameters for fragments, but none for encoding, receivers or the end
                                  ///< of rounds
};

bool has_partners(const spec::ParameterValues& values) {
  const SentTo to = LocalRounds::kTo.of(values);
  return to == SentTo::pair || to == SentTo::graph;
}

bool needs_server(const spec::ParameterValues& values) {
  const SentTo to = LocalRounds::chosen(values, LocalRounds::kTo);
  return to == SentTo::aggregator || to == SentTo::store;
}

const spec::ParameterSpec& parameter_of(const std::vector<spec::ParameterSpec>& parameters, const char* name) {
  return *std::ranges::find(parameters, name, &spec::ParameterSpec::name);
}

/// Returns faults of a run's outer rule. `parameters`: the method's parameters; `partners`: each worker has its own θ.
RunFaults outer_faults(const spec::ParameterValues& values, const std::vector<spec::ParameterSpec>& parameters,
                       bool partners) {
  std::vector<methods::ActsBeside> conditions;
  for (const spec::ParameterSpec& parameter : outer::parameters("")) {
    if (parameter.name == outer::kRule.name) continue;
    std::vector<std::string> with;
    for (const outer::RuleInfo& rule : outer::rules()) {
      if (std::ranges::find(rule.parameters, parameter.name) != rule.parameters.end()) with.emplace_back(rule.name);
    }
    conditions.push_back({parameter_of(parameters, parameter.name.c_str()), parameter_of(parameters, outer::kRule.name),
                          std::move(with)});
  }
  RunFaults faults = methods::faults_of_idle_parameters(values, conditions);
  if (!partners && outer::make(values, 1).is_of_groups) {
    faults.push_back(
        Fault{fmt::format("outer=\"{}\" needs workers with partners", outer::kRule.of(values)),
              values.contains("to") ? "set to=\"pair\", or outer=\"nesterov\"" : "set outer=\"nesterov\""});
  }
  return faults;
}

std::vector<spec::ParameterSpec> parameters_of(const LocalMethod& method) {
  const std::vector<spec::ParameterSpec> steps = LocalSteps::parameters(method.defaults.at("period").c_str());
  const std::vector<spec::ParameterSpec> rule = outer::parameters(method.defaults.at(outer::kRule.name).c_str());
  std::vector<spec::ParameterSpec> all =
      method.by_fragments
          ? joined<spec::ParameterSpec>({steps,
                                         rule,
                                         {LocalRounds::kFragments, LocalRounds::kDelay, LocalRounds::kFragmentAlpha,
                                          LocalRounds::kOuterGradients}})
          : joined<spec::ParameterSpec>(
                {steps,
                 {spec::choice_parameter(LocalSteps::kPeriods.name, "none", {},
                                         "later periods as STEP:H: \"100:16 400:64\" sets H = 16 for rounds that begin "
                                         "at step 100 or later, and H = 64 from step 400"),
                  LocalSteps::kPeriodByRate, LocalRounds::kPostLocal, LocalRounds::kSends, LocalRounds::kEncoding,
                  LocalRounds::kShare, LocalRounds::kRank, LocalRounds::kDecay, LocalRounds::kTo,
                  algorithms::graph_parameter(), LocalRounds::kMix, LocalRounds::kMixing, kAverage, LocalRounds::kWhen,
                  LocalRounds::kQuorum, LocalRounds::kGrace, LocalRounds::kWindow, LocalRounds::kStaleness},
                 rule,
                 {LocalRounds::kMerge, LocalRounds::kAlpha}});
  if (method.averages_moments) all.insert(all.end(), {LocalRounds::kFirstMoments, LocalRounds::kSecondMoments});
  for (const auto& [name, value] : method.defaults)
    std::ranges::find(all, name, &spec::ParameterSpec::name)->default_value = value;
  return all;
}

/// Returns the conditions of parameters that have no effect without certain values of others.
std::vector<methods::ActsBeside> conditions(const std::vector<spec::ParameterSpec>& all) {
  const auto acts = [&](const char* name, const char* other, std::vector<std::string> values) {
    return methods::ActsBeside{parameter_of(all, name), parameter_of(all, other), std::move(values)};
  };
  return {acts("graph", "to", {"graph"}),
          acts("gossip", "to", {"pair", "graph"}),
          acts("mixing", "to", {"graph"}),
          acts("average", "to", {"aggregator", "peers", "store", "region"}),
          acts("merge", "to", {"aggregator", "peers", "store", "region"}),
          acts("rank", "encoding", {"low-rank", "low-rank-e3m0"}),
          acts("quorum", "when", {"quorum"}),
          acts("grace", "when", {"quorum"}),
          acts("window", "when", {"window"}),
          acts("staleness", "when", {"quorum", "asynchronous"}),
          acts("alpha", "merge", {"mix"}),
          acts("encoding", "sends", {"change"}),
          acts("merge", "sends", {"change"}),
          acts("average", "sends", {"change"})};
}

RunFaults faults_of_choices(const RunFacts& facts, const std::vector<spec::ParameterSpec>& parameters) {
  const spec::ParameterValues& values = facts.run.parameters;
  const bool partners = has_partners(values), subset = LocalRounds::kSends.of(values) == SentNumbers::subset;
  const SentBy encoding = LocalRounds::kEncoding.of(values);
  const std::string& to = values.at(LocalRounds::kTo.name);
  RunFaults faults = methods::faults_of_idle_parameters(values, conditions(parameters));
  const RunFaults of_rule = outer_faults(values, parameters, partners);
  faults.insert(faults.end(), of_rule.begin(), of_rule.end());
  const auto refuse = [&](std::string what, std::string remedy) {
    faults.push_back(Fault{std::move(what), std::move(remedy)});
  };
  if (const std::string& periods = LocalSteps::kPeriods.of(values); !LocalSteps::read_periods(periods))
    refuse(fmt::format("periods=\"{}\" needs rising steps from 1 on, each with a period", periods),
           "write e.g. periods=\"100:16 400:64\"");
  if (subset && LocalRounds::kTo.of(values) != SentTo::peers)
    refuse(fmt::format("sends=\"subset\" needs to=\"peers\", not to=\"{}\"", to), "set to=\"peers\"");
  if (subset && outer::kRule.of(values) != "mean")
    refuse(
        fmt::format("outer=\"{}\" needs common weights, which sends=\"subset\" does not keep", outer::kRule.of(values)),
        "set outer=\"mean\"");
  const auto told = [&](const char* name) { return values.at(name) != parameter_of(parameters, name).default_value; };
  if (!subset && encoding != SentBy::chunk_top_k && told(LocalRounds::kShare.name)) {
    refuse(fmt::format("share=\"{}\" needs sends=\"subset\" or encoding=\"chunk-top-k\"",
                       values.at(LocalRounds::kShare.name)),
           "set one of the two, or remove share");
  }
  const bool remembers = encoding == SentBy::compress ? facts.run.compress.memory : encoding != SentBy::int8_ring;
  if (told(LocalRounds::kDecay.name) && (subset || partners || !remembers)) {
    refuse(fmt::format("memory-decay=\"{}\" needs a memory", values.at(LocalRounds::kDecay.name)),
           "set encoding=\"chunk-top-k\" or <compress memory=\"true\">, or remove memory-decay");
  }
  if (LocalRounds::kWhen.of(values) != When::barrier && !needs_server(values))
    refuse(fmt::format("when=\"{}\" needs a node that receives from all workers, and to=\"{}\" has none",
                       values.at(LocalRounds::kWhen.name), to),
           "set to=\"aggregator\", to=\"store\" or when=\"barrier\"");
  if (facts.sites > 0 && LocalRounds::kWhen.of(values) == When::quorum &&
      LocalRounds::kQuorum.of(values) > static_cast<std::int64_t>(facts.sites))
    refuse(fmt::format("quorum=\"{}\" exceeds the {} participants", LocalRounds::kQuorum.of(values), facts.sites),
           fmt::format("set quorum=\"{}\"", facts.sites));
  if (partners && encoding == SentBy::compress && facts.run.compress.memory)
    refuse(fmt::format("<compress memory=\"true\"> has no effect with to=\"{}\": errors of weights do not add up", to),
           "set memory=\"false\"");
  if (partners && encoding != SentBy::compress)
    refuse(fmt::format("encoding=\"{}\" drops numbers, but to=\"{}\" needs all weights",
                       values.at(LocalRounds::kEncoding.name), to),
           "set encoding=\"compress\", or to=\"peers\"");
  if (LocalRounds::kMixing.of(values) && LocalRounds::kTo.of(values) == SentTo::graph &&
      outer::make(values, 1).is_of_groups)
    refuse(fmt::format("mixing=\"factored\" needs outer steps before averaging, which outer=\"{}\" does not take",
                       outer::kRule.of(values)),
           "set mixing=\"after\", or outer=\"nesterov-folded\"");
  if (partners && facts.run.weights != spec::SiteWeights::published)
    refuse(fmt::format("weights=\"{}\" has no effect with to=\"{}\": all partners have the same weight",
                       to_string(facts.run.weights), to),
           "leave weights out");
  if (to == "region" && kAverage.of(values) != Average::all)
    refuse(fmt::format("average=\"{}\" needs updates of all workers, but to=\"region\" sums within regions first",
                       values.at(kAverage.name)),
           "set average=\"all\", or to=\"peers\"");
  if (encoding == SentBy::int8_ring) {
    if (!spec::sums_among_peers(values))
      refuse(fmt::format("encoding=\"int8-ring\" needs to=\"peers\" or \"region\", not to=\"{}\"", to),
             "set to=\"peers\"");
    if (to != "region" && kAverage.of(values) != Average::all)
      refuse(fmt::format("average=\"{}\" needs the updates of all workers, which encoding=\"int8-ring\" only sums",
                         values.at(kAverage.name)),
             "set average=\"all\"");
    if (facts.run.all_reduce != "auto" && facts.run.all_reduce != "ring")
      refuse(fmt::format("encoding=\"int8-ring\" needs all-reduce=\"ring\", not \"{}\"", facts.run.all_reduce),
             "set all-reduce=\"ring\"");
  }
  const auto averages = [&](const spec::IntegerParameter& moments) {
    return values.contains(moments.name) && moments.of(values) > 0;
  };
  if ((averages(LocalRounds::kFirstMoments) || averages(LocalRounds::kSecondMoments)) &&
      LocalRounds::kTo.of(values) != SentTo::peers)
    refuse(fmt::format("averaged moments need to=\"peers\", not to=\"{}\"", to),
           "set to=\"peers\", or first-moments=\"0\" and second-moments=\"0\"");
  return faults;
}

RunFaults faults_of_fragments(const RunFacts& facts, const std::vector<spec::ParameterSpec>& parameters) {
  const spec::ParameterValues& values = facts.run.parameters;
  const std::int64_t period = LocalSteps::kPeriod.of(values);
  if (LocalRounds::kDelay.of(values) >= period)
    return {Fault{"the delay must be below the period; otherwise a fragment is sent again before it arrives",
                  "use a delay below the period"}};
  if (LocalRounds::kFragments.of(values) > period)
    return {Fault{"there are more fragments than steps in a period", "use at most one fragment per step"}};
  return outer_faults(values, parameters, false);
}

estimate::AlgorithmState state_of_choices(const spec::ParameterValues& values) {
  double numbers = 1;  // weights at the beginning of the round
  if (LocalRounds::chosen(values, LocalRounds::kTo) != SentTo::aggregator)
    numbers += static_cast<double>(outer::make(values, 1).states);
  const SentBy encoding = LocalRounds::chosen(values, LocalRounds::kEncoding);
  if (encoding != SentBy::compress && encoding != SentBy::int8_ring) numbers += 1;  // memory of the compressor
  return {numbers * step::extent::parameters()};
}

EventDrivenMethod local_method(LocalMethod method) {
  const std::vector<spec::ParameterSpec> parameters = parameters_of(method);
  return {{.name = std::move(method.name),
           .family = "local-steps",
           .parameters = parameters,
           .sharing = Sharing::event_driven,
           .compresses =
               [](const spec::ParameterValues& values) {
                 if (values.contains(LocalRounds::kFragments.name)) return LocalRounds::kOuterGradients.of(values);
                 return LocalRounds::kEncoding.of(values) == SentBy::compress &&
                        LocalRounds::kSends.of(values) == SentNumbers::change;
               },
           .optimizer = method.averages_moments ? Needs::adam : Needs::any_optimizer,
           .needs_server = method.by_fragments ? spec::Property(true) : spec::Property(needs_server),
           .check =
               [parameters, fragments = method.by_fragments](const RunFacts& facts) {
                 return (fragments ? faults_of_fragments : faults_of_choices)(facts, parameters);
               },
           .state = state_of_choices,
           .models_held = LocalSteps::models_held},
          [](const Setting& setting) -> std::unique_ptr<Protocol> {
            if (setting.parameters().contains(LocalRounds::kFragments.name)) return fragment_rounds(setting);
            switch (setting.value(LocalRounds::kTo)) {
              case SentTo::aggregator:
              case SentTo::store:
                return server_rounds(setting);
              case SentTo::peers:
              case SentTo::region:
                return peer_rounds(setting);
              case SentTo::pair:
              case SentTo::graph:
                return partner_rounds(setting);
            }
            throw std::logic_error("unknown receivers");
          }};
}

}  // namespace

std::vector<EventDrivenMethod> local_methods() {
  static const std::vector<LocalMethod> rows{
      {.name = "local-sgd", .defaults = {{"period", "8"}, {"outer", "mean"}}},
      {.name = "diloco", .defaults = {{"period", "500"}, {"outer", "nesterov"}}},
      {.name = "streaming-diloco",
       .defaults = {{"period", "30"}, {"outer", "nesterov"}, {"outer-rate", "0.4"}},
       .by_fragments = true},
      {.name = "noloco",
       .defaults = {{"period", "50"},
                    {"to", "pair"},
                    {"outer", "consensus"},
                    {"outer-rate", "0.7"},
                    {"outer-momentum", "0.5"},
                    {"consensus", "0.7"}}},
      {.name = "gasloc",
       .defaults = {{"period", "50"}, {"to", "graph"}, {"outer", "nesterov-folded"}, {"outer-rate", "0.7"}}},
      {.name = "factored-gossip",
       .defaults = {{"period", "50"},
                    {"to", "graph"},
                    {"mixing", "factored"},
                    {"outer", "nesterov-folded"},
                    {"outer-rate", "0.7"}}},
      {.name = "sparseloco",
       .defaults = {{"period", "15"},
                    {"to", "peers"},
                    {"encoding", "chunk-top-k"},
                    {"share", "0.03125"},
                    {"memory-decay", "0.95"},
                    {"outer", "sgd"},
                    {"outer-rate", "1"}}},
      {.name = "sparta", .defaults = {{"period", "1"}, {"to", "peers"}, {"sends", "subset"}, {"outer", "mean"}}},
      {.name = "des-loc",
       .defaults =
           {{"period", "16"}, {"to", "peers"}, {"outer", "mean"}, {"first-moments", "3"}, {"second-moments", "6"}},
       .averages_moments = true},
      {.name = "pier",
       .defaults = {{"period", "50"},
                    {"to", "peers"},
                    {"outer", "nesterov"},
                    {"outer-warm-up", "10"},
                    {"outer-final-momentum", "0.5"}}},
      {.name = "muloco",
       .defaults = {{"period", "30"}, {"to", "peers"}, {"outer", "nesterov-folded"}, {"outer-momentum", "0.6"}}},
      {.name = "heloco",
       .defaults = {{"period", "50"}, {"when", "asynchronous"}, {"outer", "nesterov-aligned"}, {"staleness", "0.5"}}},
      {.name = "decoupled-diloco",
       .defaults =
           {{"period", "24"}, {"when", "quorum"}, {"grace", "5"}, {"average", "direction"}, {"outer", "nesterov"}}},
      {.name = "dilocox",
       .defaults = {{"period", "50"},
                    {"when", "overlap"},
                    {"encoding", "low-rank-e3m0"},
                    {"outer", "nesterov"},
                    {"outer-rate", "0.4"},
                    {"outer-momentum", "0.6"}}}};
  std::vector<EventDrivenMethod> all;
  std::ranges::transform(rows, std::back_inserter(all), local_method);
  return all;
}

}  // namespace dadsim::protocols
