#include "models/activation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "support/kernel_set.hpp"

namespace dadsim::models {
namespace {

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }
double normal_density(double z) { return std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi); }

TEST(Gelu, HasFloatPrecisionOverTheWholeRange) {
  const Eigen::Index size = 3001;  // several pieces, the last one shorter
  Matrix z(1, size);
  for (Eigen::Index i = 0; i < size; ++i) z(0, i) = -12.0F + 0.008F * static_cast<float>(i);
  Matrix value = z;
  activate(spec::Activation::gelu, value);
  Matrix value_gradient = Matrix::Ones(1, size);
  multiply_derivative(spec::Activation::gelu, z, value_gradient);
  for (Eigen::Index i = 0; i < size; ++i) {
    const double x = z(0, i);
    // The relative error counts even for tiny Φ(z). z²/2 is up to 72 and has 24 bits there, so its exponential is known
    // to 1e-5. The AVX2 and AVX-512 sets compute Φ as ½ plus an odd function, which loses digits near Φ = 0.
    const double expected = x * normal_cdf(x);
    const double most = kernel_set() == KernelSet::portable ? 1e-5 * std::abs(expected) + 1e-38 : 3e-7 * std::abs(x);
    EXPECT_NEAR(value(0, i), expected, most) << x;
    EXPECT_NEAR(value_gradient(0, i), normal_cdf(x) + x * normal_density(x), 1e-6) << x;
  }
}

TEST(Gelu, KeepsNanAndHugeValues) {
  Matrix z(1, 2);
  z << std::numeric_limits<float>::quiet_NaN(), 1e30F;
  Matrix value = z;
  activate(spec::Activation::gelu, value);
  EXPECT_TRUE(std::isnan(value(0, 0)));
  EXPECT_EQ(value(0, 1), 1e30F);
}

}  // namespace
}  // namespace dadsim::models
