#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "methods/method.hpp"
#include "study/composition/drawing.hpp"

namespace dadsim::test {

/// Draws runs of any method, and the elements that accompany runs.
class RunDrawing {
 public:
  RunDrawing(Drawing& draw, std::int64_t sites) : draw_(draw), sites_(sites) {}

  /// Draws one to three methods that accept the same optimizer. `learned_first`: draws no event-driven method.
  std::vector<const methods::MethodInfo*> chosen_methods(bool learned_first, bool event_driven,
                                                         const std::string& wanted) {
    std::vector<const methods::MethodInfo*> chosen;
    const auto& all = draw_.catalog().algorithms;
    const auto fits = [&](const methods::MethodInfo& one) {
      if (learned_first && one.event_driven()) return false;
      if (event_driven && !one.event_driven()) return false;
      return std::ranges::none_of(chosen, [&](const methods::MethodInfo* other) {
        constexpr auto kAny = methods::Needs::any_optimizer;
        return one.optimizer != other->optimizer && one.optimizer != kAny && other->optimizer != kAny;
      });
    };
    if (!wanted.empty()) chosen.push_back(&*std::ranges::find(all, wanted, &methods::MethodInfo::name));
    for (std::int64_t count = draw_.between(1, 3); static_cast<std::int64_t>(chosen.size()) < count;) {
      const methods::MethodInfo& one =
          all[static_cast<std::size_t>(draw_.between(0, static_cast<std::int64_t>(all.size()) - 1))];
      if (fits(one)) chosen.push_back(&one);
    }
    return chosen;
  }

  static std::string optimizer_of(const std::vector<const methods::MethodInfo*>& methods) {
    for (const methods::MethodInfo* one : methods) {
      if (one->optimizer == methods::Needs::plain_sgd) return "plain-sgd";
      if (one->optimizer == methods::Needs::adam) return "adam";
      if (one->optimizer == methods::Needs::muon) return "muon";
    }
    return "";
  }

  /// `fails`: the scenario has failures or limited availability.
  Element run(const methods::MethodInfo& method, std::size_t number, bool peers, double share, bool fails) {
    std::map<std::string, std::string> own{{"algorithm", method.name}, {"label", fmt::format("run {}", number)}};
    const bool collective = method.communicates() && !method.event_driven();
    if (!collective || method.decentralised()) own["exchange"] = "";
    if (collective && !method.decentralised())
      own["exchange"] = peers ? draw_.one_of({"peer", ""}) : draw_.one_of({"aggregator", "peer", ""});
    if (!collective)
      for (const char* one : {"all-reduce", "all-gather", "reduce-scatter", "bucket", "first-bucket"}) own[one] = "";
    if (collective) own["bucket"] = draw_.one_of({"", "", "0B", "900B", "20kB", "25MB"});
    if (method.decentralised() && draw_.chance(0.8))  // gossip methods refuse these attributes, except for an
                                                      // all-reduce at the end
      for (const char* one : {"all-reduce", "all-gather", "reduce-scatter", "bucket"}) own[one] = "";
    if (!collective || own["bucket"].empty() || own["bucket"] == "0B" || draw_.chance(0.5)) own["first-bucket"] = "";
    for (const char* one : {"failures", "availability", "jitter", "absent", "absent-patience", "absent-weights"}) {
      if (!fails || draw_.chance(0.7) || std::string(one).starts_with("absent")) own[one] = "";
    }
    if (collective && fails && draw_.chance(0.6)) {
      own["absent"] = draw_.one_of({"wait", "without", "retry", "restart"});
      if (own["absent"] == "retry") own["absent-patience"] = draw_.one_of({"10ms", "300ms"});
      if (own["absent"] == "retry" || own["absent"] == "without")
        own["absent-weights"] = draw_.one_of({"", "present", "unbiased"});
    }
    Element run = draw_.element("run", own, 0.1);
    // A method with many parameters gets only a few of them, as they depend on one another.
    constexpr double kFew = 2;
    const auto count = static_cast<double>(method.parameters.size());
    parameters(run, method.parameters, count > 8 ? std::min(share, kFew / count) : share);
    if (method.family == "local-steps") {  // some parameters have an effect only with certain values of other
                                           // parameters
      std::erase_if(run.attributes, [](const scenario::Attribute& one) {
        static const Texts kDependent{"average", "merge", "alpha", "graph", "gossip", "encoding", "memory-decay"};
        return std::ranges::find(kDependent, one.name) != kDependent.end();
      });
    }
    graph_file(run);
    const bool may_compress = method.compresses(default_parameters(method.parameters));
    if (method.communicates() && draw_.chance(may_compress ? 0.35 : 0.03)) run.children.push_back(compress(method));
    if (!method.statistics.empty() && draw_.chance(0.5)) {
      const std::string statistic = method
                                        .statistics[static_cast<std::size_t>(
                                            draw_.between(0, static_cast<std::int64_t>(method.statistics.size()) - 1))]
                                        .name;
      run.children.push_back(
          draw_.element("share", {{"layers", draw_.one_of({"*", "dense*", "fc*"})}, {"statistic", statistic}}, 0.3));
      if (draw_.chance(0.2))
        run.children.push_back(draw_.element("average-deltas", {{"above", draw_.one_of({"fc2", "fc3", "dense2"})}}));
    }
    return run;
  }

  Element compress(const methods::MethodInfo& method) {
    const auto& all = draw_.catalog().compressors;
    const auto& compressor = all[static_cast<std::size_t>(draw_.between(0, static_cast<std::int64_t>(all.size()) - 1))];
    std::map<std::string, std::string> own{{"method", compressor.name}};
    if (!method.sends_gradients || draw_.chance(0.6)) own["scope"] = "";
    if (!method.remembers() || compressor.lossless) own["memory"] = "";
    Element compress = draw_.element("compress", own, 0.4);
    parameters(compress, compressor.parameters, 0.4);
    return compress;
  }

  /// Draws failures whose patterns match only some of the hosts.
  Element failures(const Texts& placed) {
    Element failures{.name = "failures", .origin = {}};
    const auto hosts = [&] { return draw_.chance(0.4) ? std::string("*") : draw_.one_of(placed); };
    const auto hosts_or_links = [&]() -> std::map<std::string, std::string> {
      if (draw_.chance(0.3)) return {{"hosts", ""}, {"links", "*"}, {"nodes", ""}};
      if (draw_.chance(0.1))
        return {{"hosts", ""}, {"links", ""}, {"nodes", "*"}};  // a SimGrid platform file has no
                                                                // nodes, so this choice is refused
                                                                // there
      return {{"hosts", hosts()}, {"links", ""}, {"nodes", ""}};
    };
    const auto add = [&](const char* name, const std::map<std::string, std::string>& own) {
      failures.children.push_back(draw_.element(name, own, 0.5));
    };
    if (draw_.chance(0.5)) add("fails", hosts_or_links());
    if (draw_.chance(0.4)) {
      std::map<std::string, std::string> outage = hosts_or_links();
      outage["for"] = draw_.one_of({"50ms", "500ms", "3s"});
      add("outage", outage);
    }
    if (draw_.chance(0.2)) add("joins", {{"hosts", draw_.one_of(placed)}});
    if (draw_.chance(0.2)) add("leaves", {{"hosts", draw_.one_of(placed)}});
    if (draw_.chance(0.3) || failures.children.empty()) add("checkpoint", {{"hosts", draw_.one_of({"", "*"})}});
    return failures;
  }

  Element availability(const Texts& placed) {
    const std::string by = draw_.one_of({"always", "diurnal", "sessions", "file", "steps"});
    std::map<std::string, std::string> own{{"by", by}, {"hosts", draw_.chance(0.4) ? "*" : draw_.one_of(placed)}};
    const auto only = [&](const char* kind, std::initializer_list<const char*> names, bool needed) {
      for (const char* name : names) {
        if (by != kind)
          own[name] = "";
        else if (needed)
          own[name] = draw_.one_of(draw_.values_of("availability", *scenario::find_rule("availability")->find(name)));
      }
    };
    only("diurnal", {"from", "until"}, true);
    only("diurnal", {"spread"}, false);
    // Mostly draws periods of a few seconds, as runs would wait long with the default of a day.
    own["period"] = by == "diurnal" ? draw_.one_of({"5s", "9s", "5s", "9s", ""}) : "";
    only("sessions", {"on", "off"}, true);
    only("sessions", {"shape"}, false);
    only("steps", {"chance"}, true);
    own["file"] = by == "file" ? "there.txt" : "";
    if (by == "always")
      own["drop-out"] = "0.3";
    else if (draw_.chance(0.7))
      own["drop-out"] = own["returns"] = "";
    else
      own["drop-out"] = draw_.one_of({"0.1", "0.4"});
    return draw_.element("availability", own, 0.5);
  }

  Element drift(const Texts& hosts, bool pictures) {
    const std::string corruption = draw_.one_of(pictures ? Texts{"", "noise", "blur", "contrast", "clip", "none"}
                                                         : Texts{"", "noise", "gamma", "gain-offset"});
    std::map<std::string, std::string> own{{"sites", draw_.one_of({"", hosts.front()})}, {"corruption", corruption}};
    if (corruption.empty() || corruption == "none") own["severity"] = "";
    if (corruption.empty()) own["label-alpha"] = "0.2";
    return draw_.element("drift", own, 0.4);
  }

  Element evaluation(bool pictures) {
    Element evaluation = draw_.element("evaluation", {}, 0.5);
    evaluation.children.push_back(draw_.element(
        "site-shift",
        {{"corruption", draw_.one_of(pictures ? Texts{"noise", "blur", "clip"} : Texts{"noise", "gamma"})}}, 0.5));
    return evaluation;
  }

  Element costs() {
    Element costs = draw_.element("costs", {}, 0.4);
    for (const std::string& device : {std::string("rtx-3090"), std::string("xeon-8380")}) {
      if (!draw_.chance(0.5)) continue;
      std::map<std::string, std::string> own{{"device", device}};
      own[draw_.one_of({"per-hour", "idle-power"})] = draw_.one_of({"0.5", "2"});
      costs.children.push_back(draw_.element("price", own, 0.5));
    }
    if (draw_.chance(0.3)) costs.children.push_back(draw_.element("egress", {{"links", ""}}));
    if (draw_.chance(0.3)) costs.children.push_back(draw_.element("line", {{"link", "*"}}));
    return costs;
  }

 private:
  void parameters(Element& element, const std::vector<spec::ParameterSpec>& parameters, double share) {
    // Values of these parameters keep the run short.
    static const Texts kShort{"rounds", "updates", "duration", "interval", "period", "samples", "quantiles"};
    for (const spec::ParameterSpec& parameter : parameters) {
      // One island can hold any number of workers.
      const Texts values = parameter.name == "islands" ? Texts{"0", "1"} : Drawing::values_of(parameter);
      const bool is_short = std::ranges::find(kShort, parameter.name) != kShort.end();
      if (values.empty() || !(draw_.chance(share) || (is_short && draw_.chance(0.9)))) continue;
      Drawing::set(element, parameter.name, draw_.one_of(values));
    }
  }

  void graph_file(Element& run) {
    const scenario::Attribute* graph = run.find("graph");
    if (graph != nullptr && graph->value == "file") Drawing::set(run, "edges", fmt::format("edges-{}.txt", sites_));
  }

  Drawing& draw_;
  std::int64_t sites_;
};

}  // namespace dadsim::test
