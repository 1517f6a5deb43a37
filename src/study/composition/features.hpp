#pragma once

#include <functional>
#include <string>
#include <vector>

#include "methods/method.hpp"
#include "study/composition/draft.hpp"

namespace dadsim::study {

/// Something that a scenario may ask for beside other things.
struct Feature {
  std::string axis, name;
  std::function<void(Draft&)> add;
  /// Methods that it is about, where it is about some; beside another feature one of these is asked for it.
  std::function<bool(const methods::MethodInfo&)> is_about = nullptr;
  bool wanted_of_all = false;  ///< it would mean something to the other methods too
  /// Of these, methods to which it would mean nothing all the same; none: there are none.
  std::function<bool(const methods::MethodInfo&)> is_empty_for = nullptr;
  bool is_method() const { return axis == kMethods; }

  static constexpr const char* kMethods = "method";
};

/// Axis by axis, in the order of presentation: every method and compressor of the registries, every graph, and what
/// else the language has that shapes a run. A name says what stands in the scenario.
std::vector<Feature> all_features();

}  // namespace dadsim::study
