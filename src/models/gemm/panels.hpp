#pragma once

#include "models/matrix.hpp"

// Products with a right operand that is used repeatedly. The operand is packed once; products then run on the calling
// thread, which keeps the left operand in its cache.

namespace dadsim::models {

/// Cuts B (inner × out) into panels of a few vectors of columns, each stored row by row: row p of `panels` is panel p.
/// Columns after the last one are 0.
template <class T>
void pack_panels(ConstBlockOf<T> b, MatrixOf<T>& panels);
/// Cuts Bᵀ into panels like pack_panels(), for B of out × inner.
template <class T>
void pack_transposed_panels(ConstBlockOf<T> b, MatrixOf<T>& panels);

/// Computes C = A B, or C += A B, for the packed B. A: rows × inner, C: rows × out. The rows of C do not depend on each
/// other.
template <class T>
void multiply_panels(ConstBlockOf<T> a, const MatrixOf<T>& panels, MutableBlockOf<T> c, bool add);

/// Computes C = Aᵀ B, or C += Aᵀ B, for the packed B. A: rows × out, B: rows × in, C: out × in.
template <class T>
void multiply_panels_by_rows(ConstBlockOf<T> a, const MatrixOf<T>& panels, MutableBlockOf<T> c, bool add);

}  // namespace dadsim::models
