#pragma once

namespace dadsim::estimate {

/// Interruptions of machines; if one is taken away, all wait until its replacement arrives.
struct Interruptions {
  double per_second = 0;        ///< failures per second of all machines together, which are independent of each other
  double checkpoint_every = 0;  ///< seconds of training between two checkpoints; 0: best_interval()
  double checkpoint_seconds = 0;
  double restart_seconds = 0;  ///< seconds until training continues from the last checkpoint
};

/// Returns the checkpoint interval with the least cost, seconds: J. T. Daly, A higher order estimate of the optimum
/// checkpoint interval for restart dumps, Future Generation Computer Systems 22 (2006), equation 37.
double best_interval(const Interruptions& what);

/// Returns the expected time of training ÷ its time without interruptions and checkpoints (the same paper, equation
/// 20):
///     M e^(R/M) (e^((τ+δ)/M) − 1) ÷ τ
/// with mean time between interruptions M, restart R, interval τ and checkpoint δ. Interruptions may occur during
/// restarts and checkpoints. Infinite if training would never end.
double expected_slowdown(const Interruptions& what);

}  // namespace dadsim::estimate
