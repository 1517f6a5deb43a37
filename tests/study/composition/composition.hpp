#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "protocols/registry.hpp"
#include "scenario/document/load.hpp"
#include "scenario/language/catalog.hpp"
#include "study/composition/features.hpp"
#include "study/setting/catalog.hpp"
#include "study/trials/outcome.hpp"
#include "support/diagnostics.hpp"

namespace dadsim::study {

/// Outcome of two features in one scenario.
enum class Composes : std::uint8_t {
  answers,        ///< the scenario is accepted
  means_nothing,  ///< refused: a combination of the two has no meaning
  not_built,      ///< refused: a combination of the two has a meaning, but dadsim does not implement it
};

/// Two features of different axes, and the outcome of their combination.
struct FeaturePair {
  std::size_t a = 0, b = 0;  ///< indices of the two features, the smaller first
  Composes how = Composes::answers;
  std::string method = {};             ///< method with which the pair was checked
  std::string what = {}, remedy = {};  ///< parts of the refusal's message
};

struct Composition {
  std::vector<Feature> features;
  std::vector<FeaturePair> pairs;

  struct Counts {
    std::size_t answers = 0, means_nothing = 0, not_built = 0;
    std::size_t all() const { return answers + means_nothing + not_built; }
    /// Returns the fraction of meaningful pairs that are accepted.
    double share() const;
  };
  Counts counts() const;
  /// Counts the pairs of one axis with another axis, or with all others.
  Counts counts(const std::string& axis, const std::string& other = "") const;
  std::vector<std::string> axes() const;
};

inline constexpr std::size_t kMostMethods = 8;  // methods tried for a pair before it counts as refused

/// Catalogues for drafts that share one platform. They cache facts about the platform: each look-up forks a process,
/// and there are thousands of drafts.
class DraftCatalogs {
 public:
  DraftCatalogs() {
    for (scenario::Catalog* catalog : {&learning, &without}) {
      catalog->check_platform = [this, ask = catalog->check_platform](const Question& question) {
        const Asked asked{question.hosts, question.pairs};
        {
          const std::lock_guard lock(mutex_);
          if (const auto known = answers_.find(asked); known != answers_.end()) return known->second;
        }
        Answer answer = ask(question);
        const std::lock_guard lock(mutex_);
        return answers_.emplace(asked, std::move(answer)).first->second;
      };
    }
  }
  DraftCatalogs(const DraftCatalogs&) = delete;
  DraftCatalogs& operator=(const DraftCatalogs&) = delete;

  scenario::Catalog learning = make_catalog(), without = make_catalog_without_learning();

 private:
  using Question = scenario::Catalog::PlatformQuestion;
  using Answer = scenario::Catalog::PlatformAnswer;
  using Asked = std::pair<decltype(Question::hosts), decltype(Question::pairs)>;

  std::mutex mutex_;
  std::map<Asked, Answer> answers_;
};

inline const DraftCatalogs& catalogs_of(const Draft& draft) {
  static std::mutex mutex;
  static std::map<std::string, DraftCatalogs> by_platform;
  const std::lock_guard lock(mutex);
  return by_platform[draft.inside_platform];
}

/// Returns all errors that --check reports for the draft.
inline std::vector<Diagnostic> faults_of(const Draft& draft) {
  try {
    const scenario::ScenarioSource source("composition.xml", draft.xml());
    const DraftCatalogs& catalogs = catalogs_of(draft);
    static_cast<void>(source.load({}, draft.times_alone ? catalogs.without : catalogs.learning));
    return {};
  } catch (const InputError& error) {
    return error.diagnostics();
  }
}

/// Returns the methods to try for both features, the best-known first.
inline std::vector<const methods::MethodInfo*> methods_for(const Feature& a, const Feature& b) {
  std::vector<const methods::MethodInfo*> all = protocols::all_methods();
  for (const Feature* one : {&a, &b}) {
    if (one->is_method()) return {protocols::find_method(one->name)};
  }
  const auto is_about = [](const Feature& feature, const methods::MethodInfo& info) {
    return !feature.is_about || feature.is_about(info);
  };
  std::vector<const methods::MethodInfo*> chosen;
  std::ranges::copy_if(all, std::back_inserter(chosen),
                       [&](const auto* info) { return is_about(a, *info) && is_about(b, *info); });
  if (chosen.empty()) {
    std::ranges::copy_if(all, std::back_inserter(chosen),
                         [&](const auto* info) { return is_about(a.is_about ? a : b, *info); });
  }
  std::ranges::stable_partition(chosen, [](const auto* info) { return info->is_baseline; });
  if (chosen.size() > kMostMethods) chosen.resize(kMostMethods);
  return chosen;
}

/// Returns a scenario of the method with both features.
inline Draft draft_of(const Feature& a, const Feature& b, const std::string& method) {
  Draft draft{.method = method};
  a.add(draft);
  b.add(draft);
  return draft;
}

inline FeaturePair compose_with(const std::vector<Feature>& features, std::size_t a, std::size_t b,
                                const methods::MethodInfo& info) {
  FeaturePair pair{a, b, Composes::answers, info.name};
  const std::vector<Diagnostic> faults = faults_of(draft_of(features[a], features[b], info.name));
  if (!faults.empty()) {
    const bool lacks = std::ranges::any_of(std::array{&features[a], &features[b]}, [&](const Feature* one) {
      return one->wanted_of_all && one->is_about && !one->is_about(info) &&
             !(one->is_empty_for && one->is_empty_for(info));
    });
    const bool built = !lacks && std::ranges::any_of(faults, [](const Diagnostic& one) { return !one.not_built; });
    pair.how = built ? Composes::means_nothing : Composes::not_built;
    const auto reason = std::ranges::find(faults, !built, &Diagnostic::not_built);
    const Diagnostic& first = reason == faults.end() ? faults.front() : *reason;
    pair.what = first.what;
    pair.remedy = first.remedy;
    for (const Feature* one : {&features[a], &features[b]}) {
      if (built && one->is_empty_for && private_form_of(info) != nullptr && one->is_about && !one->is_about(info))
        pair.what = fmt::format("with noise, the method is {}: another method here", private_form_of(info));
    }
  }
  return pair;
}

inline double Composition::Counts::share() const {
  return answers == 0 ? 0 : static_cast<double>(answers) / static_cast<double>(answers + not_built);
}

inline Composition::Counts Composition::counts() const { return counts("", ""); }

inline Composition::Counts Composition::counts(const std::string& axis, const std::string& other) const {
  Counts counts;
  for (const FeaturePair& pair : pairs) {
    const std::string& first = features[pair.a].axis;
    const std::string& second = features[pair.b].axis;
    const bool of_axis = other.empty() && (first == axis || second == axis);
    const bool counted =
        axis.empty() || of_axis || (first == axis && second == other) || (first == other && second == axis);
    if (!counted) continue;
    (pair.how == Composes::answers         ? counts.answers
     : pair.how == Composes::means_nothing ? counts.means_nothing
                                           : counts.not_built)++;
  }
  return counts;
}

inline std::vector<std::string> Composition::axes() const {
  std::vector<std::string> axes;
  for (const Feature& feature : features) {
    if (std::ranges::find(axes, feature.axis) == axes.end()) axes.push_back(feature.axis);
  }
  return axes;
}

/// Checks a scenario with both features, with one suitable method after another until one is accepted.
inline FeaturePair compose(const std::vector<Feature>& features, std::size_t a, std::size_t b) {
  FeaturePair first;
  bool asked = false;
  for (const methods::MethodInfo* info : methods_for(features[a], features[b])) {
    FeaturePair pair = compose_with(features, a, b, *info);
    if (pair.how == Composes::answers) return pair;
    if (!std::exchange(asked, true)) first = std::move(pair);
  }
  return first;
}

/// Checks every pair of features of different axes.
inline Composition compose_all() {
  Composition composition{all_features(), {}};
  const std::vector<Feature>& features = composition.features;
  for (std::size_t a = 0; a < features.size(); ++a) {
    for (std::size_t b = a + 1; b < features.size(); ++b) {
      if (features[a].axis != features[b].axis) composition.pairs.push_back({.a = a, .b = b});
    }
  }
  parallel_for_forks(composition.pairs.size(), [&](std::size_t i) {
    FeaturePair& pair = composition.pairs[i];
    pair = compose(features, pair.a, pair.b);
  });
  return composition;
}

}  // namespace dadsim::study
