#include "algorithms/exact/dad.hpp"

#include <memory>

#include "algorithms/methods.hpp"
#include "algorithms/pieces/table_rows.hpp"

namespace dadsim::algorithms {
namespace {

using namespace step::extent;  // NOLINT(google-build-using-namespace): the formulas read as in the paper

Contribution::Part inputs_of(TrainingStep& step, std::size_t l) {
  return {in(), [&step, l](std::size_t s) { return step.input(s, l); }};
}

Contribution::Part deltas_of(TrainingStep& step, std::size_t l) {
  return {out(), [&step, l](std::size_t s) { return step.delta(s, l); }};
}

}  // namespace

void Dad::run(TrainingStep& step) {
  step.forward();
  if (options_.separate) {
    share_one_by_one(step);
  } else {
    share_beside_the_pass(step);
  }
}

void Dad::share_beside_the_pass(TrainingStep& step) {
  std::vector<Pending<Rows>> shared(step.matrices());
  sweep_back(step, options_.table_rows, [&](std::size_t l) {
    shared[l] = step.is_embedding(l)
                    ? share_table_rows(step, l)
                    : step.exchange().combine({rows(), {inputs_of(step, l), deltas_of(step, l)}}, concatenation());
    step.backpropagate(l);
  });
  sweep_back(step, options_.table_rows, [&](std::size_t l) {
    const Rows& all = shared[l].wait();
    if (step.is_embedding(l)) {
      add_table_rows(step, l, all);
    } else {
      step.form_gradient_of_rows(l, all[1], all[0]);
    }
  });
}

void Dad::share_one_by_one(TrainingStep& step) {
  Exchange& exchange = step.exchange();
  sweep_back(step, options_.table_rows, [&](std::size_t l) { step.backpropagate(l); });
  sweep_back(step, options_.table_rows, [&](std::size_t l) {
    if (step.is_embedding(l)) {
      add_table_rows(step, l, share_table_rows(step, l).wait());
      return;
    }
    const Rows inputs = exchange.combine({rows(), {inputs_of(step, l)}}, concatenation()).wait();
    const Rows deltas = exchange.combine({rows(), {deltas_of(step, l)}}, concatenation()).wait();
    step.form_gradient_of_rows(l, deltas[0], inputs[0]);
  });
}

SynchronousMethod dad_method() {
  static constexpr auto kSeparate =
      spec::choice<bool>("separate", {{"false", false}, {"true", true}},
                         "true: send the activations and then the deltas of each layer, after the backward pass; "
                         "false: send both together, during the backward pass");
  return {{.name = Dad::kName,
           .family = "exact",
           .parameters = {kSeparate, kTables},
           .forgets = methods::kSendsRows,
           .check = faults_of_idle_tables,
           .exact = true,
           // Counts A and Δ of all sites in all layers until the second sweep. This is an upper bound with `separate`,
           // which holds one layer at a time.
           .state =
               [](const spec::ParameterValues&) {
                 return estimate::AlgorithmState{step::extent::all_rows() * (step::extent::in() + step::extent::out())};
               }},
          [](const spec::RunSpec& run) {
            return std::make_unique<Dad>(Dad::Options{kSeparate.of(run.parameters), kTables.of(run.parameters)});
          }};
}

}  // namespace dadsim::algorithms
