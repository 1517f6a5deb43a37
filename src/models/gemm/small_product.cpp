#include "models/gemm/small_product.hpp"

namespace dadsim::models {

template <class T>
void multiply_small(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c, bool add) {
  if (add) {
    c.noalias() += a * b;
  } else {
    c.noalias() = a * b;
  }
}

template <class T>
void multiply_small_transposed(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c) {
  c.noalias() = a * b.transpose();
}

template <class T>
void add_small_by_rows(ConstBlockOf<T> a, ConstBlockOf<T> b, MutableBlockOf<T> c) {
  c.noalias() += a.transpose() * b;
}

template void multiply_small(ConstBlockOf<float>, ConstBlockOf<float>, MutableBlockOf<float>, bool);
template void multiply_small(ConstBlockOf<double>, ConstBlockOf<double>, MutableBlockOf<double>, bool);
template void multiply_small_transposed(ConstBlockOf<float>, ConstBlockOf<float>, MutableBlockOf<float>);
template void multiply_small_transposed(ConstBlockOf<double>, ConstBlockOf<double>, MutableBlockOf<double>);
template void add_small_by_rows(ConstBlockOf<float>, ConstBlockOf<float>, MutableBlockOf<float>);
template void add_small_by_rows(ConstBlockOf<double>, ConstBlockOf<double>, MutableBlockOf<double>);

}  // namespace dadsim::models
