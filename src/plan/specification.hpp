#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "plan/parameter.hpp"
#include "plan/platform_specification.hpp"

// What is to be learned and timed, complete and checked: the vocabulary that the scenario reader fills in and the other
// folders read. Every default has been resolved; every path is absolute.

namespace dadsim {

/// The embedded, procedurally drawn digits.
struct DigitsSource {
  std::int64_t train = 8000;  ///< samples
  std::int64_t test = 2000;
};

/// Images and labels in IDX files (plain or gzip).
struct IdxSource {
  std::string images, labels;            ///< training files
  std::string test_images, test_labels;  ///< both empty: the test samples follow the training samples in the same files
  std::int64_t train = 0;                ///< samples
  std::int64_t test = 0;
};

/// How the training samples are dealt to the sites.
struct SplitSpec {
  enum class Kind { iid, by_class, dirichlet, shards, sizes };
  Kind kind = Kind::iid;
  double alpha = 0.5;               ///< dirichlet: concentration; small is uneven
  std::int64_t shards = 2;          ///< shards: per site, of samples sorted by class
  std::vector<std::int64_t> sizes;  ///< sizes: samples of each site, drawn at random
};

struct DataSpec {
  std::variant<DigitsSource, IdxSource> source;
  SplitSpec split;
};

enum class Activation : std::uint8_t { identity, relu, tanh, sigmoid, gelu };
const char* to_string(Activation activation);

struct DenseSpec {
  std::int64_t units = 0;
  Activation activation = Activation::relu;
  bool bias = true;
};

/// A multilayer perceptron; the last layer's units are the classes. Softmax cross-entropy follows it.
struct ModelSpec {
  std::vector<DenseSpec> layers;
};

struct OptimizerSpec {
  enum class Kind { sgd, adam, adamw };
  Kind kind = Kind::adam;
  double learning_rate = 1e-3;
  double momentum = 0;                                ///< sgd
  bool nesterov = false;                              ///< sgd
  double weight_decay = 0;                            ///< sgd and adam: added to the gradient (L2); adamw: decoupled
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;  ///< adam, adamw
};

/// Factor on the learning rate over time.
struct ScheduleSpec {
  enum class Kind { constant, steps, cosine };
  Kind kind = Kind::constant;
  double warm_up_epochs = 0;             ///< linear from 0, before any of the kinds
  std::vector<std::int64_t> milestones;  ///< steps: epochs after which the rate is multiplied by `factor`
  double factor = 0.1;                   ///< steps
  double final_factor = 0;               ///< cosine: what it ends at, as a share of the learning rate
};

struct TrainingSpec {
  enum class Batches { proportional, equal };
  enum class Stop { budget, target };
  std::int64_t batch = 32;                  ///< rows per worker and step (on average over workers if proportional)
  Batches batches = Batches::proportional;  ///< proportional: a site with twice the samples takes twice the rows
  double epochs = 10;                       ///< budget
  double target_accuracy = 0.95;            ///< on held-back data, 0…1
  Stop stop = Stop::budget;                 ///< target: end a run at the first evaluation that reaches the target
  std::int64_t evaluate_every = 0;          ///< steps; 0: once per epoch
  OptimizerSpec optimizer;
  ScheduleSpec schedule;
};

enum class Topology { aggregator, peer };
const char* to_string(Topology topology);

struct RunSpec {
  std::string algorithm;
  std::string label;  ///< unique within the scenario
  Topology topology = Topology::aggregator;
  ParameterValues parameters;  ///< every parameter of the algorithm
  /// How its collectives are carried out: names of the collectives' registry, or "auto".
  std::string all_reduce = "auto";
  std::string all_gather = "auto";
  /// Sums issued one after the other are carried out as one until they hold this many bytes; 0: as the algorithm issues
  /// them.
  double bucket_bytes = 0;
  bool communicates = true;  ///< false: one of the ends that algorithms are measured against; a topology means nothing
};

struct TimedAsSpec {
  std::string workload;
  std::int64_t batch = 32;  ///< samples per worker and step
};

/// A device by its roofline. Rates are of fp32 arithmetic unless the entry says otherwise.
struct DeviceSpec {
  std::string name;
  std::string description;
  double peak_flops = 0;         ///< flop/s, dense matrix products
  double memory_bandwidth = 0;   ///< byte/s
  double matrix_efficiency = 0;  ///< share of peak_flops that matrix products reach, 0…1
  double memory_efficiency = 0;  ///< share of memory_bandwidth reached, 0…1
  double launch_overhead = 0;    ///< seconds per kernel
  std::string source;            ///< where the numbers are published, and which are assumptions
  /// Seconds of all computations of a step, measured; 0: by the roofline. A measured step is divided among the
  /// computations by their time on the roofline.
  double step_seconds = 0;
};

/// How much the speed of computing scatters. Factors are log-normal with mean 1, drawn from the scenario's seed.
struct JitterSpec {
  double spatial = 0;   ///< standard deviation of the logarithm from worker to worker, the same in all steps
  double temporal = 0;  ///< of the logarithm from step to step, drawn for each worker
  bool operator==(const JitterSpec&) const = default;
};

/// How closely collectives are simulated.
enum class Fidelity : std::uint8_t {
  automatic,  ///< message where that is quick enough, flow otherwise
  message,    ///< every message of every collective: the reference
  flow,       ///< sharing of links worked out once per set of pairs; needs workers in step and an idle, steady network
  closed_form,  ///< latency plus bytes over bandwidth of the worst pair, no sharing: for orientation
};
const char* to_string(Fidelity fidelity);

/// How the network is simulated.
struct NetworkSpec {
  Fidelity fidelity = Fidelity::automatic;
  std::int64_t message_budget = 2'000'000;  ///< automatic: messages simulated per run, about 4 µs each
  bool rendezvous =
      false;  ///< a message leaves when its receiver has posted and said so (as gloo does): a path latency later
  JitterSpec jitter;
};

struct Placement {
  std::string host;    ///< name in the platform
  std::string device;  ///< name of a DeviceSpec
};

}  // namespace dadsim
