#pragma once

#include <utility>

#include "report/run/result.hpp"

namespace dadsim::report {

/// Returns a trajectory of two workers and an aggregator with three steps, of which the last two are equal.
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
  const bool is_baseline = algorithm == "gradient-sharing";
  RunResult run =
      summarise(sample_spec(std::move(algorithm), std::move(label)), sample_trajectory(), sample_timings(), 2, target);
  run.is_baseline = is_baseline;
  return run;
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
  result.assumptions = {{"memory-unknown"}};
  RunResult run = sample_run("rank-dad", "rank-dad");
  run.spec.parameters = {{"cap", "8"}, {"tolerance", "1e-3"}, {"way", "two"}};
  run.step_band = StepBand{2.5, 3.75, {{"compute.assumed", 1, "computing"}, {"network.tcp", 2, "sending"}}};
  run.notes = {Statement{"remark"}.with("text", "Ranks were mapped by depth.")};
  run.statistics = {{"fc1", "rank-dad"}, {"fc2", "gradient"}};
  result.runs = {run};
  result.learning_wall_seconds = 1.5;
  result.timing_wall_seconds = 0.25;
  return result;
}

/// Returns a target that was reached at the evaluation after `at` steps and not at the one ten steps earlier.
inline std::optional<estimate::Passage> reached_at(std::int64_t at) {
  return estimate::Passage{at - 10, at, static_cast<double>(at) - 5};
}

inline Result sample_scale_result() {
  Result result = sample_result();
  result.timed_as = "resnet-50 (25,557,032 parameters), batch 256 per worker";
  result.timed_as_other = true;
  ScaleSetting setting;
  setting.workload = "resnet-50";
  setting.batch = 512;
  setting.seeds = 2;
  setting.known = estimate::KnownSteps{
      1000,           900,
      1200,           512,
      "75.9 % top-1", Statement{"steps-as-said"}.with("epochs", 40.0).with("samples_per_epoch", 50000.0)};
  setting.charges = {.evaluation_every = 100, .evaluation_seconds = 2, .start_up_seconds = 60};
  result.scale = setting;
  RunResult& run = result.runs[0];
  run.step_seconds = 0.5;
  run.step_band->low = 0.4;
  run.step_band->high = 0.6;
  run.at_scale = ScaleResult{{reached_at(30), reached_at(60)},
                             {estimate::Estimate{1.5, 1.2, 2.0}},
                             estimate::Estimate{840, 684, 1100},
                             {},
                             estimate::Estimate{840, 660, 1150}};
  return result;
}

/// Returns an event-driven run of two workers and an aggregator, with three rounds, one late answer and one lost
/// answer.
inline RunResult sample_event_driven_run() {
  using End = step::Participation::Part::End;
  using Kind = step::EventLog::Span::Kind;
  EventDrivenRun run;
  run.steps_per_epoch = 2;
  run.curve = {{0, 0, 2.5, 0.1, 0.5, 0, 0.0}, {1, 7, 1.5, 0.5, 0.8, 4000, 0.75}, {3, 30, 0.5, 0.96, 0.99, 9000, 2.25}};
  run.event_driven = EventDrivenResult{
      .participation = {.updates = 3,
                        .samples = 72,
                        .asked = 6,
                        .answered = 4,
                        .late = 1,
                        .failed = 1,
                        .wasted_seconds = 1.5,
                        .wasted_bytes = 500,
                        .staleness = {{0, 3}, {2, 1}},
                        .took_part = {3, 1},
                        .facts = {{"drift", 0.25}},
                        .parts = {{1, 0, 0, 6, End::used},
                                  {1, 1, 0, 6.5, End::used},
                                  {2, 0, 7, 13, End::used},
                                  {2, 1, 7, 16, End::failed},
                                  {2, 1, 7, 22, End::late},
                                  {3, 0, 15, 29, End::used}},
                        .first_update_at = 7},
      .log = {.nodes = {{.sent = 2000, .received = 2000, .busy = 9},
                        {.sent = 1000, .received = 1000, .lost = 500, .busy = 3, .down = 6, .outages = 1},
                        {.sent = 6000, .received = 5500}},
              .spans = {{Kind::compute, 0, -1, 1, 4, 0, 0, "client", false},
                        {Kind::send, 2, 1, 0, 2, 500, 1, "model", false},
                        {Kind::send, 2, 0, 0, 5, 500, 1, "model", false},
                        {Kind::lost, 1, 2, 8, 10, 500, 2, "update", true},
                        {Kind::down, 1, -1, 10, 16, 0, 0, "down", false},
                        {Kind::send, 2, 1, 17, 18, 500, 3, "model", false}},
              .outages = {{1, 10, 16}},
              .events = 40,
              .seconds = 30},
      .hosts = {"a", "b \"quoted\"", "hub"},
      .workers = 2,
      .learned = 7,
      .found = 2};
  spec::RunSpec spec = sample_spec("fedavg", "simulated");
  spec.event_driven = true;
  return summarise(spec, std::move(run), 0.95);
}

/// Returns a run that shares data, with only the members that a verdict reads.
inline RunResult verdict_run(std::string algorithm, double best, double seconds_to_target) {
  RunResult run;
  run.spec = sample_spec(algorithm, algorithm);
  run.is_baseline = algorithm == "gradient-sharing";
  run.best_accuracy = best;
  run.target_reached = seconds_to_target >= 0;
  run.target_seconds = seconds_to_target;
  return run;
}

}  // namespace dadsim::report
