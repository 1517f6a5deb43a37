#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include "spec/parameter.hpp"

namespace dadsim::spec {

/// What holds always, never, or by an `Argument`: of a method by its parameters, or by the whole run.
template <class Argument>
class PropertyBy {
 public:
  using Of = std::function<bool(const Argument&)>;
  PropertyBy() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most are always or never; pointers are no truths
  PropertyBy(std::same_as<bool> auto always) : always_(always) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a lambda says what it depends on
  PropertyBy(std::predicate<const Argument&> auto of) : of_(std::move(of)) {}

  /// *Requires* every parameter, if it depends on them.
  bool operator()(const Argument& argument) const { return of_ ? of_(argument) : always_; }
  bool depends() const { return static_cast<bool>(of_); }

 private:
  bool always_ = false;
  Of of_ = nullptr;
};

using Property = PropertyBy<ParameterValues>;

}  // namespace dadsim::spec
