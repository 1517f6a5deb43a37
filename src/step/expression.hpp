#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "spec/layer_shape.hpp"

namespace dadsim::step {

/// A symbolic dimension of what is computed or sent for one layer (an *extent*). It gets a number only when a layer, a
/// worker and the sizes of one step are put in, so that what was recorded on the small network can be sized for a large
/// one.
enum class Symbol : std::uint8_t {
  rows,               ///< rows of A and Δ at this worker: its samples × the layer's rows per sample
  all_rows,           ///< rows of all workers together
  in,                 ///< the layer's input width
  in_with_bias,       ///< input width, plus one if the layer has a bias (A with a column of ones)
  out,                ///< the layer's output width
  parameters,         ///< the layer's learned floats
  forward_macs,       ///< multiply-adds of the forward pass over this worker's samples
  backward_macs,      ///< multiply-adds of the backward pass over this worker's samples, without the weight gradient
  outputs,            ///< elements that the forward pass writes over this worker's samples
  all_forward_macs,   ///< the same over the samples of all workers
  all_backward_macs,  ///< the same over the samples of all workers
  all_outputs,        ///< the same over the samples of all workers
  rank,               ///< rank(slot): components that this worker kept
  total_rank,         ///< total_rank(slot): components of all workers together
  merged_rank,        ///< merged_rank(slot): components kept after merging
  matrix_rank,        ///< matrix_rank(slot): components asked for, limited by the matrix alone: min(k, in, out)
  biased_rank,        ///< biased_rank(slot): the same of the matrix with its bias: min(k, in_with_bias, out)
  gradient_macs,  ///< multiply-adds of the weight gradient over this worker's rows: rows·in·out; of a table rows·in
  all_gradient_macs,  ///< the same over the rows of all workers
  inputs,             ///< elements that the forward pass reads over this worker's samples, each once
  kept,               ///< kept(fraction): kept_entries() of the matrix; the slot holds the fraction
};

/// The numbers of one recorded step that are not shapes: samples per worker and the ranks that turned out.
struct StepSizes {
  std::vector<std::int32_t> samples;             ///< per worker
  std::vector<std::vector<std::int32_t>> ranks;  ///< per slot: one per worker, or a single one if merged
  bool operator==(const StepSizes&) const = default;
};

/// Where an expression is evaluated.
struct Scope {
  const spec::LayerShape* layer = nullptr;
  const StepSizes* sizes = nullptr;
  std::int32_t worker = -1;  ///< index of the worker, or -1 at the aggregator, which has no rows of its own
};

/// ⌈fraction · in · out⌉, the fraction to nine decimals.
std::int64_t kept_entries(double fraction, std::int64_t in, std::int64_t out);

/// A polynomial in symbols, e.g. rows × in + rows × out.
class Expression {
 public:
  Expression() = default;
  Expression(double constant);  // NOLINT(google-explicit-constructor): 2 * rows reads as in the papers
  Expression(Symbol symbol, std::int32_t slot = 0);  // NOLINT(google-explicit-constructor)

  /// The value in `scope`. Ranks are limited to what the layer and the rows allow. Throws std::logic_error where a
  /// symbol has no meaning there (rows at the aggregator).
  double evaluate(const Scope& scope) const;

  /// E.g. "2·rows·in + out".
  std::string to_string() const;

  Expression& operator+=(const Expression& other);
  friend Expression operator+(Expression a, const Expression& b) { return a += b; }
  friend Expression operator*(const Expression& a, const Expression& b);
  bool operator==(const Expression&) const = default;
  bool is_zero() const { return terms_.empty(); }

 private:
  friend struct ExpressionBytes;  // of trajectory_bytes.cpp
  struct Factor {
    Symbol symbol;
    std::int32_t slot;
    bool operator==(const Factor&) const = default;
  };
  struct Term {
    double coefficient;
    std::vector<Factor> factors;
    bool operator==(const Term&) const = default;
  };
  static double value(const Factor& factor, const Scope& scope);

  std::vector<Term> terms_;
};

/// The extents by name, for formulas that read as in the papers: `rows() * (in() + out())`.
namespace extent {
inline Expression rows() { return Symbol::rows; }
inline Expression all_rows() { return Symbol::all_rows; }
inline Expression in() { return Symbol::in; }
inline Expression in_with_bias() { return Symbol::in_with_bias; }
inline Expression out() { return Symbol::out; }
inline Expression parameters() { return Symbol::parameters; }
inline Expression forward_macs() { return Symbol::forward_macs; }
inline Expression backward_macs() { return Symbol::backward_macs; }
inline Expression outputs() { return Symbol::outputs; }
inline Expression inputs() { return Symbol::inputs; }
inline Expression all_forward_macs() { return Symbol::all_forward_macs; }
inline Expression all_backward_macs() { return Symbol::all_backward_macs; }
inline Expression all_outputs() { return Symbol::all_outputs; }
inline Expression rank(std::int32_t slot) { return {Symbol::rank, slot}; }
inline Expression total_rank(std::int32_t slot) { return {Symbol::total_rank, slot}; }
inline Expression merged_rank(std::int32_t slot) { return {Symbol::merged_rank, slot}; }
inline Expression matrix_rank(std::int32_t slot) { return {Symbol::matrix_rank, slot}; }
inline Expression biased_rank(std::int32_t slot) { return {Symbol::biased_rank, slot}; }
inline Expression gradient_macs() { return Symbol::gradient_macs; }
inline Expression all_gradient_macs() { return Symbol::all_gradient_macs; }
/// `fraction` in (0, 1], to nine decimals.
Expression kept(double fraction);
}  // namespace extent

enum class ElementType : std::uint8_t { float32, float16, int32, bit };

/// Bits of one element on the wire.
int bits(ElementType type);

/// What one worker hands to a collective: a number of elements of one type.
struct Payload {
  Expression elements;
  ElementType type = ElementType::float32;
  bool last_layer_only = false;  ///< travels with the last matrix layer alone

  double bytes(const Scope& scope) const;
  bool operator==(const Payload&) const = default;
};

/// The cost of a computation: what the roofline of a device needs.
struct Work {
  Expression flops;
  Expression bytes_moved;  ///< between memory and the cores, each operand once
  Expression launches;     ///< kernels started
  bool operator==(const Work&) const = default;
};

}  // namespace dadsim::step
