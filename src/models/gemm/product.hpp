#pragma once

#include "models/matrix.hpp"

// Matrix products in tiles of the result, in parallel. The tiles do not depend on the number of threads, and so neither
// do the bits.

namespace dadsim::models {

/// C = A Bᵀ (+ 1 bᵀ where the bias has entries). A: rows × in, B: out × in, C: rows × out.
template <class T>
void multiply_transposed(ConstBlockOf<T> a, ConstBlockOf<T> b, const VectorOf<T>& bias, MutableBlockOf<T> c);

/// C = A B, or C += A B. A: rows × inner, B: inner × out.
template <class T>
void multiply(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c, bool add = false);

/// C = Aᵀ B, or C += Aᵀ B. A: rows × out, B: rows × in, C: out × in.
template <class T>
void multiply_by_rows(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c, bool add = false);

}  // namespace dadsim::models
