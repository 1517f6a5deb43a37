#include "step/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

namespace dadsim::step {
namespace {

const char* name(Symbol symbol) {
  switch (symbol) {
    case Symbol::rows:
      return "rows";
    case Symbol::all_rows:
      return "all_rows";
    case Symbol::in:
      return "in";
    case Symbol::in_with_bias:
      return "in_with_bias";
    case Symbol::out:
      return "out";
    case Symbol::parameters:
      return "parameters";
    case Symbol::forward_macs:
      return "forward_macs";
    case Symbol::backward_macs:
      return "backward_macs";
    case Symbol::outputs:
      return "outputs";
    case Symbol::inputs:
      return "inputs";
    case Symbol::all_forward_macs:
      return "all_forward_macs";
    case Symbol::all_backward_macs:
      return "all_backward_macs";
    case Symbol::all_outputs:
      return "all_outputs";
    case Symbol::rank:
      return "rank";
    case Symbol::total_rank:
      return "total_rank";
    case Symbol::merged_rank:
      return "merged_rank";
    case Symbol::matrix_rank:
      return "matrix_rank";
    case Symbol::biased_rank:
      return "biased_rank";
    case Symbol::gradient_macs:
      return "gradient_macs";
    case Symbol::all_gradient_macs:
      return "all_gradient_macs";
    case Symbol::kept:
      return "kept";
  }
  throw std::logic_error("unknown symbol");
}

std::int64_t samples_of_all(const StepSizes& sizes) {
  return std::accumulate(sizes.samples.begin(), sizes.samples.end(), std::int64_t{0});
}

std::int64_t samples_of(const Scope& scope, Symbol symbol) {
  if (scope.worker < 0) throw std::logic_error(fmt::format("'{}' has no value at the aggregator", name(symbol)));
  return scope.sizes->samples.at(static_cast<std::size_t>(scope.worker));
}

/// A rank cannot exceed what the matrix and its rows allow; a layer larger or smaller than the learned one has other
/// limits.
std::int64_t limited_rank(std::int64_t rank, const spec::LayerShape& layer, std::int64_t samples) {
  const std::int64_t inputs = layer.in + (layer.bias ? 1 : 0);
  return std::min({rank, inputs, layer.out, samples * layer.rows_per_sample});
}

/// A layer without an outer product of its own (attention, a tied matrix) has two gradients to form on the way back
/// where a dense layer has one, its weight gradient being counted elsewhere.
double backward_macs_per_sample(const spec::LayerShape& layer) {
  return (layer.has_outer_product() ? 1.0 : 2.0) * layer.forward_macs_per_sample;
}

/// A row of a table's gradient is added to the one entry that was read.
double gradient_macs_per_sample(const spec::LayerShape& layer) {
  const auto row = static_cast<double>(layer.rows_per_sample * layer.in);
  if (layer.has_outer_product()) return row * static_cast<double>(layer.out);
  return layer.has_matrix() ? row : 0.0;
}

/// A fraction in billionths, so that it fits a slot and counts are exact.
constexpr std::int64_t kBillion = 1'000'000'000;

std::int32_t billionths(double fraction) {
  const double count = std::round(fraction * static_cast<double>(kBillion));
  if (!(count >= 1 && fraction <= 1)) throw std::logic_error("a fraction to keep lies in (0, 1]");
  return static_cast<std::int32_t>(count);
}

std::int64_t kept_of(std::int64_t billionths, std::int64_t in, std::int64_t out) {
  const std::int64_t entries = in * out;  // whole billions apart: billionths · entries may not fit
  const std::int64_t rest = billionths * (entries % kBillion);
  return billionths * (entries / kBillion) + (rest + kBillion - 1) / kBillion;
}

const std::vector<std::int32_t>& ranks_of(const Scope& scope, std::int32_t slot) {
  return scope.sizes->ranks.at(static_cast<std::size_t>(slot));
}

}  // namespace

std::int64_t kept_entries(double fraction, std::int64_t in, std::int64_t out) {
  return kept_of(billionths(fraction), in, out);
}

Expression extent::kept(double fraction) { return {Symbol::kept, billionths(fraction)}; }

Expression::Expression(double constant) {
  if (constant != 0) terms_.push_back({constant, {}});
}

Expression::Expression(Symbol symbol, std::int32_t slot) { terms_.push_back({1.0, {{symbol, slot}}}); }

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
  return *this;
}

Expression operator*(const Expression& a, const Expression& b) {
  Expression product;
  for (const auto& left : a.terms_) {
    for (const auto& right : b.terms_) {
      Expression::Term term{left.coefficient * right.coefficient, left.factors};
      term.factors.insert(term.factors.end(), right.factors.begin(), right.factors.end());
      std::sort(term.factors.begin(), term.factors.end(),
                [](const auto& x, const auto& y) { return std::pair(x.symbol, x.slot) < std::pair(y.symbol, y.slot); });
      Expression single;
      single.terms_.push_back(std::move(term));
      product += single;
    }
  }
  return product;
}

double Expression::value(const Factor& factor, const Scope& scope) {
  const spec::LayerShape& layer = *scope.layer;
  switch (factor.symbol) {
    case Symbol::rows:
      return static_cast<double>(samples_of(scope, factor.symbol) * layer.rows_per_sample);
    case Symbol::all_rows:
      return static_cast<double>(samples_of_all(*scope.sizes) * layer.rows_per_sample);
    case Symbol::in:
      return static_cast<double>(layer.in);
    case Symbol::in_with_bias:
      return static_cast<double>(layer.in + (layer.bias ? 1 : 0));
    case Symbol::out:
      return static_cast<double>(layer.out);
    case Symbol::parameters:
      return static_cast<double>(layer.parameters);
    case Symbol::forward_macs:
      return static_cast<double>(samples_of(scope, factor.symbol)) * layer.forward_macs_per_sample;
    case Symbol::all_forward_macs:
      return static_cast<double>(samples_of_all(*scope.sizes)) * layer.forward_macs_per_sample;
    case Symbol::backward_macs:
      return static_cast<double>(samples_of(scope, factor.symbol)) * backward_macs_per_sample(layer);
    case Symbol::all_backward_macs:
      return static_cast<double>(samples_of_all(*scope.sizes)) * backward_macs_per_sample(layer);
    case Symbol::outputs:
      return static_cast<double>(samples_of(scope, factor.symbol)) * layer.outputs_per_sample;
    case Symbol::inputs:
      return static_cast<double>(samples_of(scope, factor.symbol)) * layer.inputs();
    case Symbol::all_outputs:
      return static_cast<double>(samples_of_all(*scope.sizes)) * layer.outputs_per_sample;
    case Symbol::rank: {
      const std::int64_t samples = samples_of(scope, factor.symbol);
      return static_cast<double>(
          limited_rank(ranks_of(scope, factor.slot).at(static_cast<std::size_t>(scope.worker)), layer, samples));
    }
    case Symbol::total_rank: {
      std::int64_t sum = 0;
      const auto& ranks = ranks_of(scope, factor.slot);
      for (std::size_t worker = 0; worker < ranks.size(); ++worker) {
        sum += limited_rank(ranks[worker], layer, scope.sizes->samples.at(worker));
      }
      return static_cast<double>(sum);
    }
    case Symbol::merged_rank:
      return static_cast<double>(limited_rank(ranks_of(scope, factor.slot).at(0), layer, samples_of_all(*scope.sizes)));
    case Symbol::matrix_rank:
      return static_cast<double>(std::min({std::int64_t{ranks_of(scope, factor.slot).at(0)}, layer.in, layer.out}));
    case Symbol::biased_rank:
      return static_cast<double>(std::min(
          {std::int64_t{ranks_of(scope, factor.slot).at(0)}, layer.in + std::int64_t{layer.bias ? 1 : 0}, layer.out}));
    case Symbol::gradient_macs:
      return static_cast<double>(samples_of(scope, factor.symbol)) * gradient_macs_per_sample(layer);
    case Symbol::all_gradient_macs:
      return static_cast<double>(samples_of_all(*scope.sizes)) * gradient_macs_per_sample(layer);
    case Symbol::kept:
      return static_cast<double>(kept_of(factor.slot, layer.in, layer.out));
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

std::string Expression::to_string() const {
  if (terms_.empty()) return "0";
  std::string text;
  for (const Term& term : terms_) {
    if (!text.empty()) text += " + ";
    std::string product;
    if (term.coefficient != 1.0 || term.factors.empty()) product = fmt::format("{}", term.coefficient);
    for (const Factor& factor : term.factors) {
      if (!product.empty()) product += "·";
      product += name(factor.symbol);
    }
    text += product;
  }
  return text;
}

int bits(ElementType type) {
  switch (type) {
    case ElementType::float32:
      return 32;
    case ElementType::float16:
      return 16;
    case ElementType::int32:
      return 32;
    case ElementType::bit:
      return 1;
  }
  throw std::logic_error("unknown element type");
}

double Payload::bytes(const Scope& scope) const { return elements.evaluate(scope) * bits(type) / 8.0; }

}  // namespace dadsim::step
