#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "compress/registry.hpp"
#include "methods/method.hpp"
#include "protocols/registry.hpp"
#include "study/composition/draft.hpp"

namespace dadsim::study {

/// A feature of a scenario, which is combined with other features.
struct Feature {
  std::string axis, name;
  std::function<void(Draft&)> add;
  /// Selects the methods that the feature applies to; null: all. The draft of a pair uses one of these methods.
  std::function<bool(const methods::MethodInfo&)> is_about = nullptr;
  bool wanted_of_all = false;  ///< the feature would have a meaning for all other methods too
  /// Selects those among the other methods for which the feature would have no meaning; null: none.
  std::function<bool(const methods::MethodInfo&)> is_empty_for = nullptr;
  bool is_method() const { return axis == kMethods; }

  static constexpr const char* kMethods = "method";
};

inline const spec::ParameterSpec* parameter_of(const methods::MethodInfo& info, const std::string& name) {
  const auto found = std::ranges::find(info.parameters, name, &spec::ParameterSpec::name);
  return found == info.parameters.end() ? nullptr : &*found;
}

/// Selects methods that have a parameter of that name and accept the value.
inline std::function<bool(const methods::MethodInfo&)> takes(std::string name, std::string value) {
  return [name = std::move(name), value = std::move(value)](const methods::MethodInfo& info) {
    const spec::ParameterSpec* parameter = parameter_of(info, name);
    if (parameter == nullptr) return false;
    return parameter->type != spec::ParameterSpec::Type::choice ||
           std::ranges::find(parameter->choices, value) != parameter->choices.end();
  };
}

inline bool follows_events(const methods::MethodInfo& info) { return info.event_driven(); }

/// Returns the name of the method's variant with differential privacy; null: none.
inline const char* private_form_of(const methods::MethodInfo& info) {
  return info.name == "gradient-sharing" ? "dp-sgd" : info.name == "fedavg" ? "dp-fedavg" : nullptr;
}

/// Returns true if nobody sums the sites' messages: sites send none, or send to neighbours.
inline bool has_no_server(const methods::MethodInfo& info) {
  return !info.communicates() || info.decentralised() ||
         (info.event_driven() && !info.needs_server(default_parameters(info.parameters)));
}

class FeatureList {
 public:
  std::vector<Feature> all() {
    every_method();
    exchanges();
    compressors();
    conditions();
    drifts();
    privacy();
    frameworks();
    networks();
    divisions();
    timing();
    learning();
    questions();
    fidelities();
    return std::move(features_);
  }

 private:
  Feature& add(const char* axis, std::string name, std::function<void(Draft&)> change) {
    return features_.emplace_back(Feature{axis, std::move(name), std::move(change)});
  }
  /// Adds a feature of one or several attributes.
  Feature& attributes(const char* axis, DraftAttributes Draft::*of, const DraftAttributes& all) {
    std::string name;
    for (const auto& [attribute, value] : all)
      name += fmt::format("{}{}=\"{}\"", name.empty() ? "" : " ", attribute, value);
    return add(axis, std::move(name), [of, all](Draft& draft) {
      for (const auto& [attribute, value] : all) Draft::set(draft.*of, attribute, value);
    });
  }
  Feature& text(const char* axis, std::string name, std::string Draft::*of, std::string element) {
    return add(axis, std::move(name), [of, element = std::move(element)](Draft& draft) { draft.*of += element; });
  }
  /// Adds a feature that consists of an element, and is named by its XML text.
  Feature& element(const char* axis, std::string Draft::*of, const std::string& xml) {
    return text(axis, xml, of, xml);
  }

  void every_method() {
    for (const methods::MethodInfo* info : protocols::all_methods())
      add(Feature::kMethods, info->name, [name = info->name](Draft& draft) { draft.method = name; });
  }

  void exchanges() {
    constexpr const char* kAxis = "exchange, graph";
    for (const char* exchange : {"aggregator", "peer"}) attributes(kAxis, &Draft::run, {{"exchange", exchange}});
    std::vector<std::string> graphs;
    for (const methods::MethodInfo* info : protocols::all_methods()) {
      const spec::ParameterSpec* graph = parameter_of(*info, "graph");
      if (graph == nullptr) continue;
      for (const std::string& name : graph->choices) {
        // A graph from a file is one of the other graphs, only given in another way.
        if (name != "file" && std::ranges::find(graphs, name) == graphs.end()) graphs.push_back(name);
      }
    }
    for (const std::string& name : graphs)
      attributes(kAxis, &Draft::run, {{"graph", name}}).is_about = takes("graph", name);
  }

  void compressors() {
    for (const compress::CompressorInfo& info : compress::compressors().all()) {
      if (info.lossless) continue;
      for (const char* memory : {"false", "true"}) {
        element("compressor", &Draft::inside_run,
                fmt::format("<compress method=\"{}\" memory=\"{}\"/>", info.name, memory));
        if (!info.has_momentum) continue;
        // A compressor with momentum of its own gets plain SGD, unless the draft already has an optimizer.
        features_.back().add = [add = features_.back().add](Draft& draft) {
          add(draft);
          if (draft.optimizer.empty()) draft.optimizer = "<sgd learning-rate=\"0.05\"/>";
        };
      }
    }
  }

  void conditions() {
    constexpr const char* kAxis = "failures, availability, jitter";
    for (const char* xml : {R"(<failures><fails hosts="s-*" mtbf="60ms" mttr="20ms"/></failures>)",
                            R"(<failures><fails links="*" mtbf="60ms" mttr="20ms"/></failures>)",
                            R"(<failures><outage hosts="s-1" from="10ms" for="100ms"/></failures>)",
                            R"(<failures><joins hosts="s-2" at="50ms"/></failures>)",
                            R"(<availability hosts="s-*" by="sessions" on="60ms" off="20ms"/>)",
                            R"(<availability hosts="s-1" by="diurnal" from="0s" until="50ms" period="100ms"/>)",
                            R"(<availability hosts="s-*" drop-out="0.3" returns="20ms"/>)"})
      element(kAxis, &Draft::beside, xml);
    element(kAxis, &Draft::beside, R"(<failures><checkpoint every="1us" size="100kB" storage="1GBps"/></failures>)")
        .is_about = follows_events;
    with_absence(R"(<failures><leaves hosts="s-3" at="50ms"/></failures>)", "without");
    with_absence(R"(<failures><fails hosts="s-*" mtbf="60ms" mttr="20ms"/></failures>)", "retry");
    with_absence(
        R"(<failures><fails hosts="s-*" mtbf="60ms" mttr="20ms"/><checkpoint every="1us" size="100kB" storage="1GBps"/></failures>)",
        "restart");
    with_absence(R"(<availability hosts="s-*" by="steps" chance="0.7"/>)", "without");
    element(kAxis, &Draft::inside_network, R"(<jitter spatial="0.3" temporal="0.3"/>)");
    attributes(kAxis, &Draft::worker, {{"speed-spread", "0.5"}});
    element(kAxis, &Draft::inside_platform, R"(<profile link="*" times="0s 20ms" factors="1 0.3"/>)");
    element(kAxis, &Draft::inside_platform, R"(<background from="s-1" to="s-2" bytes="20kB" every="5ms"/>)");
  }

  /// Adds a feature of failures together with `absent`, the run's reaction to them.
  void with_absence(const std::string& xml, const std::string& absent) {
    add("failures, availability, jitter", fmt::format("{} absent=\"{}\"", xml, absent), [xml, absent](Draft& draft) {
      draft.beside += xml;
      const methods::MethodInfo* info = protocols::find_method(draft.method);
      if (info == nullptr || !info->event_driven()) Draft::set(draft.run, "absent", absent);
      if (absent == "retry" && (info == nullptr || !info->event_driven()))
        Draft::set(draft.run, "absent-patience", "10ms");
    });
  }

  void drifts() {
    constexpr const char* kAxis = "drift";
    element(kAxis, &Draft::inside_data, R"(<drift at="20ms" corruption="noise" severity="5"/>)").is_about =
        follows_events;
    element(kAxis, &Draft::inside_data, R"(<drift at="20ms" label-alpha="0.1"/>)").is_about = follows_events;
    element(kAxis, &Draft::beside, R"(<evaluation batch="10"><site-shift corruption="noise"/></evaluation>)").is_about =
        follows_events;
    element(kAxis, &Draft::inside_data, R"(<shift gain="0.5" offset="0.5"/>)");
  }

  void privacy() {
    constexpr const char* kAxis = "privacy";
    const auto add = [&](const DraftAttributes& all) -> Feature& {
      Feature& feature = attributes(kAxis, &Draft::run, all);
      feature.is_about = takes(all.front().first, all.front().second);
      feature.wanted_of_all = true;
      return feature;
    };
    const auto has_a_private_form = [](const methods::MethodInfo& info) { return private_form_of(info) != nullptr; };
    add({{"epsilon", "20"}}).is_empty_for = has_a_private_form;
    add({{"noise-multiplier", "1"}}).is_empty_for = has_a_private_form;
    // `noise` sets against whom sites are protected, which has no meaning for methods without messages.
    for (const char* who : {"local", "per-site"}) {
      add({{"noise", who}}).is_empty_for = [=](const methods::MethodInfo& info) {
        return !info.communicates() || has_a_private_form(info);
      };
    }
    add({{"noise", "central"}}).is_empty_for = [=](const methods::MethodInfo& info) {
      return has_no_server(info) || has_a_private_form(info);
    };
    // Secure aggregation requires a sum of several contributions. Methods that apply each contribution on arrival form
    // none.
    add({{"secure", "yes"}}).is_empty_for = [](const methods::MethodInfo& info) {
      const bool by_itself = info.objective == methods::Objective::arrivals && parameter_of(info, "buffer") == nullptr;
      return has_no_server(info) || by_itself;
    };
  }

  void frameworks() {
    constexpr const char* kAxis = "framework";
    for (const char* xml : {R"(<framework name="nvflare"/>)", R"(<framework name="hivemind"/>)"})
      element(kAxis, &Draft::beside, xml);
    element(kAxis, &Draft::beside, R"(<framework polling="50ms" idle-cut="1s"/>)").is_about = follows_events;
  }

  void networks() {
    constexpr const char* kAxis = "network";
    for (const char* xml : {R"(<convolution filters="2"/>)", R"(<gru units="3"/>)", R"(<attention/>)",
                            R"(<batch-norm/>)", R"(<layer-norm/>)", R"(<positions/>)", R"(<dropout rate="0.2"/>)"})
      element(kAxis, &Draft::first_layers, xml);
    add(kAxis, R"(<embedding units="4"/>)", [](Draft& draft) { draft.symbols = true; });
  }

  void divisions() {
    constexpr const char* kAxis = "devices per worker";
    for (const DraftAttributes& all : std::initializer_list<DraftAttributes>{
             {{"tensor", "2"}},
             {{"tensor", "2"}, {"sequence-parallel", "true"}},
             {{"pipeline", "2"}},
             {{"pipeline", "2"}, {"schedule", "gpipe"}},
             {{"pipeline", "2"}, {"interleave", "2"}, {"micro-batch", "1"}},
             {{"micro-batch", "2"}},
             {{"recompute", "full"}},
             {{"sharding", "optimizer"}},
             {{"sharding", "gradients"}},
             {{"sharding", "parameters"}},
             {{"sharding", "parameters"}, {"sharding-group", "2"}},
             {{"context", "2"}},
             {{"pipeline", "2"}, {"micro-batch", "1"}, {"schedule", "zb-h1"}},
             {{"pipeline", "2"}, {"interleave", "2"}, {"micro-batch", "1"}, {"schedule", "dualpipe-v"}},
             {{"tensor", "2"}, {"tensor-overlap", "backward"}},
             {{"tensor", "2"}, {"sequence-parallel", "true"}, {"tensor-overlap", "products"}},
             {{"offload", "optimizer"}, {"offload-rate", "25GBps"}, {"host-rate", "50GBps"}},
             {{"offload", "activations"}, {"offload-rate", "25GBps"}},
             {{"expert-parallel", "2"}},
             {{"expert-parallel", "2"}, {"expert-imbalance", "1.5"}, {"expert-capacity", "1.25"}},
             {{"tensor", "2"}, {"sequence-parallel", "true"}, {"expert-parallel", "2"}, {"expert-tensor", "2"}}}) {
      Feature& feature = attributes(kAxis, &Draft::timed_as, all);
      const bool experts = std::ranges::any_of(all, [](const auto& one) { return one.first == "expert-parallel"; });
      const bool context = std::ranges::any_of(all, [](const auto& one) { return one.first == "context"; });
      const bool divides_states = std::ranges::any_of(all, [](const auto& one) { return one.first == "sharding"; });
      const bool divides_expert =
          std::ranges::any_of(all, [](const auto& one) { return one.first == "expert-tensor"; });
      // The draft has an aggregator. Features that divide the work need an exchange among peers, or participants of
      // several replicas.
      feature.add = [add = feature.add, experts, context, divides_states, divides_expert](Draft& draft) {
        add(draft);
        if (experts) put_experts(draft);
        if (context)
          put(draft, {{"workload", "gpt-2-small"}});  // in this workload, every layer has rows for each
                                                      // position
        const methods::MethodInfo* info = protocols::find_method(draft.method);
        if (info != nullptr && parameter_of(*info, "islands") != nullptr && (experts || divides_states))
          Draft::set(draft.run, "islands", divides_expert ? "1" : "2");
        if (info == nullptr || !info->communicates() || info->event_driven() || info->decentralised()) return;
        if (std::ranges::find(draft.run, "exchange", &std::pair<std::string, std::string>::first) == draft.run.end())
          Draft::set(draft.run, "exchange", "peer");
      };
    }
  }

  /// Adds the attributes of <timed-as> that the draft does not have yet.
  static void put(Draft& draft, const DraftAttributes& attributes) {
    for (const auto& [name, value] : attributes) {
      const bool told =
          std::ranges::find(draft.timed_as, name, &std::pair<std::string, std::string>::first) != draft.timed_as.end();
      if (!told) draft.timed_as.emplace_back(name, value);
    }
  }

  /// Makes the timed network a small transformer with experts.
  static void put_experts(Draft& draft) {
    put(draft, {{"workload", "decoder"},
                {"layers", "2"},
                {"hidden", "64"},
                {"heads", "4"},
                {"kv-heads", "2"},
                {"feed-forward", "128"},
                {"vocabulary", "128"},
                {"sequence", "16"},
                {"experts", "4"},
                {"experts-per-token", "2"},
                {"expert-feed-forward", "32"}});
  }

  void timing() {
    constexpr const char* kAxis = "what is timed";
    attributes(kAxis, &Draft::timed_as, {{"workload", "resnet-50"}});
    for (const char* precision : {"bf16", "fp16"}) attributes(kAxis, &Draft::timed_as, {{"precision", precision}});
    for (const char* precision : {"fp8", "mxfp8", "nvfp4"}) {
      Feature& feature = attributes(kAxis, &Draft::timed_as, {{"precision", precision}});
      feature.add = [add = feature.add](Draft& draft) {
        add(draft);
        draft.device = "b200-sxm";
      };
    }
    attributes(kAxis, &Draft::timed_as, {{"adapters", "8"}});
    attributes(kAxis, &Draft::timed_as, {{"input-rate", "100"}});
    attributes(kAxis, &Draft::timed_as, {{"precision", "bf16"}, {"gradients", "fp32"}});
    add(kAxis, "<timing-only>", [](Draft& draft) { draft.learns = false; });
    add(kAxis, "--timing-only", [](Draft& draft) { draft.times_alone = true; });
  }

  void learning() {
    constexpr const char* kAxis = "seeds, targets, training";
    for (const DraftAttributes& all :
         std::initializer_list<DraftAttributes>{{{"seeds", "2"}},
                                                {{"target-accuracy", "0.1 0.3"}},
                                                {{"stop", "target"}, {"target-accuracy", "0.15"}},
                                                {{"batches", "equal"}},
                                                {{"batches", "poisson"}},
                                                {{"shuffle", "no"}},
                                                {{"exact", "once"}},
                                                {{"clip-norm", "1"}},
                                                {{"evaluate-every", "1"}}})
      attributes(kAxis, &Draft::training, all);
    for (const char* xml : {R"(<sgd learning-rate="0.05"/>)", R"(<sgd learning-rate="0.05" momentum="0.9"/>)",
                            "<adam/>", "<adamw/>", "<lamb/>", "<lars/>", "<muon/>"})
      add(kAxis, xml, [xml](Draft& draft) { draft.optimizer = xml; });
    element(kAxis, &Draft::schedule, R"(<schedule kind="cosine"/>)");
    for (const char* xml : {R"(<split by="dirichlet" alpha="0.5"/>)", R"(<split by="iid" size-spread="0.5"/>)"})
      element(kAxis, &Draft::split, xml);
  }

  void questions() {
    constexpr const char* kAxis = "question";
    using Question = Draft::Question;
    for (const auto& [name, question] : {std::pair{"dadsim plan", Question::plan},
                                         {"dadsim sweep", Question::sweep},
                                         {"dadsim explain", Question::explain},
                                         {"dadsim compare", Question::compare}})
      add(kAxis, name, [question = question](Draft& draft) { draft.question = question; });
    element(kAxis, &Draft::beside, R"(<costs electricity="0.3" carbon="300"/>)");
  }

  void fidelities() {
    constexpr const char* kAxis = "fidelity";
    for (const char* name : {"message", "flow", "closed-form"})
      attributes(kAxis, &Draft::network, {{"fidelity", name}});
    attributes(kAxis, &Draft::network, {{"timed-steps", "8"}});
    attributes(kAxis, &Draft::network, {{"rendezvous", "true"}});
  }

  std::vector<Feature> features_;
};

/// Returns all features, axis by axis in the order of the page: every method, compressor and graph, and other parts of
/// the language that shape a run. A feature is named by its XML text.
inline std::vector<Feature> all_features() { return FeatureList().all(); }

}  // namespace dadsim::study
