#include "models/activation.hpp"

#include <cstddef>
#include <stdexcept>

#include "models/kernels/array_kernels.hpp"
#include "support/parallel.hpp"

namespace dadsim::models {
namespace {

constexpr std::size_t kActivatedRows = 128;

template <class T>
void require_same_shape(const MatrixOf<T>& a, const MatrixOf<T>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) throw std::logic_error("activation derivative: shapes differ");
}

}  // namespace

template <class T>
void activate_block(spec::Activation activation, MutableBlockOf<T> z) {
  array_kernels_of<T>().activate(activation, z.rows(), z.cols(), {z.data(), z.outerStride()});
}

template <class T>
void multiply_derivative_from_output_block(spec::Activation activation, ConstBlockOf<T> output,
                                           MutableBlockOf<T> delta) {
  if (!derivative_from_output(activation)) throw std::logic_error("the derivative of GELU needs the pre-activation");
  array_kernels_of<T>().multiply_derivative_from_output(activation, delta.rows(), delta.cols(),
                                                        {output.data(), output.outerStride()},
                                                        {delta.data(), delta.outerStride()});
}

template <class T>
void multiply_derivative_block(spec::Activation activation, ConstBlockOf<T> pre_activation, MutableBlockOf<T> delta) {
  array_kernels_of<T>().multiply_derivative(activation, delta.rows(), delta.cols(),
                                            {pre_activation.data(), pre_activation.outerStride()},
                                            {delta.data(), delta.outerStride()});
}

template <class T>
void activate(spec::Activation activation, MatrixOf<T>& z) {
  if (activation == spec::Activation::identity) return;
  parallel_for_blocks(static_cast<std::size_t>(z.rows()), kActivatedRows, [&](std::size_t begin, std::size_t end) {
    activate_block<T>(activation, z.middleRows(begin, end - begin));
  });
}

template <class T>
void multiply_derivative_from_output(spec::Activation activation, const MatrixOf<T>& output, MatrixOf<T>& delta) {
  require_same_shape(output, delta);
  if (!derivative_from_output(activation)) throw std::logic_error("the derivative of GELU needs the pre-activation");
  if (activation == spec::Activation::identity) return;
  parallel_for_blocks(static_cast<std::size_t>(delta.rows()), kActivatedRows, [&](std::size_t begin, std::size_t end) {
    multiply_derivative_from_output_block<T>(activation, output.middleRows(begin, end - begin),
                                             delta.middleRows(begin, end - begin));
  });
}

template <class T>
void multiply_derivative(spec::Activation activation, const MatrixOf<T>& pre_activation, MatrixOf<T>& delta) {
  require_same_shape(pre_activation, delta);
  if (activation == spec::Activation::identity) return;
  parallel_for_blocks(static_cast<std::size_t>(delta.rows()), kActivatedRows, [&](std::size_t begin, std::size_t end) {
    multiply_derivative_block<T>(activation, pre_activation.middleRows(begin, end - begin),
                                 delta.middleRows(begin, end - begin));
  });
}

bool derivative_from_output(spec::Activation activation) { return activation != spec::Activation::gelu; }

template void activate(spec::Activation, MatrixOf<float>&);
template void activate(spec::Activation, MatrixOf<double>&);
template void multiply_derivative_from_output(spec::Activation, const MatrixOf<float>&, MatrixOf<float>&);
template void multiply_derivative_from_output(spec::Activation, const MatrixOf<double>&, MatrixOf<double>&);
template void multiply_derivative(spec::Activation, const MatrixOf<float>&, MatrixOf<float>&);
template void multiply_derivative(spec::Activation, const MatrixOf<double>&, MatrixOf<double>&);
template void activate_block<float>(spec::Activation, MutableBlockOf<float>);
template void activate_block<double>(spec::Activation, MutableBlockOf<double>);
template void multiply_derivative_from_output_block<float>(spec::Activation, ConstBlockOf<float>,
                                                           MutableBlockOf<float>);
template void multiply_derivative_from_output_block<double>(spec::Activation, ConstBlockOf<double>,
                                                            MutableBlockOf<double>);
template void multiply_derivative_block<float>(spec::Activation, ConstBlockOf<float>, MutableBlockOf<float>);
template void multiply_derivative_block<double>(spec::Activation, ConstBlockOf<double>, MutableBlockOf<double>);

}  // namespace dadsim::models
