#pragma once

#include <functional>
#include <string>
#include <vector>

#include "scenario/xml_writer.hpp"
#include "spec/cost_specification.hpp"
#include "spec/evaluation_specification.hpp"
#include "spec/failure_specification.hpp"
#include "spec/goal_specification.hpp"
#include "spec/specification.hpp"
#include "spec/sweep_specification.hpp"

namespace dadsim::scenario {

/// How the path of a file is written.
using PathText = std::function<std::string(const std::string&)>;

void write_devices(XmlWriter& xml, const std::vector<spec::DeviceSpec>& devices);
void write_drifts(XmlWriter& xml, const std::vector<spec::DriftSpec>& drifts);
void write_data(XmlWriter& xml, const spec::DataSpec& data, const PathText& file);
void write_model(XmlWriter& xml, const spec::ModelSpec& model);
void write_costs(XmlWriter& xml, const spec::CostSpec& costs);
void write_evaluation(XmlWriter& xml, const spec::EvaluationSpec& evaluation);
void write_failures(XmlWriter& xml, const spec::FailureSpec& what, const PathText& file);
void write_goal(XmlWriter& xml, const spec::GoalSpec& goal);
void write_sweep(XmlWriter& xml, const spec::SweepSpec& sweep);

}  // namespace dadsim::scenario
