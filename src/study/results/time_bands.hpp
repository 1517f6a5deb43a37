#pragma once

#include <string>
#include <string_view>

#include "report/run/result.hpp"
#include "scenario/scenario.hpp"
#include "sim/simulator.hpp"
#include "spec/device_specification.hpp"
#include "study/setting/timed_as.hpp"

namespace dadsim::study {

/// What a device's time of a network rests on.
struct ComputeBasis {
  std::string category;     ///< of estimate::error_categories()
  report::Statement basis;  ///< "calibrated on DLPerf …"
};

/// `workload`: what is timed, by the name that scenarios have for it or in words. An efficiency is calibrated where its
/// source names a workload of the registry; what counts is that of the kind of layer that has most of the arithmetic.
ComputeBasis compute_basis(const spec::DeviceSpec& device, const spec::ModelShape& shape, const std::string& workload,
                           spec::Precision precision);

/// Whether a text names a workload, "ResNet-50 v1.5" resnet-50 and "ViT-B/16" vit-b-16.
bool names_workload(std::string_view text, std::string_view workload);

/// The category of what a run's messages take, of estimate::error_categories(): by the slowest transport in use, and by
/// what is sent.
std::string network_category(const scenario::Scenario& scenario, const report::RunResult& run);

/// Gives the run the band of its step.
void add_band(const scenario::Scenario& scenario, const TimedAs& timed, const sim::Cluster& cluster,
              report::RunResult& run);

}  // namespace dadsim::study
