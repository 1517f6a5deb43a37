#pragma once

#include "report/run/figures.hpp"

// How figures of work, and of what work costs, are had; not a number where they are not known.

namespace dadsim::report {

/// Samples of all workers per step.
double global_batch(const FigureSource& of);
/// Steps that the workload is known to need.
double known_steps(const FigureSource& of);
double samples_per_money(const FigureSource& of);
double tokens_per_money(const FigureSource& of);
double samples_per_kwh(const FigureSource& of);
double tokens_per_kwh(const FigureSource& of);
double money_per_month(const FigureSource& of);
double spot_seconds(const FigureSource& of);
double spot_money(const FigureSource& of);

}  // namespace dadsim::report
