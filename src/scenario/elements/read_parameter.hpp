#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenario/elements/read.hpp"
#include "spec/parameter.hpp"

namespace dadsim::scenario {

/// An algorithm or a preset, whose parameters are written as attributes.
struct ParameterOwner {
  std::string name;
  std::vector<spec::ParameterSpec> parameters;
};

/// Returns the checked value of a parameter in its shortest form; for a file its absolute path.
std::string read_parameter(const Node& node, const spec::ParameterSpec& parameter, const ReadContext& context);

/// Checks that the element has no attributes except the language's and the parameters of `owner`. `all`: owners to
/// suggest in its place.
void check_parameter_names(const Node& node, const ParameterOwner& owner, std::span<const ParameterOwner> all,
                           const ReadContext& context);

}  // namespace dadsim::scenario
