#pragma once

#include "models/matrix.hpp"

// Products on the calling thread, with Eigen: for what is small and done many at a time. Eigen's kernels take seconds
// to compile; they are compiled here and nowhere else.

namespace dadsim::models {

/// C = A B, or C += A B. A: rows × inner, B: inner × out.
template <class T>
void multiply_small(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c, bool add = false);

/// C = A Bᵀ. A: rows × in, B: out × in.
template <class T>
void multiply_small_transposed(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c);

/// C += Aᵀ B. A: rows × out, B: rows × in.
template <class T>
void add_small_by_rows(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c);

}  // namespace dadsim::models
