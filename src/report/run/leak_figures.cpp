#include "report/run/leak_figures.hpp"

#include <cmath>

namespace dadsim::report {

double most_leaked(const RunResult& run, double step::LeakFigures::*figure) {
  double most = step::LeakFigures::kUnknown;
  if (!run.leak) return most;
  for (const step::AdversaryLeak& one : run.leak->adversaries) most = std::fmax(most, one.all.*figure);
  return most;
}

double epsilon_spent(const RunResult& run) {
  double least = step::LeakFigures::kUnknown;
  if (!run.leak) return least;
  for (const step::AdversaryLeak& one : run.leak->adversaries) least = std::fmin(least, one.epsilon);
  return least;
}

}  // namespace dadsim::report
