#include "report/run/work_figures.hpp"

#include <cmath>
#include <limits>

namespace dadsim::report {
namespace {

constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();
constexpr double kJoulesOfKwh = 3.6e6;

double samples_of(const FigureSource& of) {
  return of.run.throughput ? of.run.throughput->samples * of.run.step_seconds : kNoFigure;
}

double tokens_of(const FigureSource& of) {
  return of.run.throughput ? of.run.throughput->tokens.value_or(kNoFigure) * of.run.step_seconds : kNoFigure;
}

double money_of(const FigureSource& of) {
  return of.run.costs ? of.run.costs->per_step.money.value_or(kNoFigure) : kNoFigure;
}

double kwh_of(const FigureSource& of) {
  return of.run.costs ? of.run.costs->per_step.joules.value_or(kNoFigure) / kJoulesOfKwh : kNoFigure;
}

double for_cost(double work, double cost) { return cost > 0 ? work / cost : kNoFigure; }

}  // namespace

double global_batch(const FigureSource& of) { return std::round(samples_of(of)); }

double known_steps(const FigureSource& of) {
  return of.run.at_scale && of.result.scale && of.result.scale->known ? of.result.scale->known->steps : kNoFigure;
}

double samples_per_money(const FigureSource& of) { return for_cost(samples_of(of), money_of(of)); }
double tokens_per_money(const FigureSource& of) { return for_cost(tokens_of(of), money_of(of)); }
double samples_per_kwh(const FigureSource& of) { return for_cost(samples_of(of), kwh_of(of)); }
double tokens_per_kwh(const FigureSource& of) { return for_cost(tokens_of(of), kwh_of(of)); }

double money_per_month(const FigureSource& of) {
  return of.run.costs ? of.run.costs->per_month.value_or(kNoFigure) : kNoFigure;
}

double spot_seconds(const FigureSource& of) {
  return of.run.costs && of.run.costs->spot ? of.run.costs->spot->seconds : kNoFigure;
}

double spot_money(const FigureSource& of) {
  return of.run.costs && of.run.costs->spot ? of.run.costs->spot->costs.money.value_or(kNoFigure) : kNoFigure;
}

}  // namespace dadsim::report
