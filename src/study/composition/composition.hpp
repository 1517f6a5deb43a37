#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "scenario/language/catalog.hpp"
#include "study/composition/features.hpp"

namespace dadsim::study {

/// What becomes of two features in one scenario.
enum class Composes : std::uint8_t {
  answers,        ///< they answer together
  means_nothing,  ///< refused: the two have nothing to say to each other
  not_built,      ///< refused: they would, and dadsim cannot do it yet
};

/// Two features of different axes, and what is said of them together.
struct FeaturePair {
  std::size_t a = 0, b = 0;  ///< indices of features, the smaller first
  Composes how = Composes::answers;
  std::string method = {};             ///< that was asked for both
  std::string what = {}, remedy = {};  ///< of a refusal
};

struct Composition {
  std::vector<Feature> features;
  std::vector<FeaturePair> pairs;

  struct Counts {
    std::size_t answers = 0, means_nothing = 0, not_built = 0;
    std::size_t all() const { return answers + means_nothing + not_built; }
    /// Of the pairs that mean something.
    double share() const;
  };
  Counts counts() const;
  Counts counts(const std::string& axis, const std::string& other) const;
  std::vector<std::string> axes() const;
};

/// A scenario with both, for one method.
Draft draft_of(const Feature& a, const Feature& b, const std::string& method);

/// One pair: a scenario with both is made and asked what is wrong with it, as --check does, for the methods that the
/// features are about in turn until one answers.
FeaturePair compose(const std::vector<Feature>& features, std::size_t a, std::size_t b);

/// Every pair of features of different axes that is wanted, without a condition all; `show_progress` on standard error.
Composition compose_all(bool show_progress,
                        const std::function<bool(const Feature&, const Feature&)>& is_wanted = nullptr);

}  // namespace dadsim::study
