#pragma once

namespace dadsim::estimate {

/// Machines that may be taken away; all machines wait until a replacement arrives.
struct Interruptions {
  double per_second = 0;        ///< failures per second of all machines together; all independent
  double checkpoint_every = 0;  ///< seconds of training between two checkpoints; 0: best_interval()
  double checkpoint_seconds = 0;
  double restart_seconds = 0;  ///< seconds until training continues from the last checkpoint
};

/// The time between checkpoints that costs least: J. T. Daly, A higher order estimate of the optimum checkpoint
/// interval for restart dumps, Future Generation Computer Systems 22 (2006), equation 37.
double best_interval(const Interruptions& what);

/// The expected time of training ÷ its time without interruptions and checkpoints (the same paper, equation 20):
/// M e^(R/M) (e^((τ+δ)/M) − 1) ÷ τ with the mean time between interruptions M, restart R, interval τ and checkpoint δ.
/// Interruptions may fall into restarts and checkpoints. Infinite where it would never end.
double expected_slowdown(const Interruptions& what);

}  // namespace dadsim::estimate
