// Expects that docs/composition.md is true. Draws pairs of features, and runs the accepted ones. If a pair is refused,
// the remedy must lead to a scenario that is accepted. DADSIM_DRAWS sets how many pairs are drawn.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "protocols/registry.hpp"
#include "scenario/document/load.hpp"
#include "scenario/xml/findings.hpp"
#include "study/composition/composition.hpp"
#include "study/composition/observing.hpp"
#include "study/composition/remedies.hpp"
#include "study/explain/explain.hpp"

namespace dadsim::study {
namespace {

test::Element parsed(const Draft& draft) {
  scenario::Findings findings("composition.xml");
  return scenario::parse_xml(draft.xml(), scenario::kScenarioDocument, findings);
}

/// Runs the draft's command. Returns the failure; "" if there is none.
std::string ask(const Asking& asking, const Draft& draft) {
  const Asking::Checked checked = asking.check(parsed(draft), draft.times_alone);
  if (!checked.scenario) return "refused: " + to_string(checked.refused.front());
  using Question = Draft::Question;
  try {
    switch (draft.question) {
      case Question::plan:
        return observe_plan(asking.path()).failed;
      case Question::sweep: {
        const Observed points = observe_sweep(asking.path(), asking.catalog());
        return points.failed.empty() ? observe_run(*checked.scenario).failed : points.failed;
      }
      case Question::explain: {
        const scenario::Scenario scenario = as_explained(*checked.scenario);
        static_cast<void>(
            to_json(document_of(explain_scenario(scenario, learn_scenario(scenario, nullptr, false), false))));
        return {};
      }
      case Question::compare:
        static_cast<void>(
            to_json(document_of(compare_scenarios(*checked.scenario, *checked.scenario, "itself", false))));
        return {};
      case Question::run:
        return observe_run(*checked.scenario).failed;
    }
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

/// Applies remedies of refusals until the scenario is accepted, within at most `checks` checks. Returns the refusal
/// whose remedies all fail, if there is one.
std::optional<Diagnostic> cure(const Asking& asking, const test::Element& root, const Diagnostic& refusal,
                               bool times_alone, std::set<std::string>& seen, int& checks) {
  std::vector<std::pair<test::Element, Diagnostic>> further;
  for (test::Element& tried : Remedies(root, refusal, asking.catalog()).tries()) {
    if (!seen.insert(test::text_of(tried)).second || --checks < 0) continue;
    const Asking::Checked after = asking.check(tried, times_alone);
    if (after.scenario) return std::nullopt;
    const bool gone =
        std::ranges::none_of(after.refused, [&](const Diagnostic& one) { return one.what == refusal.what; });
    if (gone) further.emplace_back(std::move(tried), after.refused.front());
  }
  std::optional<Diagnostic> open = refusal;
  for (const auto& [changed, next] : further) {
    open = cure(asking, changed, next, times_alone, seen, checks);
    if (!open) return std::nullopt;
  }
  return open;
}

std::optional<Diagnostic> cure(const Asking& asking, const test::Element& root, bool times_alone) {
  const Asking::Checked checked = asking.check(root, times_alone);
  if (checked.scenario) return std::nullopt;
  std::set<std::string> seen{test::text_of(root)};
  int checks = 300;
  return cure(asking, root, checked.refused.front(), times_alone, seen, checks);
}

constexpr std::uint64_t kPairParts = 4;

class Pairs : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Pairs, WhatIsSaidToAnswerDoesAndWhatIsRefusedSaysWhatWouldDo) {
  const Asking asking;
  const std::vector<Feature> features = all_features();
  const bool tells = std::getenv("DADSIM_DRAWS") != nullptr;
  std::mt19937 random(static_cast<std::uint32_t>(GetParam() + 1));
  int answered = 0, refused = 0;
  const auto methods = static_cast<std::size_t>(std::ranges::count_if(features, &Feature::is_method));
  for (std::uint64_t i = GetParam(); i < draws(48); i += kPairParts) {
    std::size_t a = 0, b = 0;
    // Half of the pairs combine a method with a feature of another axis.
    while (features[a].axis == features[b].axis) {
      a = random() % features.size();
      if (i % 2 == 0) a = random() % methods;
      b = random() % features.size();
      if (a > b) std::swap(a, b);
    }
    const FeaturePair pair = compose(features, a, b);
    const Draft draft = draft_of(features[a], features[b], pair.method);
    const std::string both = fmt::format("{} and {}, with {}", features[a].name, features[b].name, pair.method);
    if (pair.how == Composes::answers) {
      ++answered;
      const std::string failed = ask(asking, draft);
      EXPECT_EQ(failed, "") << both << '\n' << draft.xml();
      if (tells) fmt::print("{}: {}\n", both, failed.empty() ? "answers" : "FAILS: " + failed);
    } else {
      ++refused;
      EXPECT_FALSE(pair.what.empty() || pair.remedy.empty()) << both;
      const std::optional<Diagnostic> open = cure(asking, parsed(draft), draft.times_alone);
      EXPECT_FALSE(open) << both << ": what is said to be right does not cure it: " << (open ? to_string(*open) : "")
                         << '\n'
                         << draft.xml();
      if (tells) fmt::print("{}: refused, {}\n", both, open ? "NOT CURED: " + to_string(*open) : "cured");
    }
    std::fflush(stdout);
  }
  EXPECT_GT(answered, refused / 4);
  RecordProperty("answered", answered);
  RecordProperty("refused", refused);
}

INSTANTIATE_TEST_SUITE_P(Drawn, Pairs, testing::Range<std::uint64_t>(0, kPairParts));

/// Makes the run a hundred times as long as in a draft.
void lengthen(Draft& draft) {
  Draft::set(draft.training, "epochs", "200");
  const methods::MethodInfo* info = protocols::find_method(draft.method);
  for (const char* name : {"updates", "rounds"}) {
    if (info != nullptr &&
        std::ranges::find(info->parameters, name, &spec::ParameterSpec::name) != info->parameters.end())
      Draft::set(draft.run, name, "600");
  }
}

/// Failures of hosts and links, and changes of speed, must change the time of every accepted run. A run whose steps
/// wait for nobody may end before its first message arrives; such a run must change when it is made longer.
TEST(Conditions, ChangeWhatRunsTake) {
  const Asking asking;
  const std::vector<Feature> features = all_features();
  const bool whole = std::getenv("DADSIM_DRAWS") != nullptr;
  const Feature nothing{"nothing", "nothing", [](Draft&) {}};
  const auto observe = [&](const Feature& method, const Feature& feature, bool longer) {
    Draft draft = draft_of(method, feature, method.name);
    if (longer) lengthen(draft);
    const Asking::Checked checked = asking.check(parsed(draft));
    return checked.scenario ? observe_run(*checked.scenario)
                            : Observed{.numbers = {}, .words = {}, .failed = "is refused"};
  };
  std::size_t number = 0;
  for (std::size_t a = 0; a < features.size(); ++a) {
    if (!features[a].is_method()) continue;
    for (std::size_t b = 0; b < features.size(); ++b) {
      if (features[b].axis != "failures, availability, jitter") continue;
      if (!whole && ++number % 40 != 0) continue;
      const FeaturePair pair = compose(features, a, b);
      if (pair.how != Composes::answers) continue;
      bool acts = false;
      for (const bool longer : {false, true}) {
        if (acts) break;
        const Observed both = observe(features[a], features[b], longer);
        EXPECT_EQ(both.failed, "") << features[a].name << " and " << features[b].name;
        acts = both.numbers != observe(features[a], nothing, longer).numbers;
      }
      EXPECT_TRUE(acts) << features[a].name << " passes over " << features[b].name << '\n'
                        << draft_of(features[a], features[b], features[a].name).xml();
    }
  }
}

}  // namespace
}  // namespace dadsim::study
