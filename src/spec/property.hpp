#pragma once

#include <concepts>
#include <functional>
#include <utility>

#include "spec/parameter.hpp"

namespace dadsim::spec {

/// A property that holds always, never, or depending on an `Argument` (a method's parameters, or the whole run).
template <class Argument>
class PropertyBy {
 public:
  using Of = std::function<bool(const Argument&)>;
  PropertyBy() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most are always or never; pointers must not convert
  PropertyBy(std::same_as<bool> auto always) : always_(always) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a lambda defines its dependence
  PropertyBy(std::predicate<const Argument&> auto of) : of_(std::move(of)) {}

  /// Returns whether the property holds. *Requires* every parameter if the property depends on them.
  bool operator()(const Argument& argument) const { return of_ ? of_(argument) : always_; }
  bool depends() const { return static_cast<bool>(of_); }

 private:
  bool always_ = false;
  Of of_ = nullptr;
};

using Property = PropertyBy<ParameterValues>;

}  // namespace dadsim::spec
