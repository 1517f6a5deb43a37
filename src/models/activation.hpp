#pragma once

#include "models/matrix.hpp"
#include "spec/specification.hpp"

namespace dadsim::models {

/// Applies A = φ(Z), element by element, in place. GELU is exact, z·Φ(z) (Hendrycks & Gimpel, arXiv 1606.08415).
template <class T>
void activate(spec::Activation activation, MatrixOf<T>& z);

/// Multiplies Δ ← Δ ⊙ φ'(Z), with φ' computed from the output A = φ(Z): ReLU 1[a>0], tanh 1−a², sigmoid a(1−a),
/// identity 1. Throws std::logic_error for GELU, whose derivative needs Z, and for shapes that differ.
template <class T>
void multiply_derivative_from_output(spec::Activation activation, const MatrixOf<T>& output, MatrixOf<T>& delta);

/// Multiplies Δ ← Δ ⊙ φ'(Z) from the pre-activation Z; any activation. Throws std::logic_error for shapes that differ.
template <class T>
void multiply_derivative(spec::Activation activation, const MatrixOf<T>& pre_activation, MatrixOf<T>& delta);

/// The three functions above for a block, on the calling thread.
template <class T>
void activate_block(spec::Activation activation, MutableBlockOf<T> z);
template <class T>
void multiply_derivative_from_output_block(spec::Activation activation, ConstBlockOf<T> output,
                                           MutableBlockOf<T> delta);
template <class T>
void multiply_derivative_block(spec::Activation activation, ConstBlockOf<T> pre_activation, MutableBlockOf<T> delta);

/// Returns whether φ'(Z) can be computed from φ(Z).
bool derivative_from_output(spec::Activation activation);

}  // namespace dadsim::models
