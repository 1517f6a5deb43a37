#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>

#include "api/states.hpp"
#include "report/html/report.hpp"
#include "report/run/figure_values.hpp"
#include "report/run/result_document.hpp"

namespace dadsim::api::inline v1 {
namespace {

CurvePoint point_of(const report::CurvePoint& from, const report::RunResult& run) {
  CurvePoint point;
  point.step = from.step;
  point.epochs = run.epochs_at(from);
  point.seconds = from.seconds;
  point.bytes = from.bytes;
  point.loss = from.loss;
  point.accuracy = from.accuracy;
  point.auc = from.auc;
  return point;
}

/// Returns the index of a figure, which must be a text if `text`, else another kind. A wrong name or kind is an error
/// of the caller here, but would be a bug inside dadsim.
std::size_t index_of(const std::string& name, bool text) {
  const std::span<const report::Figure> all = report::figures();
  const auto found = std::ranges::find_if(all, [&](const report::Figure& figure) { return figure.name == name; });
  if (found == all.end()) throw std::out_of_range("there is no figure '" + name + "'");
  if ((found->kind == report::Figure::Kind::text) != text)
    throw std::out_of_range("the figure '" + name + (text ? "' is no text" : "' is a text"));
  return static_cast<std::size_t>(found - all.begin());
}

Figure::Kind kind_of(report::Figure::Kind kind) {
  switch (kind) {
    case report::Figure::Kind::number:
      return Figure::Kind::number;
    case report::Figure::Kind::count:
      return Figure::Kind::count;
    case report::Figure::Kind::truth:
      return Figure::Kind::truth;
    case report::Figure::Kind::text:
      return Figure::Kind::text;
  }
  throw std::logic_error("unknown kind of figure");
}

}  // namespace

struct Run::State {
  report::FigureValues figures;
  std::vector<std::string> notes;
  std::vector<CurvePoint> curve;
};

const std::vector<Figure>& figures() {
  static const std::vector<Figure> kFigures = [] {
    std::vector<Figure> all;
    for (const report::Figure& one : report::figures())
      all.push_back({one.name, kind_of(one.kind), one.unit, one.meaning});
    return all;
  }();
  return kFigures;
}

Run::Run(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}
const std::string& Run::label() const noexcept { return state_->figures.text("label"); }
double Run::figure(const std::string& name) const { return state_->figures.number(index_of(name, false)); }
const std::string& Run::text(const std::string& name) const { return state_->figures.text(index_of(name, true)); }
const std::vector<std::string>& Run::notes() const noexcept { return state_->notes; }
const std::vector<CurvePoint>& Run::curve() const noexcept { return state_->curve; }

Result result_of(report::Result&& from) {
  auto state = std::make_shared<Result::State>();
  for (const report::RunResult& run : from.runs) {
    auto one =
        std::make_shared<Run::State>(Run::State{report::FigureValues({run, from}), report::in_words(run.notes), {}});
    for (const report::CurvePoint& point : run.curve) one->curve.push_back(point_of(point, run));
    state->runs.emplace_back(std::move(one));
  }
  state->assumptions = report::in_words(from.assumptions);
  state->result = std::move(from);
  return Result(std::move(state));
}

Result::Result(std::shared_ptr<const State> state) noexcept : state_(std::move(state)) {}

const std::vector<Run>& Result::runs() const noexcept { return state_->runs; }

const Run& Result::run(const std::string& label) const {
  const auto found = std::ranges::find(state_->runs, label, &Run::label);
  if (found == state_->runs.end()) throw std::out_of_range("there is no run '" + label + "'");
  return *found;
}

const std::vector<std::string>& Result::assumptions() const noexcept { return state_->assumptions; }
std::string Result::json() const { return to_json(document_of(state_->result)); }
std::string Result::csv() const { return to_csv(state_->result); }
std::string Result::table() const { return to_table(document_of(state_->result)); }
std::string Result::html() const { return to_html(state_->result); }

}  // namespace dadsim::api::inline v1
