#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/cost_specification.hpp"
#include "plan/goal_specification.hpp"
#include "plan/specification.hpp"
#include "plan/sweep_specification.hpp"
#include "scenario/xml_writer.hpp"

namespace dadsim {

/// How the path of a file is written.
using PathText = std::function<std::string(const std::string&)>;

void write_devices(XmlWriter& xml, const std::vector<DeviceSpec>& devices);
void write_data(XmlWriter& xml, const DataSpec& data, const PathText& file);
void write_model(XmlWriter& xml, const ModelSpec& model);
void write_costs(XmlWriter& xml, const CostSpec& costs);
void write_goal(XmlWriter& xml, const GoalSpec& goal);
void write_sweep(XmlWriter& xml, const SweepSpec& sweep);

}  // namespace dadsim
