#include "step/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace dadsim::step {
constexpr auto names_of(Symbol) {
  using enum Symbol;
  return std::to_array<spec::Name<Symbol>>({{rows, "rows"},
                                            {in, "in"},
                                            {out, "out"},
                                            {bias, "bias"},
                                            {parameters, "parameters"},
                                            {forward_macs, "forward_macs"},
                                            {backward_macs, "backward_macs"},
                                            {gradient_macs, "gradient_macs"},
                                            {inputs, "inputs"},
                                            {outputs, "outputs"},
                                            {delta_follows, "delta_follows"},
                                            {delta_follows_below, "delta_follows_below"},
                                            {delta_needed_below, "delta_needed_below"},
                                            {last_matrix, "last_matrix"},
                                            {earlier_rows, "earlier rows"},
                                            {slot, "slot"},
                                            {call, "call"},
                                            {samples, "samples"},
                                            {rows_per_sample, "rows_per_sample"},
                                            {hidden_matrix, "hidden_matrix"}});
}

constexpr auto names_of(Function) {
  using enum Function;
  return std::to_array<spec::Name<Function>>({{least, "min"},
                                              {round_up, "ceil"},
                                              {over_workers, "sum over workers"},
                                              {exceeds, "exceeds"},
                                              {most_of_workers, "most of workers"},
                                              {largest_divisor, "largest divisor"},
                                              {quotient, "quotient"},
                                              {censored_rank, "found"}});
}

namespace {

double samples_of(const Scope& scope, Symbol symbol) {
  if (scope.worker < 0)
    throw std::logic_error(fmt::format("'{}' has no value at the aggregator", spec::to_string(symbol)));
  return scope.sizes->samples.at(static_cast<std::size_t>(scope.worker));
}

double earlier_samples_of(const Scope& scope, std::int32_t number) {
  if (scope.worker < 0) throw std::logic_error("'earlier rows' has no value at the aggregator");
  return scope.sizes->earlier.at(static_cast<std::size_t>(number)).at(static_cast<std::size_t>(scope.worker));
}

/// Returns the number in a slot. A slot with a single number applies to all workers and the aggregator.
double slot_of(const Scope& scope, std::int32_t slot) {
  const std::vector<std::int32_t>& numbers = scope.sizes->slots.at(static_cast<std::size_t>(slot));
  if (numbers.size() == 1) return numbers.front();
  if (scope.worker < 0) throw std::logic_error(fmt::format("slot {} has no value at the aggregator", slot));
  return numbers.at(static_cast<std::size_t>(scope.worker));
}

/// Returns the multiply-adds of a sample's backward pass. Layers without an own outer product (attention, a tied
/// matrix) compute two gradients here. Dense layers compute one, because their weight gradient is counted elsewhere.
/// Recomputed forward work is added. Frozen weights need no gradient.
double backward_macs_per_sample(const spec::LayerShape& layer) {
  if (layer.adapter_rank > 0) return layer.forward_macs_per_sample + layer.recomputed_macs_per_sample;
  return (layer.has_outer_product() ? 1.0 : 2.0) * layer.forward_macs_per_sample - layer.frozen_macs_per_sample +
         layer.recomputed_macs_per_sample;
}

/// Returns the multiply-adds of a sample's weight gradient. For an embedding, each row of the gradient is added to the
/// entry that was read.
double gradient_macs_per_sample(const spec::LayerShape& layer) {
  const auto row = static_cast<double>(layer.rows_per_sample * layer.in);
  if (layer.adapter_rank > 0) return layer.forward_macs_per_sample - layer.frozen_macs_per_sample;
  if (layer.has_outer_product()) return row * static_cast<double>(layer.out);
  return layer.kind == spec::LayerKind::embedding && layer.has_matrix() ? row : 0.0;
}

/// Rounds up, ignoring errors in the last digits of decimal products: 0.07 · 100 is slightly above 7.
double round_up(double value) {
  constexpr double kRounding = 1e-14;
  return std::ceil(value * (1.0 - kRounding));
}

double fraction_to_nine_decimals(double fraction) {
  constexpr double kBillion = 1e9;
  const double billionths = std::round(fraction * kBillion);
  if (!(billionths >= 1 && fraction <= 1)) throw std::logic_error("the fraction to keep must be in (0, 1]");
  return billionths / kBillion;
}

/// Calls `visit` with the value at every worker, computed once per class of workers.
template <class Visit>
void for_each_worker(const Expression& of, const Scope& scope, const Visit& visit) {
  Scope one = scope;
  const std::size_t workers = scope.sizes->samples.size();
  if (scope.classes == nullptr) {
    for (std::size_t worker = 0; worker < workers; ++worker) {
      one.worker = static_cast<std::int32_t>(worker);
      visit(of.evaluate(one));
    }
    return;
  }
  std::vector<double> values;
  for (const std::int32_t worker : scope.classes->first) {
    one.worker = worker;
    values.push_back(of.evaluate(one));
  }
  const std::vector<std::int32_t>& class_of = scope.classes->class_of;
  for (std::size_t worker = 0; worker < workers; ++worker) {
    visit(class_of.empty() ? values.front() : values[static_cast<std::size_t>(class_of[worker])]);
  }
}

double sum_over_workers(const Expression& of, const Scope& scope) {
  double sum = 0;
  for_each_worker(of, scope, [&sum](double value) { sum += value; });
  return sum;
}

double most_of_workers(const Expression& of, const Scope& scope) {
  double most = 0;
  for_each_worker(of, scope, [&most](double value) { most = std::max(most, value); });
  return most;
}

/// Returns the value of extent::censored_rank().
double censored_rank(const Call& call, const Scope& scope) {
  const double noted = call.arguments[0].evaluate(scope);
  const double carried = std::min(noted, call.arguments[2].evaluate(scope));
  if (scope.learned == nullptr) return carried;
  const double asked = call.arguments[1].evaluate(scope);
  if (asked <= noted) return carried;
  Scope there{scope.learned->layer, scope.learned->sizes, scope.worker, scope.learned->sums, scope.learned->deltas};
  there.classes = scope.classes;
  if (noted < call.arguments[3].evaluate(there)) return carried;
  const double all = std::min(asked, call.arguments[3].evaluate(scope));
  if (all <= carried) return carried;
  if (scope.censored != nullptr) *scope.censored = true;
  return all;
}

double value_of(const Call& call, const Scope& scope) {
  switch (call.function) {
    case Function::least: {
      double least = call.arguments.front().evaluate(scope);
      for (std::size_t i = 1; i < call.arguments.size(); ++i) {
        least = std::min(least, call.arguments[i].evaluate(scope));
      }
      return least;
    }
    case Function::round_up:
      return round_up(call.arguments.front().evaluate(scope));
    case Function::exceeds:
      return call.arguments[0].evaluate(scope) > call.arguments[1].evaluate(scope) ? 1 : 0;
    case Function::over_workers:
    case Function::most_of_workers: {
      if (scope.sums != nullptr) {
        for (const auto& [known, sum] : *scope.sums) {
          if (known == &call) return sum;
        }
      }
      const Expression& of = call.arguments.front();
      const double sum =
          call.function == Function::over_workers ? sum_over_workers(of, scope) : most_of_workers(of, scope);
      if (scope.sums != nullptr) scope.sums->emplace_back(&call, sum);
      return sum;
    }
    case Function::largest_divisor:
      return static_cast<double>(divisor_within(std::llround(call.arguments[0].evaluate(scope)),
                                                std::llround(call.arguments[1].evaluate(scope))));
    case Function::quotient: {
      const double dividend = call.arguments[0].evaluate(scope);
      const double divisor = call.arguments[1].evaluate(scope);
      return dividend == 0 && divisor == 0 ? 0 : dividend / divisor;
    }
    case Function::censored_rank:
      return censored_rank(call, scope);
  }
  throw std::logic_error("unknown function");
}

}  // namespace

bool takes(Function function, std::size_t arguments) {
  switch (function) {
    case Function::least:
      return arguments > 0;
    case Function::round_up:
    case Function::over_workers:
    case Function::most_of_workers:
      return arguments == 1;
    case Function::exceeds:
    case Function::largest_divisor:
    case Function::quotient:
      return arguments == 2;
    case Function::censored_rank:
      return arguments == 4;
  }
  return false;
}

std::int64_t divisor_within(std::int64_t of, std::int64_t most) {
  for (std::int64_t divisor = std::min(of, most); divisor > 1; --divisor) {
    if (of % divisor == 0) return divisor;
  }
  return std::min<std::int64_t>(of, 1);
}

std::int64_t kept_entries(double fraction, std::int64_t in, std::int64_t out) {
  return static_cast<std::int64_t>(
      round_up(fraction_to_nine_decimals(fraction) * static_cast<double>(in) * static_cast<double>(out)));
}

Expression extent::kept(double fraction) { return kept_of(fraction, in() * out()); }

Expression extent::kept_of(double fraction, const Expression& of) {
  return ceil(fraction_to_nine_decimals(fraction) * of);
}

Expression::Expression(double constant) {
  if (constant != 0) terms_.push_back({constant, {}});
}

Expression::Expression(Symbol symbol, std::int32_t slot) { terms_.push_back({1.0, {{symbol, slot}}}); }

Expression::Expression(Function function, std::vector<Expression> arguments) {
  if (!takes(function, arguments.size())) {
    throw std::logic_error(fmt::format("'{}' of {} arguments", spec::to_string(function), arguments.size()));
  }
  terms_.push_back({1.0, {{Symbol::call, 0, std::make_shared<const Call>(Call{function, std::move(arguments)})}}});
}

bool Expression::Factor::operator==(const Factor& other) const {
  if (symbol != other.symbol || slot != other.slot) return false;
  return call == other.call || (call != nullptr && other.call != nullptr && *call == *other.call);
}

Expression& Expression::operator+=(const Expression& other) {
  for (const Term& term : other.terms_) {
    const auto same =
        std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) { return t.factors == term.factors; });
    if (same == terms_.end()) {
      terms_.push_back(term);
    } else {
      same->coefficient += term.coefficient;
    }
  }
  std::erase_if(terms_, [](const Term& term) { return term.coefficient == 0; });
  return *this;
}

Expression operator*(const Expression& a, const Expression& b) {
  Expression product;
  for (const auto& left : a.terms_) {
    for (const auto& right : b.terms_) {
      Expression::Term term{left.coefficient * right.coefficient, left.factors};
      term.factors.insert(term.factors.end(), right.factors.begin(), right.factors.end());
      // Calls are compared by their text.
      std::sort(term.factors.begin(), term.factors.end(), [](const auto& x, const auto& y) {
        if (x.symbol != y.symbol || x.slot != y.slot) return std::pair(x.symbol, x.slot) < std::pair(y.symbol, y.slot);
        return x.call != y.call && Expression::to_string(x) < Expression::to_string(y);
      });
      Expression single;
      single.terms_.push_back(std::move(term));
      product += single;
    }
  }
  return product;
}

double Expression::value(const Factor& factor, const Scope& scope) {
  // A function of constants needs no layer.
  if (factor.symbol == Symbol::call) return value_of(*factor.call, scope);
  const spec::LayerShape& layer = *scope.layer;
  switch (factor.symbol) {
    case Symbol::rows:
      return samples_of(scope, factor.symbol) * static_cast<double>(layer.rows_per_sample);
    case Symbol::in:
      return static_cast<double>(layer.in);
    case Symbol::out:
      return static_cast<double>(layer.out);
    case Symbol::bias:
      return layer.bias ? 1 : 0;
    case Symbol::parameters:
      return static_cast<double>(layer.parameters);
    case Symbol::forward_macs:
      return samples_of(scope, factor.symbol) * layer.forward_macs_per_sample;
    case Symbol::backward_macs:
      return samples_of(scope, factor.symbol) * backward_macs_per_sample(layer);
    case Symbol::gradient_macs:
      return samples_of(scope, factor.symbol) * gradient_macs_per_sample(layer);
    case Symbol::inputs:
      return samples_of(scope, factor.symbol) * layer.inputs();
    case Symbol::outputs:
      return samples_of(scope, factor.symbol) * layer.outputs_per_sample;
    case Symbol::delta_follows:
      return layer.delta_follows ? 1 : 0;
    case Symbol::delta_follows_below:
      return scope.deltas.follows_below ? 1 : 0;
    case Symbol::delta_needed_below:
      return scope.deltas.needed_below ? 1 : 0;
    case Symbol::last_matrix:
      return scope.deltas.last_matrix ? 1 : 0;
    case Symbol::earlier_rows:
      return earlier_samples_of(scope, factor.slot) * static_cast<double>(layer.rows_per_sample);
    case Symbol::slot:
      return slot_of(scope, factor.slot);
    case Symbol::call:
      return value_of(*factor.call, scope);
    case Symbol::samples:
      return samples_of(scope, factor.symbol);
    case Symbol::rows_per_sample:
      return static_cast<double>(layer.rows_per_sample);
    case Symbol::hidden_matrix:
      return scope.deltas.hidden_matrix ? 1 : 0;
  }
  throw std::logic_error("unknown symbol");
}

double Expression::evaluate(const Scope& scope) const {
  double sum = 0;
  for (const Term& term : terms_) {
    double product = term.coefficient;
    for (const Factor& factor : term.factors) product *= value(factor, scope);
    sum += product;
  }
  return sum;
}

void Expression::visit(const std::function<void(const Call&)>& visitor) const {
  for (const Term& term : terms_) {
    for (const Factor& factor : term.factors) {
      if (factor.call == nullptr) continue;
      visitor(*factor.call);
      for (const Expression& argument : factor.call->arguments) argument.visit(visitor);
    }
  }
}

std::string Expression::to_string() const {
  if (terms_.empty()) return "0";
  std::string text;
  for (const Term& term : terms_) {
    if (!text.empty()) text += " + ";
    std::string product;
    if (term.coefficient != 1.0 || term.factors.empty()) product = fmt::format("{}", term.coefficient);
    for (const Factor& factor : term.factors) {
      if (!product.empty()) product += "·";
      product += to_string(factor);
    }
    text += product;
  }
  return text;
}

std::string Expression::to_string(const Factor& factor) {
  if (factor.symbol == Symbol::slot || factor.symbol == Symbol::earlier_rows) {
    return fmt::format("{} {}", spec::to_string(factor.symbol), factor.slot);
  }
  if (factor.symbol != Symbol::call) return spec::to_string(factor.symbol);
  std::string arguments;
  for (const Expression& argument : factor.call->arguments) {
    arguments += (arguments.empty() ? "" : ", ") + argument.to_string();
  }
  return fmt::format("{}({})", spec::to_string(factor.call->function), arguments);
}

}  // namespace dadsim::step
