#pragma once

#include <span>
#include <string>
#include <vector>

#include "scenario/elements/read.hpp"
#include "spec/parameter.hpp"

namespace dadsim::scenario {

/// What has parameters that are written as attributes: an algorithm, or a preset.
struct ParameterOwner {
  std::string name;
  std::vector<spec::ParameterSpec> parameters;
};

/// The value of a parameter in its shortest form, checked; of a file that is named its absolute path.
std::string read_parameter(const Node& node, const spec::ParameterSpec& parameter, const ReadContext& context);

/// That the element has no attributes but the language's own and the parameters of `owner`. `all` are the owners that
/// could stand in its place.
void check_parameter_names(const Node& node, const ParameterOwner& owner, std::span<const ParameterOwner> all,
                           const ReadContext& context);

}  // namespace dadsim::scenario
