#pragma once

#include "models/matrix.hpp"

// Matrix products in tiles of the result, in parallel. Neither the tiles nor the bits depend on the number of threads.

namespace dadsim::models {

/// Computes C = A Bᵀ (+ 1 bᵀ if the bias has entries). A: rows × in, B: out × in, C: rows × out.
template <class T>
void multiply_transposed(ConstBlockOf<T> a, ConstBlockOf<T> b, const VectorOf<T>& bias, MutableBlockOf<T> c);

/// Computes C = A B, or C += A B. A: rows × inner, B: inner × out.
template <class T>
void multiply(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c, bool add = false);

/// Computes C = Aᵀ B, or C += Aᵀ B. A: rows × out, B: rows × in, C: out × in.
template <class T>
void multiply_by_rows(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c, bool add = false);

}  // namespace dadsim::models
