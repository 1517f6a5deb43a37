#include "report/run/figure_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "report/text/escape.hpp"

namespace dadsim::report {
namespace {

bool is_text(std::size_t index) { return figures()[index].kind == Figure::Kind::text; }

/// Returns the position of a figure's value among the numbers, or among the texts.
std::size_t place_of(std::size_t index, bool text) {
  static const std::vector<std::size_t> kPlaces = [] {
    std::vector<std::size_t> places;
    std::size_t numbers = 0;
    std::size_t texts = 0;
    for (std::size_t i = 0; i < figures().size(); ++i) places.push_back(is_text(i) ? texts++ : numbers++);
    return places;
  }();
  if (is_text(index) != text)
    throw std::logic_error(fmt::format("the figure {} is {} text", figures()[index].name, text ? "no" : "a"));
  return kPlaces.at(index);
}

std::size_t count_of_texts() {
  return static_cast<std::size_t>(std::ranges::count(figures(), Figure::Kind::text, &Figure::kind));
}

}  // namespace

std::string to_csv(const Result& result) {
  const std::size_t label = figure_index("label");
  std::string csv = fmt::format(
      "scenario,seed,label,step,epochs,seconds,bytes,loss,accuracy,auc,seconds_low,seconds_high,timed_as{}\n",
      csv_names_of_figures(label + 1));
  const std::string scenario = fmt::format("{},{}", csv_field(result.scenario_name), result.seed);
  for (const RunResult& run : result.runs) {
    const FigureValues values({run, result});
    const std::string of_run = fmt::format("{},{}", scenario, csv_field_of(values, label));
    const std::string figures = csv_field(result.timed_as) + csv_fields_of(values, label + 1);
    const std::optional<estimate::Band> factors = run.factors();
    for (const CurvePoint& point : run.curve) {
      csv += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", of_run, point.step, csv_field(run.epochs_at(point)),
                         csv_field(point.seconds), csv_field(point.bytes), csv_field(point.loss),
                         csv_field(point.accuracy), csv_field(point.auc),
                         factors ? csv_field(point.seconds * factors->low) : "",
                         factors ? csv_field(point.seconds * factors->high) : "", figures);
    }
  }
  return csv;
}

FigureValues::FigureValues()
    : numbers_(figures().size() - count_of_texts(), std::numeric_limits<double>::quiet_NaN()),
      texts_(count_of_texts()) {}

FigureValues::FigureValues(const FigureSource& source) : FigureValues() {
  for (std::size_t i = 0; i < figures().size(); ++i) {
    if (is_text(i)) {
      set(i, figures()[i].text(source));
    } else {
      set(i, figures()[i].number(source));
    }
  }
}

double FigureValues::number(std::size_t index) const { return numbers_[place_of(index, false)]; }
const std::string& FigureValues::text(std::size_t index) const { return texts_[place_of(index, true)]; }

FigureValues& FigureValues::set(std::size_t index, double value) {
  numbers_[place_of(index, false)] = value;
  return *this;
}

FigureValues& FigureValues::set(std::size_t index, std::string text) {
  texts_[place_of(index, true)] = std::move(text);
  return *this;
}

std::string csv_field_of(const FigureValues& values, std::size_t index) {
  if (is_text(index)) return csv_field(values.text(index));
  const double value = values.number(index);
  if (figures()[index].kind == Figure::Kind::truth && std::isfinite(value)) return value != 0 ? "true" : "false";
  return csv_field(value);
}

std::string csv_names_of_figures(std::size_t from) {
  std::string names;
  for (std::size_t i = from; i < figures().size(); ++i) {
    if (figures()[i].in_csv) names += std::string(",") + figures()[i].name;
  }
  return names;
}

std::string csv_fields_of(const FigureValues& values, std::size_t from) {
  std::string fields;
  for (std::size_t i = from; i < figures().size(); ++i) {
    if (figures()[i].in_csv) fields += ',' + csv_field_of(values, i);
  }
  return fields;
}

}  // namespace dadsim::report
