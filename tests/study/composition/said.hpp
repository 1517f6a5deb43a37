#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <tuple>
#include <vector>

#include "report/words/statement.hpp"

namespace dadsim::study {

/// Recomputes the statements of a JSON result from its numbers. wrong() returns one line per difference.
class Said {
 public:
  using Json = nlohmann::json;

  explicit Said(const Json& result) : result_(result), answer_(result.at("answer")) {
    for (const Json& run : result_.at("runs")) {
      runs_[run.at("label").get<std::string>()] = &run;
      check_run(run);
    }
    check_ranking();
    check_answer();
    std::size_t stopped = 0;
    for (const Json& one : answer_.at("statements")) {
      check_statement(one, nullptr);
      if (one.at("kind") == "stopped") ++stopped;
    }
    for (const auto& [label, run] : runs_) {
      if (run->contains("event_run") && !run->at("event_run").at("stopped").is_null()) --stopped;
    }
    check(stopped == 0, "not every run that stopped is said to have");
    for (const Json& one : result_.at("assumptions")) check_words(one);
  }

  const std::vector<std::string>& wrong() const { return wrong_; }

 private:
  void check(bool right, const std::string& what) {
    if (!right) wrong_.push_back(what);
  }
  static bool near(double a, double b, double share = 1e-6) {
    return std::abs(a - b) <= share * std::max(std::abs(a), std::abs(b)) + 1e-12;
  }
  static double value(const Json& of, const char* name) {
    return of.contains(name) && of.at(name).is_number() ? of.at(name).get<double>() : std::nan("");
  }
  static bool truth(const Json& of, const char* name) { return of.contains(name) && of.at(name) == true; }

  // ---- words

  /// Checks that the text contains exactly the values of the statement.
  void check_words(const Json& json) {
    check(report::in_words(report::statement_of(json.dump())) == json.at("words"),
          "other words than its values: " + json.dump());
  }

  // ---- a run

  void check_run(const Json& run) {
    const std::string label = run.at("label");
    const auto expect = [&](bool right, const char* what) { check(right, label + ": " + what); };
    const double step = value(run, "step_seconds"), steps = value(run, "steps");
    if (steps > 0 && !truth(run, "event_driven")) {
      expect(near(value(run, "total_seconds"), steps * step, 1e-3), "total_seconds are not those of its steps");
      expect(near(value(run, "compute_seconds") + value(run, "exposed_seconds"), step, 1e-3),
             "a step is not what is computed and what is exposed");
    }
    check_curve(run, expect);
    check_causes(run, expect);
    const Json& memory = run.at("memory");
    double sum = 0;
    for (const char* part :
         {"parameters", "master_copies", "optimizer", "gradients", "activations", "scores", "algorithm"})
      sum += memory.at(part).get<double>();
    expect(near(sum, value(run, "memory_bytes")), "memory_bytes are no sum of its parts");
    for (const auto& [low, middle, high] : {std::tuple{"relative_steps_low", "relative_steps", "relative_steps_high"},
                                            {"scale_low", "scale_seconds", "scale_high"},
                                            {"scale_seeds_low", "scale_seconds", "scale_seeds_high"}}) {
      const double a = value(run, low), b = value(run, middle), c = value(run, high);
      expect(!(a > b * (1 + 1e-9)) && !(c < b * (1 - 1e-9)), "an interval does not hold its value");
    }
    if (const Json& band = run.at("band"); !band.is_null()) {
      const Json& of_step = band.at("step_seconds");
      expect(of_step.at("low") <= step * (1 + 1e-9) && of_step.at("high") >= step * (1 - 1e-9),
             "the band of a step does not hold it");
    }
    for (const char* cost : {"money", "joules", "grams_co2e"}) {
      const double all = value(run, cost), to_target = value(run, (std::string(cost) + "_to_target").c_str());
      expect(!(to_target > all * (1 + 1e-6)), "costs more to the target than in all");
    }
    for (const Json& note : run.at("notes")) check_statement(note, &run);
  }

  template <class Expect>
  void check_curve(const Json& run, const Expect& expect) {
    const double target = result_.at("scenario").at("target_accuracy");
    double best = -1;
    const Json* first = nullptr;
    for (const Json& point : run.at("curve")) {
      const double accuracy = value(point, "accuracy");
      best = std::max(best, accuracy);
      if (first == nullptr && accuracy >= target) first = &point;
    }
    if (best < 0) return;                                              // no run learned anything
    if (const Json& seeds = run.at("over_seeds"); !seeds.is_null()) {  // the curve is that of the first seed, but
                                                                       // figures are means
      expect(value(run, "best_accuracy") == value(seeds.at("best_accuracy"), "mean"), "best_accuracy is no mean");
      expect(truth(run, "target_reached") == (seeds.at("missed") == 0), "target_reached is not of all seeds");
      if (seeds.at("missed") != 0) return;
      expect(value(run, "target_step") == std::round(value(seeds.at("target_step"), "mean")), "target_step is no mean");
      return;
    }
    expect(value(run, "best_accuracy") == best, "best_accuracy is not that of its curve");
    expect(truth(run, "target_reached") == (first != nullptr), "target_reached is not what its curve says");
    if (first == nullptr) return;
    expect(value(run, "target_step") == value(*first, "step"), "target_step is not that of its curve");
    expect(near(value(run, "target_seconds"), value(*first, "seconds")), "target_seconds are not those of its curve");
  }

  template <class Expect>
  void check_causes(const Json& run, const Expect& expect) {
    std::map<std::string, double> by_kind;
    double all = 0;
    for (const Json& bound : run.at("bounds")) {
      by_kind[bound.at("kind").get<std::string>()] += bound.at("share").get<double>();
      all += bound.at("share").get<double>();
      expect(near(value(bound, "share") * value(run, "step_seconds"), value(bound, "seconds"), 1e-3),
             "a share of a step is not its seconds");
    }
    expect(all < 1 + 1e-6, "more than a step is explained");
    const std::string words = run.at("causes_in_words").is_null() ? "" : run.at("causes_in_words").get<std::string>();
    double last = 2;
    for (const Json& cause : run.at("causes")) {
      const double share = value(cause, "share");
      expect(near(share, by_kind[cause.at("kind").get<std::string>()], 1e-9),
             "a cause is not the sum of what it lies on");
      expect(share <= last + 1e-12, "causes are not in the order of their shares");
      last = share;
      double parts = 0;
      for (const Json& part : cause.at("on")) parts += value(part, "share");
      // the causes "overlap" and "message overhead" have no parts
      if (!cause.at("on").empty()) expect(near(parts, share, 1e-9), "a cause is not the sum of its parts");
      if (share >= 0.005)
        expect(words.find(fmt::format("{:.0f} %", share * 100)) != std::string::npos,
               "its causes in words have other shares");
    }
    if (!run.at("causes").empty()) {
      expect(near(value(run, "cause_share"), value(run.at("causes")[0], "share"), 1e-9),
             "cause_share is not of its first cause");
    }
  }

  // ---- the answer

  const Json& run_of(const Json& label) const { return *runs_.at(label.get<std::string>()); }

  /// Returns the value by which runs are ranked: time, or the cost per token (per sample without tokens).
  static double price_of(const std::string& metric, const Json& run, const char* figure) {
    const auto of_work = [&](const char* tokens, const char* samples) {
      return std::isnan(value(run, tokens)) ? value(run, samples) : value(run, tokens);
    };
    constexpr double kJoulesPerKwh = 3.6e6;
    if (metric == "throughput") return 1 / of_work("tokens_per_second", "samples_per_second");
    if (metric == "per-money") return 1 / of_work("tokens_per_money", "samples_per_money");
    if (metric == "per-kwh") return kJoulesPerKwh / of_work("tokens_per_kwh", "samples_per_kwh");
    return value(run, figure);
  }

  void check_ranking() {
    const std::string metric = answer_.at("metric");
    const char* figure = metric == "time-to-target"  ? "target_seconds"
                         : metric == "time-at-scale" ? "scale_seconds"
                                                     : "step_seconds";
    const double margin = answer_.at("margin");
    const Json& ranking = answer_.at("ranking");
    for (std::size_t i = 0; i < ranking.size(); ++i) {
      const Json& place = ranking[i];
      const std::string label = place.at("run");
      const Json& run = run_of(label);
      const double seconds = value(place, "seconds");
      check(truth(run, "communicates"), label + " is ranked and shares nothing");
      const bool aligned = metric == "time-to-target" && (answer_.at("rounding_steps") != 0 || place.at("seeds") != 1);
      check(aligned || near(seconds, price_of(metric, run, figure)), label + " is ranked by another time than its own");
      const double low = value(place, "low"), high = value(place, "high");
      check(!(low > seconds * (1 + 1e-9)) && !(high < seconds * (1 - 1e-9)),
            label + ": an interval of a time does not hold it");
      if (i == 0) continue;
      check(seconds >= value(ranking[i - 1], "seconds"), "the ranking does not rise");
      const Json& ratio = place.at("of_first");
      const double first = value(ranking[0], "seconds");
      if (first > 0)
        check(near(value(ratio, "value"), seconds / first, 1e-3) || aligned,
              label + " is another multiple of the first: " + ratio.dump());
      const double from = std::isnan(value(ratio, "low")) ? value(ratio, "value") : value(ratio, "low");
      const double to = !std::isnan(value(ratio, "high")) ? value(ratio, "high")
                        : std::isnan(value(ratio, "low")) ? value(ratio, "value")
                                                          : INFINITY;
      if (!(first > 0)) continue;
      const std::string verdict = from >= 1 / (1 + margin) && to <= 1 + margin ? "equal"
                                  : from <= 1 && to >= 1                       ? "undecided"
                                                                               : "behind";
      check(place.at("verdict") == verdict,
            label + " is " + place.at("verdict").dump() + ", and its interval says " + verdict);
    }
    if (metric != "time-to-target") return;
    for (const auto& [label, run] : runs_) {
      const bool ranked = std::ranges::any_of(ranking, [&](const Json& place) { return place.at("run") == label; });
      const bool one_seed = !ranking.empty() && ranking[0].at("seeds") == 1;
      if (truth(*run, "communicates") && truth(*run, "target_reached") && one_seed)
        check(ranked, label + " reached the target and is not ranked");
    }
  }

  void check_answer() {
    const Json& statements = answer_.at("statements");
    const Json& ranking = answer_.at("ranking");
    if (statements.empty()) return wrong_.push_back("nothing is answered");
    const std::string kind = statements[0].at("kind");
    if (kind == "by-work") {
      std::vector<std::string> labels;
      for (const Json& place : ranking) labels.push_back(place.at("run"));
      return check(statements[0].at("subjects") == Json(labels), "another order: " + statements[0].dump());
    }
    std::vector<std::string> beside;
    bool undecided = false;
    for (std::size_t i = 0; i < ranking.size(); ++i) {
      const std::string verdict = ranking[i].at("verdict");
      if (i > 0 && verdict == "behind") break;
      beside.push_back(ranking[i].at("run"));
      undecided = undecided || verdict == "undecided";
    }
    if (ranking.empty()) {
      const bool of_learned = statements[0].at("values").contains("learned_on");
      check(kind == "missed" || kind == "nothing-shared" || kind == "nothing-learned" || kind == "rounds" ||
                of_learned || kind == "workload-steps-unknown" || kind == "steps-unknown" || kind == "throughput",
            kind + " of an empty ranking");
    } else if (beside.size() > 1) {
      check(kind == (undecided ? "undecided" : "equal"),
            kind + " of runs that are " + (undecided ? "undecided" : "equal"));
      check(statements[0].at("subjects") == Json(beside), "others are beside the first: " + statements[0].dump());
    } else {
      check(kind == "first", kind + " where one is first");
      check(statements[0].at("subjects")[0] == ranking[0].at("run"), "another one is first: " + statements[0].dump());
    }
  }

  /// `run`: the run that the statement is about; null: none.
  void check_statement(const Json& json, const Json* run) {
    check_words(json);
    const std::string kind = json.at("kind");
    const Json& values = json.at("values");
    const auto expect = [&](bool right) { check(right, "is not what the numbers say: " + json.dump()); };
    if (kind == "missed") {
      const Json& of = run_of(json.at("subjects")[0]);
      for (const auto& [label, other] : runs_) {
        if (!truth(*other, "communicates")) continue;
        if (values.at("seeds") == 1) expect(!truth(*other, "target_reached"));
        if (values.at("seeds") == 1) expect(value(*other, "best_accuracy") <= value(of, "best_accuracy"));
      }
      if (values.at("seeds") == 1) expect(values.at("accuracy") == of.at("best_accuracy"));
    }
    if (kind == "nothing-shared")
      expect(std::ranges::none_of(runs_, [](const auto& one) { return truth(*one.second, "communicates"); }));
    if (kind == "diverged") {
      for (const auto& [label, other] : runs_) {
        const Json& subjects = json.at("subjects");
        const bool named = std::ranges::any_of(subjects, [&](const Json& one) { return one == label; });
        expect(truth(*other, "diverged") == named);
      }
    }
    if (kind == "memory-exceeded") {
      for (const auto& [label, other] : runs_) {
        const Json& subjects = json.at("subjects");
        const bool named = std::ranges::any_of(subjects, [&](const Json& one) { return one == label; });
        const Json& device = other->at("memory").at("device_bytes");
        expect(named == (truth(*other, "communicates") && !device.is_null() && value(*other, "memory_bytes") > device));
      }
    }
    if (kind == "at-chance" && run == nullptr) {
      for (const auto& [label, other] : runs_) {
        const Json& subjects = json.at("subjects");
        const bool named = std::ranges::any_of(subjects, [&](const Json& one) { return one == label; });
        const bool noted =
            std::ranges::any_of(other->at("notes"), [](const Json& one) { return one.at("kind") == "at-chance"; });
        expect(noted == named);
      }
    }
    if (kind == "nothing-learned") {
      for (const auto& [label, of] : runs_) expect(of->at("final_accuracy").is_null());
    }
    if (kind == "rounds") {
      const Json& of = run_of(json.at("subjects")[0]);
      expect(near(value(values, "per_hour"), value(of, "rounds_per_hour")));
      expect(near(value(values, "seconds"), value(of, "step_seconds")));
      expect(near(value(values, "computing"), value(of, "compute_seconds")));
      expect(near(value(values, "taking_part"), value(of, "taking_part")));
    }
    if (kind == "stopped") {
      const Json& of = run_of(json.at("subjects")[0]);
      expect(values == of.at("event_run").at("stopped").at("values"));
      expect(value(of, "total_seconds") <= value(values, "seconds") * (1 + 1e-9) || truth(of, "event_driven"));
    }
    if (kind == "throughput") {
      for (const char* name : {"samples_per_second", "tokens_per_second", "model_flops_utilisation",
                               "masked_flops_utilisation", "scaling_efficiency", "workers"}) {
        if (values.contains(name)) expect(near(values.at(name), value(run_of(json.at("subjects")[0]), name)));
      }
    }
    if (kind == "first-with-steps") {
      const auto counted = [&](std::size_t i) {
        const Json& of = run_of(json.at("subjects")[i]);
        return value(of, "step_seconds") * value(of, "relative_steps");
      };
      expect(near(values.at("factor"), counted(1) / counted(0), 1e-3));
    }
    if (run == nullptr) return;
    if (kind == "divergence" && values.contains("loss")) {
      expect(near(values.at("loss"), value(run->at("curve").back(), "loss")));
      expect(near(values.at("loss_before"), value(run->at("curve").front(), "loss")));
    }
    if (kind == "at-chance") {
      expect(near(values.at("accuracy"), value(run->at("curve").back(), "accuracy")));
      expect(near(values.at("loss"), value(run->at("curve").back(), "loss")));
    }
    if (kind == "compression") expect(json.at("subjects")[0] == run->at("compress").at("method"));
    if (kind == "idle-compression") expect(run->at("compression_is_lossy") == false);
    if (kind == "censored-ranks") expect(values.at("layers") == run->at("censored_layers"));
    if (kind == "tight-memory") {
      expect(values.at("bytes") == run->at("memory_bytes"));
      expect(1.1 * value(*run, "memory_bytes") > value(run->at("memory"), "device_bytes"));
    }
    if (kind == "above-peak") expect(value(*run, "model_flops_utilisation") > 1);
  }

  const Json& result_;
  const Json& answer_;
  std::map<std::string, const Json*> runs_;
  std::vector<std::string> wrong_;
};

/// Returns errors in the causes and the advice of an explanation. Each part needs a trial that confirms it, or a reason
/// why not; advice must save at least 1 %.
inline std::vector<std::string> unexplained(const nlohmann::json& explanation) {
  std::vector<std::string> wrong;
  for (const nlohmann::json& run : explanation.at("runs")) {
    const std::string label = run.at("label");
    std::map<std::string, double> tried;  // sum of the shares that a change reduces, by change
    for (const auto& cause : run.at("causes")) {
      for (const auto& part : cause.at("on")) {
        if (!part.at("tried").is_null()) tried[part.at("tried").dump()] += part.at("share").get<double>();
      }
    }
    for (const auto& cause : run.at("causes")) {
      for (const auto& part : cause.at("on")) {
        const double share = part.at("share");
        if (share < 0.01) continue;
        const std::string what = label + ": " + cause.at("kind").get<std::string>() + " of " + part.dump();
        if (part.at("tried").is_null()) {
          if (part.at("why_not").is_null()) wrong.push_back(what + " was not tried, and nothing says why");
          continue;
        }
        const double saving = part.at("saving_if_twice_as_fast");
        if (saving < share / 8 && part.at("why_not").is_null()) wrong.push_back(what + " saves next to nothing");
        if (saving > 0.7 * tried[part.at("tried").dump()] + 0.01 && part.at("why_more").is_null())
          wrong.push_back(what + " saves more than there is");
        if (!part.at("why_not").is_null() && !part.at("why_more").is_null())
          wrong.push_back(what + " saves too little and too much");
      }
    }
    for (const auto& index : run.at("most_useful")) {
      if (run.at("what_if").at(index.get<std::size_t>()).at("saving") < 0.01)
        wrong.push_back(label + ": advice that is useless: " + index.dump());
    }
  }
  return wrong;
}

}  // namespace dadsim::study
