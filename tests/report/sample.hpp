#pragma once

#include <utility>

#include "report/result.hpp"

namespace dadsim::report {

/// Two workers and an aggregator, three steps, of which the last two are alike.
inline step::Trajectory sample_trajectory() {
  step::Trajectory trajectory;
  trajectory.structures.resize(1);
  trajectory.distinct_steps.resize(2);
  trajectory.steps = {0, 1, 1};
  trajectory.steps_per_epoch = 2;
  trajectory.curve = {{0, 2.5, 0.1, 0.5}, {2, 0.75, 0.96, 0.99}, {3, 0.5, 0.94, 0.985}};
  trajectory.ranks = {{1, {8.0, 4.0}, {7.5, 3.0}}, {2, {5.5, 2.25}, {5.0, 2.0}}};
  return trajectory;
}

inline std::vector<step::StepTiming> sample_timings() {
  step::StepTiming first;
  first.seconds = 4;
  first.compute_seconds = 1;
  first.exposed_seconds = 3;
  first.bytes_sent = {1000, 3000, 8000};
  first.bytes_received = {4000, 4000, 4000};
  first.bounds = {{"up", "bandwidth", 3, 0.75}, {"site-1", "compute", 1, 0.25}};
  step::StepTiming second;
  second.seconds = 2.5;
  second.compute_seconds = 1;
  second.exposed_seconds = 1.5;
  second.bytes_sent = {400, 600, 1000};
  second.bytes_received = {500, 500, 1000};
  second.bounds = {{"site-1", "compute", 1, 0.4}, {"down", "bandwidth", 1, 0.4}, {"up", "latency", 0.5, 0.2}};
  return {first, second};
}

inline spec::RunSpec sample_spec(std::string algorithm, std::string label) {
  spec::RunSpec spec;
  spec.algorithm = std::move(algorithm);
  spec.label = std::move(label);
  spec.communicates = spec.algorithm != "pooled" && spec.algorithm != "no-sharing";
  return spec;
}

inline RunResult sample_run(std::string algorithm, std::string label, double target = 0.95) {
  return summarise(sample_spec(std::move(algorithm), std::move(label)), sample_trajectory(), sample_timings(), 2,
                   target);
}

inline Result sample_result() {
  Result result;
  result.version = "0.1.0";
  result.simgrid = "3.32";
  result.network_model = "CM02, no cross-traffic";
  result.scenario_name = "two sites";
  result.seed = 18446744073709551615U;
  result.hash = 0xABCU;
  result.learned_on = "MLP 4-3-2 (23 parameters), batch 32 per worker";
  result.timed_as = result.learned_on;
  result.target_accuracy = 0.95;
  result.layer_names = {"dense1", "dense2"};
  result.assumptions = {"Evaluation takes no time."};
  RunResult run = sample_run("rank-dad", "rank-dad");
  run.spec.parameters = {{"cap", "8"}, {"tolerance", "1e-3"}, {"way", "two"}};
  run.notes = {"Ranks were mapped by depth."};
  result.runs = {run};
  result.learning_wall_seconds = 1.5;
  result.timing_wall_seconds = 0.25;
  return result;
}

/// The same with several seeds, timed as something whose steps are known.
inline Result sample_scale_result() {
  Result result = sample_result();
  result.timed_as = "resnet-50 (25,557,032 parameters), batch 256 per worker";
  result.timed_as_other = true;
  ScaleSetting setting;
  setting.workload = "resnet-50";
  setting.batch = 512;
  setting.seeds = 2;
  setting.known = estimate::KnownSteps{1000, 900, 1200, 512, "75.9 % top-1", "40 epochs (MLPerf)"};
  setting.charges = {.evaluation_every = 100, .evaluation_seconds = 2, .start_up_seconds = 60};
  result.scale = setting;
  RunResult& run = result.runs[0];
  run.step_seconds = 0.5;
  run.at_scale = ScaleResult{{30, 60}, {estimate::Estimate{1.5, 1.2, 2.0}, ""}, estimate::Estimate{840, 684, 1100}};
  return result;
}

/// A run that shares, with nothing but what the verdict reads.
inline RunResult verdict_run(std::string algorithm, double best, double seconds_to_target) {
  RunResult run;
  run.spec = sample_spec(algorithm, algorithm);
  run.best_accuracy = best;
  run.target_reached = seconds_to_target >= 0;
  run.target_seconds = seconds_to_target;
  return run;
}

}  // namespace dadsim::report
