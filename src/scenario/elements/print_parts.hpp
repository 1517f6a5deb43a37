#pragma once

#include <string>
#include <vector>

#include "scenario/language/catalog.hpp"
#include "scenario/xml/xml_writer.hpp"
#include "spec/cost_specification.hpp"
#include "spec/evaluation_specification.hpp"
#include "spec/failure_specification.hpp"
#include "spec/goal_specification.hpp"
#include "spec/scale_study_specification.hpp"
#include "spec/specification.hpp"
#include "spec/sweep_specification.hpp"

namespace dadsim::scenario {

void write_devices(XmlWriter& xml, const std::vector<spec::DeviceSpec>& devices);
void write_drifts(XmlWriter& xml, const std::vector<spec::DriftSpec>& drifts);
void write_data(XmlWriter& xml, const spec::DataSpec& data, const PathText& file);
void write_model(XmlWriter& xml, const spec::ModelSpec& model);
void write_training(XmlWriter& xml, const spec::TrainingSpec& training);
void write_optimizer(XmlWriter& xml, const spec::OptimizerSpec& optimizer);
void write_failures(XmlWriter& xml, const spec::FailureSpec& what, const PathText& file);
void write_costs(XmlWriter& xml, const spec::CostSpec& costs);
void write_goal(XmlWriter& xml, const spec::GoalSpec& goal);
void write_runs(XmlWriter& xml, const std::vector<spec::RunSpec>& runs, const PathText& file);
void write_parameters(XmlWriter::Open& element, const spec::RunSpec& run, const PathText& file);
void write_compress(XmlWriter& xml, const spec::CompressSpec& compress);
void write_share(XmlWriter& xml, const spec::RunSpec& run);
void write_sweep(XmlWriter& xml, const spec::SweepSpec& sweep);
void write_scale_study(XmlWriter& xml, const spec::ScaleStudySpec& study);

/// Prints <platform>. A declared platform is printed in full, even if a file contains it. For a SimGrid platform file,
/// `file` returns the printed path.
void write_platform(XmlWriter& xml, const spec::PlatformSpec& platform, const PathText& file);

// Functions that print the parts of <platform>.
void write_cluster(XmlWriter& xml, const spec::GpuClusterSpec& cluster);
void write_cluster(XmlWriter& xml, const spec::FederationSpec& federation);
void write_wan(XmlWriter& xml, const spec::WanSpec& wan);
/// Prints both directions as one pair if their numbers are equal.
void write_pairs(XmlWriter& xml, const std::vector<spec::WanSpec::Pair>& pairs);
void write_variation(XmlWriter& xml, const spec::PlatformSpec& platform);

/// Returns a device as the <device> element of a scenario.
std::string print_device(const spec::DeviceSpec& device);

}  // namespace dadsim::scenario
