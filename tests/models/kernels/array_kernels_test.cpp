#include "models/kernels/array_kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "models/kernels/array_sets.hpp"
#include "support/random.hpp"

// Compares every set of array kernels that this machine supports with the portable set, at sizes that are no multiples
// of a vector. Tests of networks compare the portable set with PyTorch and finite differences.

namespace dadsim::models {
namespace {

using Index = std::ptrdiff_t;

struct Set {
  KernelSet name;
  const ArrayKernels& kernels;
};

std::vector<Set> sets_that_run_here() {
  std::vector<Set> sets{{KernelSet::portable, kPortableArrayKernels}};
#ifdef __x86_64__
  if (runs_here(KernelSet::avx2)) sets.push_back({KernelSet::avx2, kAvx2ArrayKernels});
  if (runs_here(KernelSet::avx512)) sets.push_back({KernelSet::avx512, kAvx512ArrayKernels});
#endif
  return sets;
}

template <class T>
const ArrayKernelsOf<T>& of_type(const ArrayKernels& kernels) {
  if constexpr (std::is_same_v<T, float>) {
    return kernels.of_float;
  } else {
    return kernels.of_double;
  }
}

template <class T>
std::vector<T> drawn_between(Index size, std::uint64_t seed, double low = -1, double high = 1) {
  RandomStream random(seed, Purpose::test);
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& value : values) value = static_cast<T>(low + (high - low) * random() * 0x1p-32);
  return values;
}

/// Expects |a − b| ≤ `roundings` · ε · max(1, |b|), since exp, tanh and roots of every set are accurate to a few
/// roundings.
template <class T>
void expect_near(const std::vector<T>& a, const std::vector<T>& b, double roundings, const Set& set) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double bound = roundings * std::numeric_limits<T>::epsilon() * std::max(1.0, std::abs(double{b[i]}));
    ASSERT_NEAR(a[i], b[i], bound) << name_of(set.name) << " at " << i << " of " << a.size();
  }
}

constexpr Index kSizes[] = {1, 3, 7, 17, 67, 259};

template <class T>
class ArrayKernelsTest : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(ArrayKernelsTest, Numbers);

TYPED_TEST(ArrayKernelsTest, ActivationsAndTheirDerivatives) {
  using T = TypeParam;
  using spec::Activation;
  constexpr Index kRows = 3;
  const auto all = [&](const ArrayKernelsOf<T>& kernels, Activation activation, Index columns) {
    const Index stride = columns + 2;
    std::vector<T> result;
    std::vector<T> z = drawn_between<T>(kRows * stride, 1, -4, 4);
    const std::vector<T> before = z;
    kernels.activate(activation, kRows, columns, {z.data(), stride});
    result.insert(result.end(), z.begin(), z.end());
    std::vector<T> delta = drawn_between<T>(kRows * stride, 2);
    kernels.multiply_derivative_from_output(activation, kRows, columns, {z.data(), stride}, {delta.data(), stride});
    result.insert(result.end(), delta.begin(), delta.end());
    delta = drawn_between<T>(kRows * stride, 2);
    kernels.multiply_derivative(activation, kRows, columns, {before.data(), stride}, {delta.data(), stride});
    result.insert(result.end(), delta.begin(), delta.end());
    return result;
  };
  for (const Set& set : sets_that_run_here()) {
    for (const Activation activation :
         {Activation::identity, Activation::relu, Activation::tanh, Activation::sigmoid, Activation::gelu}) {
      for (const Index columns : kSizes) {
        expect_near(all(of_type<T>(set.kernels), activation, columns),
                    all(of_type<T>(kPortableArrayKernels), activation, columns), 32, set);
      }
    }
  }
}

// Tests the error bound in models/kernels/gelu_loops.hpp, plus the rounding of the last product.
TEST(ArrayKernels, GeluIsAsGoodAsStated) {
  const auto phi = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); };
  std::vector<float> z;
  for (int i = -12000; i <= 12000; ++i) z.push_back(1e-3F * static_cast<float>(i));
  const auto size = static_cast<Index>(z.size());
  for (const Set& set : sets_that_run_here()) {
    std::vector<float> value = z, derivative(z.size(), 1.0F);
    set.kernels.of_float.activate(spec::Activation::gelu, 1, size, {value.data(), size});
    set.kernels.of_float.multiply_derivative(spec::Activation::gelu, 1, size, {z.data(), size},
                                             {derivative.data(), size});
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double x = z[i];
      const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::acos(-1.0));
      ASSERT_NEAR(value[i], x * phi(x), 2.7e-7 * std::max(1.0, std::abs(x))) << name_of(set.name) << " at " << x;
      ASSERT_NEAR(derivative[i], phi(x) + x * density, 3.5e-7) << name_of(set.name) << " at " << x;
    }
    std::vector<float> far{-1e30F, -100, 100, 1e30F, std::numeric_limits<float>::quiet_NaN()};
    set.kernels.of_float.activate(spec::Activation::gelu, 1, 5, {far.data(), 5});
    EXPECT_NEAR(far[0], 0, 1e-7);  // exp() of some sets is never below the smallest normal number
    EXPECT_NEAR(far[1], 0, 1e-30);
    EXPECT_EQ(far[2], 100);
    EXPECT_EQ(far[3], 1e30F);
    EXPECT_TRUE(std::isnan(far[4])) << name_of(set.name);
  }
}

TYPED_TEST(ArrayKernelsTest, Softmax) {
  using T = TypeParam;
  for (const Set& set : sets_that_run_here()) {
    const ArrayKernelsOf<T>& kernels = of_type<T>(set.kernels);
    for (const Index size : kSizes) {
      for (const Index seen : {Index{1}, (size + 1) / 2, size}) {
        const T scale = T(0.25);
        const std::vector<T> z = drawn_between<T>(size, 1, -9, 9);
        std::vector<double> expected(z.begin(), z.end());
        double sum = 0;
        for (Index i = 0; i < size; ++i) {
          expected[i] = i < seen ? std::exp(double{z[i]} * double{scale}) : 0;
          sum += expected[i];
        }
        std::vector<T> p = z;
        kernels.softmax(scale, seen, size, p.data());
        for (Index i = 0; i < size; ++i) {
          // exp, the sum and the quotient each add a few roundings.
          ASSERT_NEAR(p[i], expected[i] / sum, 32 * std::numeric_limits<T>::epsilon()) << name_of(set.name);
        }
        std::vector<T> s = drawn_between<T>(size, 2);
        const std::vector<T> before = s;
        kernels.softmax_back(scale, T(0.3), size, p.data(), s.data());
        for (Index i = 0; i < size; ++i) {
          ASSERT_NEAR(s[i], p[i] * (before[i] - T(0.3)) * scale, 4 * std::numeric_limits<T>::epsilon());
        }
      }
    }
  }
}

TYPED_TEST(ArrayKernelsTest, RecurrentCells) {
  using T = TypeParam;
  const auto all = [&](const ArrayKernelsOf<T>& kernels, Index units) {
    std::vector<T> result;
    const auto keep = [&](const std::vector<T>& row) { result.insert(result.end(), row.begin(), row.end()); };
    std::vector<T> gates = drawn_between<T>(4 * units, 1, -3, 3), state(units), cell(units), cell_tanh(units);
    std::vector<T> delta(4 * units), back = drawn_between<T>(units, 2), back_cell = drawn_between<T>(units, 3);
    const std::vector<T> from_state = drawn_between<T>(3 * units, 4), before = drawn_between<T>(units, 5),
                         above = drawn_between<T>(units, 6);
    kernels.gru(units, from_state.data(), before.data(), gates.data(), state.data());
    keep(gates), keep(state);
    kernels.gru_back(units, gates.data(), delta.data(), from_state.data(), before.data(), above.data(), back.data());
    keep(gates), keep(delta), keep(back);
    for (const T* cell_before : {static_cast<const T*>(nullptr), before.data()}) {
      gates = drawn_between<T>(4 * units, 7, -3, 3);
      kernels.lstm(units, gates.data(), cell_before, cell.data(), cell_tanh.data(), state.data());
      keep(gates), keep(cell), keep(cell_tanh), keep(state);
      kernels.lstm_back(units, gates.data(), cell_tanh.data(), before.data(), above.data(), back.data(),
                        back_cell.data());
      keep(gates), keep(back_cell);
    }
    return result;
  };
  for (const Set& set : sets_that_run_here()) {
    for (const Index units : kSizes) {
      expect_near(all(of_type<T>(set.kernels), units), all(of_type<T>(kPortableArrayKernels), units), 64, set);
    }
  }
}

TEST(ArrayKernels, StepsOfAdam) {
  const auto all = [](const ArrayKernels& kernels, Index size, bool decoupled, float decay) {
    std::vector<float> weights = drawn_between<float>(size, 1), first = drawn_between<float>(size, 2, -0.1, 0.1);
    std::vector<float> second = drawn_between<float>(size, 3, 0.01, 1);
    const std::vector<float> gradient = drawn_between<float>(size, 4);
    kernels.adam({.beta1 = 0.9F,
                  .rest1 = 0.1F,
                  .beta2 = 0.999F,
                  .rest2 = 0.001F,
                  .rate = 0.01F,
                  .scale = 3,
                  .epsilon = 1e-8F,
                  .decay = decay,
                  .keep = 1 - 0.01F * decay,
                  .decoupled = decoupled},
                 size, weights.data(), gradient.data(), first.data(), second.data());
    weights.insert(weights.end(), first.begin(), first.end());
    weights.insert(weights.end(), second.begin(), second.end());
    return weights;
  };
  for (const Set& set : sets_that_run_here()) {
    for (const Index size : {Index{1}, Index{13}, Index{1000}, Index{2051}}) {
      for (const bool decoupled : {false, true}) {
        for (const float decay : {0.0F, 0.1F}) {
          expect_near(all(set.kernels, size, decoupled, decay), all(kPortableArrayKernels, size, decoupled, decay), 8,
                      set);
        }
      }
    }
  }
}

/// Numbers that start `offset` numbers after a 64-byte boundary.
template <class T>
class Placed {
 public:
  Placed(const std::vector<T>& values, Index offset) : room_(values.size() + 2 * kLine), size_(values.size()) {
    void* begin = room_.data();
    std::size_t space = room_.size() * sizeof(T);
    data_ = static_cast<T*>(std::align(64, values.size() * sizeof(T), begin, space)) + offset;
    std::ranges::copy(values, data_);
  }
  T* data() { return data_; }
  std::vector<T> values() const { return {data_, data_ + size_}; }

 private:
  static constexpr std::size_t kLine = 64 / sizeof(T);
  std::vector<T> room_;
  std::size_t size_;
  T* data_;
};

/// Memory is aligned to 16 bytes or more, and results must not depend on the alignment.
TYPED_TEST(ArrayKernelsTest, GiveTheSameBitsAtEveryAddress) {
  using T = TypeParam;
  using spec::Activation;
  constexpr Index kUnits = 37;
  constexpr Index kLine = 64 / sizeof(T);
  const auto all = [&](const ArrayKernels& set, Index offset) {
    const ArrayKernelsOf<T>& kernels = of_type<T>(set);
    std::vector<T> result;
    const auto keep = [&](const Placed<T>& one) {
      for (const T value : one.values()) result.push_back(value);
    };
    const auto placed = [&](Index size, std::uint64_t seed) {
      return Placed<T>(drawn_between<T>(size, seed, -3, 3), offset);
    };
    for (const Activation activation : {Activation::tanh, Activation::sigmoid, Activation::gelu}) {
      Placed<T> z = placed(3 * kUnits, 1), delta = placed(3 * kUnits, 2), output = placed(3 * kUnits, 3);
      kernels.activate(activation, 3, kUnits, {z.data(), kUnits});
      kernels.multiply_derivative(activation, 3, kUnits, {output.data(), kUnits}, {delta.data(), kUnits});
      kernels.multiply_derivative_from_output(activation, 3, kUnits, {output.data(), kUnits}, {delta.data(), kUnits});
      keep(z), keep(delta);
    }
    Placed<T> scores = placed(kUnits, 14);
    kernels.softmax(T(0.25), kUnits - 2, kUnits, scores.data());
    keep(scores);
    Placed<T> gates = placed(4 * kUnits, 4), state = placed(kUnits, 5), cell = placed(kUnits, 6);
    Placed<T> cell_tanh = placed(kUnits, 7), before = placed(kUnits, 8), from_state = placed(3 * kUnits, 9);
    kernels.gru(kUnits, from_state.data(), before.data(), gates.data(), state.data());
    keep(gates), keep(state);
    kernels.lstm(kUnits, gates.data(), before.data(), cell.data(), cell_tanh.data(), state.data());
    keep(gates), keep(cell), keep(cell_tanh), keep(state);
    if constexpr (std::is_same_v<T, float>) {
      Placed<T> weights = placed(1061, 10), gradient = placed(1061, 11), first = placed(1061, 12);
      Placed<T> second(drawn_between<T>(1061, 13, 0.01, 1), offset);
      set.adam({.beta1 = 0.9F,
                .rest1 = 0.1F,
                .beta2 = 0.999F,
                .rest2 = 0.001F,
                .rate = 0.01F,
                .scale = 3,
                .epsilon = 1e-8F,
                .decay = 0.1F,
                .keep = 0.999F,
                .decoupled = false},
               1061, weights.data(), gradient.data(), first.data(), second.data());
      keep(weights), keep(first), keep(second);
    }
    return result;
  };
  for (const Set& set : sets_that_run_here()) {
    const std::vector<T> aligned = all(set.kernels, 0);
    for (Index offset = 16 / sizeof(T); offset < kLine; offset += 16 / sizeof(T))
      EXPECT_EQ(all(set.kernels, offset), aligned) << name_of(set.name) << ", " << offset << " numbers on";
  }
}

}  // namespace
}  // namespace dadsim::models
