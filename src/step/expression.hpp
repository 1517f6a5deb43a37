#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "spec/layer_shape.hpp"
#include "spec/names.hpp"

namespace dadsim::step {

/// A symbolic dimension (an *extent*) of a computation or message of one layer. The layer, the worker and the sizes of
/// a step determine its value, so that a recording of the small network can be sized for a large one.
enum class Symbol : std::uint8_t {
  rows,           ///< rows of A and Δ at this worker: its samples × the layer's rows per sample
  in,             ///< the layer's input width
  out,            ///< the layer's output width
  bias,           ///< 1 if the layer has a bias, 0 otherwise
  parameters,     ///< the layer's learned floats
  forward_macs,   ///< multiply-adds of the forward pass over this worker's samples
  backward_macs,  ///< multiply-adds of the backward pass over this worker's samples, without the weight gradient
  gradient_macs,  ///< multiply-adds of the weight gradient over this worker's rows: rows·in·out; for an embedding
                  ///< rows·in
  inputs,         ///< elements that the forward pass reads over this worker's samples, each once
  outputs,        ///< elements that the forward pass writes over this worker's samples
  delta_follows,  ///< 1 if LayerShape::delta_follows, 0 otherwise
  delta_follows_below,  ///< 1 if spec::DeltaRelations::follows_below, 0 otherwise
  delta_needed_below,   ///< 1 if spec::DeltaRelations::needed_below, 0 otherwise
  last_matrix,          ///< 1 if spec::DeltaRelations::last_matrix, 0 otherwise
  earlier_rows,         ///< earlier_rows(k): rows of A and Δ over the samples in StepSizes::earlier[k] at this worker
  slot,                 ///< slot(k): a number that an algorithm recorded in this step, for this worker or for all
  call,                 ///< a function of other expressions
  samples,              ///< samples of this worker
  rows_per_sample,      ///< rows of A and Δ per sample
  hidden_matrix,        ///< 1 if spec::DeltaRelations::hidden_matrix, 0 otherwise
};

enum class Function : std::uint8_t {
  least,            ///< the least argument
  round_up,         ///< the next whole number; exceeding a whole number by a rounding error does not count
  over_workers,     ///< the sum of its argument over all workers
  exceeds,          ///< 1 if the first argument is larger than the second, 0 otherwise
  most_of_workers,  ///< the largest of its argument over all workers
  largest_divisor,  ///< largest divisor of the first argument (a whole number) that is not above the second
  quotient,         ///< the first argument divided by the second; 0 if both are 0
  censored_rank,    ///< see extent::censored_rank()
};

/// Returns whether a function takes `count` arguments.
bool takes(Function function, std::size_t arguments);

/// Numbers of one recorded step in addition to shapes: samples per worker, and recorded results.
struct StepSizes {
  std::vector<std::int32_t> samples;             ///< samples of each worker
  std::vector<std::vector<std::int32_t>> slots;  ///< one number per worker, or a single one for all
  /// Samples per worker of earlier steps whose rows are sent in this step.
  std::vector<std::vector<std::int32_t>> earlier = {};
  bool operator==(const StepSizes&) const = default;
};

struct Call;

/// Classes of workers for which an expression has the same value, because all its inputs are equal.
struct WorkerClasses {
  std::vector<std::int32_t> class_of;  ///< class of each worker, in order of first appearance; empty: all are in class
                                       ///< 0
  std::vector<std::int32_t> first;     ///< first worker of each class
};

/// Slots and earlier steps that an expression uses. Apart from samples, only these may differ between workers.
struct Numbers {
  std::set<std::int32_t> slots, earlier;
  auto operator<=>(const Numbers&) const = default;  // NOLINT(modernize-use-nullptr): clang-tidy looks into it
};

/// Returns classes of workers with equal samples and equal numbers. Throws std::out_of_range for an unknown slot or
/// step.
WorkerClasses worker_classes(const StepSizes& sizes, const Numbers& numbers);

/// Sums and maxima over workers, computed so far for one layer and one step, and shared by all workers.
using KnownSums = std::vector<std::pair<const Call*, double>>;

/// The layer of the learned network that represents the layer being sized.
struct LearnedLayer {
  const spec::LayerShape* layer = nullptr;
  const StepSizes* sizes = nullptr;  ///< recorded sizes
  spec::DeltaRelations deltas = {};
  KnownSums* sums = nullptr;  ///< see Scope::sums
};

/// Context in which an expression is evaluated.
struct Scope {
  const spec::LayerShape* layer = nullptr;
  const StepSizes* sizes = nullptr;
  std::int32_t worker = -1;                ///< index of the worker; −1: the aggregator, which has no rows
  KnownSums* sums = nullptr;               ///< kept between the workers of a layer; may be null
  spec::DeltaRelations deltas = {};        ///< relations of the layer
  const LearnedLayer* learned = nullptr;   ///< null: the layer is a learned one
  bool* censored = nullptr;                ///< set to true if extent::censored_rank() returned the requested rank; may
                                           ///< be null
  const WorkerClasses* classes = nullptr;  ///< classes with equal values; may be null
};

/// A polynomial in symbols and in functions of such polynomials, e.g. rows × in + min(slot, in, out) × out. Algorithms
/// choose functions and slots; this class knows no algorithm.
class Expression {
 public:
  Expression() = default;
  Expression(double constant);  // NOLINT(google-explicit-constructor): 2 * rows reads as in the papers
  Expression(Symbol symbol, std::int32_t slot = 0);  // NOLINT(google-explicit-constructor)
  Expression(Function function, std::vector<Expression> arguments);

  /// Returns the value in `scope`. Throws std::logic_error if a symbol has no meaning there (rows at the aggregator).
  double evaluate(const Scope& scope) const;

  /// Returns for example "2·rows·in + out", "min(slot 0, in, out)".
  std::string to_string() const;

  Expression& operator+=(const Expression& other);
  friend Expression operator+(Expression a, const Expression& b) { return a += b; }
  friend Expression operator-(Expression a, const Expression& b) { return a += -1.0 * b; }
  friend Expression operator*(const Expression& a, const Expression& b);
  bool operator==(const Expression&) const = default;
  bool is_zero() const { return terms_.empty(); }
  /// Adds the slots and earlier steps that the expression uses, including those in functions' arguments.
  void collect(Numbers& numbers) const;
  /// Calls `visit` for every function in the expression, including nested ones.
  void visit(const std::function<void(const Call&)>& visitor) const;

 private:
  friend struct ExpressionBytes;  // defined in trajectory_bytes.hpp
  struct Factor {
    Symbol symbol;
    std::int32_t slot = 0;
    std::shared_ptr<const Call> call = nullptr;  ///< Symbol::call: never null
    bool operator==(const Factor& other) const;
  };
  struct Term {
    double coefficient;
    std::vector<Factor> factors;
    bool operator==(const Term&) const = default;
  };
  static double value(const Factor& factor, const Scope& scope);
  static std::string to_string(const Factor& factor);

  std::vector<Term> terms_;
};

/// A function with its arguments.
struct Call {
  Function function;
  std::vector<Expression> arguments;
  bool operator==(const Call&) const = default;
};

/// Returns the largest divisor of `of` up to `most` (at least 1), like Function::largest_divisor; 0 for 0.
std::int64_t divisor_within(std::int64_t of, std::int64_t most);

/// Returns ⌈fraction · in · out⌉ with the fraction rounded to nine decimals, the value of extent::kept().
std::int64_t kept_entries(double fraction, std::int64_t in, std::int64_t out);

/// Extents by name, so that formulas look as in the papers: `rows() * (in() + out())`.
namespace extent {
inline Expression rows() { return Symbol::rows; }
inline Expression samples() { return Symbol::samples; }
inline Expression rows_per_sample() { return Symbol::rows_per_sample; }
inline Expression in() { return Symbol::in; }
inline Expression out() { return Symbol::out; }
inline Expression bias() { return Symbol::bias; }
inline Expression parameters() { return Symbol::parameters; }
inline Expression forward_macs() { return Symbol::forward_macs; }
inline Expression backward_macs() { return Symbol::backward_macs; }
inline Expression gradient_macs() { return Symbol::gradient_macs; }
inline Expression inputs() { return Symbol::inputs; }
inline Expression outputs() { return Symbol::outputs; }
inline Expression delta_follows() { return Symbol::delta_follows; }
inline Expression delta_follows_below() { return Symbol::delta_follows_below; }
inline Expression delta_needed_below() { return Symbol::delta_needed_below; }
inline Expression last_matrix() { return Symbol::last_matrix; }
inline Expression hidden_matrix() { return Symbol::hidden_matrix; }
inline Expression earlier_rows(std::int32_t number) { return {Symbol::earlier_rows, number}; }
inline Expression slot(std::int32_t number) { return {Symbol::slot, number}; }

inline Expression min(std::vector<Expression> of) { return {Function::least, std::move(of)}; }
inline Expression ceil(Expression of) { return {Function::round_up, {std::move(of)}}; }
inline Expression over_workers(Expression of) { return {Function::over_workers, {std::move(of)}}; }
inline Expression exceeds(Expression a, Expression b) { return {Function::exceeds, {std::move(a), std::move(b)}}; }
inline Expression most_of_workers(Expression of) { return {Function::most_of_workers, {std::move(of)}}; }
inline Expression largest_divisor(Expression of, double most) {
  return {Function::largest_divisor, {std::move(of), most}};
}
inline Expression quotient(Expression of, Expression by) {
  return {Function::quotient, {std::move(of), std::move(by)}};
}

/// Components that an algorithm's search for at most `asked` ones finds in a layer's gradient. `allows`: the largest
/// number that it can find; `holds`: the number that the layer has. For the learned layer the value is min(noted,
/// allows). If a learned layer noted all that it holds, and fewer than `asked`, the value for a larger layer is unknown
/// (censored). It is then taken as min(asked, holds).
inline Expression censored_rank(Expression noted, Expression asked, Expression allows, Expression holds) {
  return {Function::censored_rank, {std::move(noted), std::move(asked), std::move(allows), std::move(holds)}};
}
/// Width of A with a column of ones if the layer has a bias.
inline Expression in_with_bias() { return in() + bias(); }
inline Expression all_rows() { return over_workers(rows()); }
/// Dimension of the space of a layer's Δ. After softmax with cross-entropy, the loss of every network here, the entries
/// of a row of the last Δ add up to 0.
inline Expression delta_directions() { return out() - last_matrix(); }
inline Expression all_forward_macs() { return over_workers(forward_macs()); }
inline Expression all_backward_macs() { return over_workers(backward_macs()); }
inline Expression all_gradient_macs() { return over_workers(gradient_macs()); }
inline Expression all_outputs() { return over_workers(outputs()); }

/// Number of components found, limited by the layer and its rows, because a timed layer may be smaller than the learned
/// one. `slot` has one number per worker.
inline Expression rank(std::int32_t number) { return min({slot(number), in_with_bias(), out(), rows()}); }
/// Sum of rank() over all workers.
inline Expression total_rank(std::int32_t number) { return over_workers(rank(number)); }
/// Number of components found after merging those of all workers; `slot` has a single number.
inline Expression merged_rank(std::int32_t number) { return min({slot(number), in_with_bias(), out(), all_rows()}); }
/// Number of requested components, limited by the matrix; `slot` has a single number.
inline Expression matrix_rank(std::int32_t number) { return min({slot(number), in(), out()}); }
/// Number of requested components, limited by the matrix with its bias; `slot` has a single number.
inline Expression biased_rank(std::int32_t number) { return min({slot(number), in_with_bias(), out()}); }
/// ⌈fraction · in · out⌉; `fraction` in (0, 1], rounded to nine decimals.
Expression kept(double fraction);
/// ⌈fraction · of⌉; `fraction` as for kept().
Expression kept_of(double fraction, const Expression& of);
}  // namespace extent

/// Type of one message element on the wire.
enum class ElementType : std::uint8_t { float32, float16, int32, bit, bfloat16, int8 };
constexpr auto names_of(ElementType) {
  using enum ElementType;
  return std::to_array<spec::Name<ElementType>>(
      {{float32, "fp32"}, {float16, "fp16"}, {int32, "int32"}, {bit, "bits"}, {bfloat16, "bf16"}, {int8, "int8"}});
}
using spec::to_string;

/// Returns the bits of one element on the wire.
int bits(ElementType type);

/// Contribution of one worker to a collective: a number of elements of one type.
struct Payload {
  Expression elements;
  ElementType type = ElementType::float32;

  double bytes(const Scope& scope) const;
  bool operator==(const Payload&) const = default;
};

/// Cost of a computation, for a device's roofline.
struct Work {
  Expression flops;
  Expression bytes_moved;  ///< bytes moved between memory and the cores, each operand once
  Expression launches;     ///< number of kernel launches
  bool operator==(const Work&) const = default;
};

}  // namespace dadsim::step
