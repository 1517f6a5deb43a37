#include "models/gemm/kernels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "models/gemm/kernels/sets.hpp"
#include "models/matrix.hpp"
#include "support/random.hpp"

// Compares every set of kernels that this machine supports with plain sums in double, and with the portable set.

namespace dadsim::models {
namespace {

using Index = KernelIndex;

template <class T>
std::vector<T> drawn(Index size, std::uint64_t seed) {
  RandomStream random(seed, Purpose::test);
  std::vector<T> values(static_cast<std::size_t>(size));
  for (T& value : values) value = static_cast<T>(random() * 0x1p-31 - 1);
  return values;
}

/// Returns a bound on the rounding of a sum of `terms` products of numbers up to 1, for any order of multiply-adds.
template <class T>
double rounding(Index terms) {
  return 2 * static_cast<double>(terms + 2) * std::numeric_limits<T>::epsilon();
}

struct Shape {
  Index rows, inner, columns;
};

std::vector<Shape> shapes(Index panel_columns, Index lanes) {
  return {{1, 1, 1},
          {6, 8, panel_columns},
          {7, 13, panel_columns - 1},
          {13, 29, lanes + 1},
          {5, 3, lanes},
          {11, 17, std::min(panel_columns, 2 * lanes + 1)},
          {3, 31, std::max<Index>(1, lanes - 1)}};
}

template <class T>
class KernelsTest : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(KernelsTest, Numbers);

/// Returns C = start + A B for one panel, using all steps of a kernel set.
template <class T>
std::vector<T> product(const KernelsOf<T>& kernels, const Shape& shape, bool a_transposed, bool b_transposed,
                       TileStart start) {
  const std::vector<T> a = drawn<T>(shape.rows * shape.inner, 1);
  const std::vector<T> b = drawn<T>(shape.inner * shape.columns, 2);
  std::vector<T> c = drawn<T>(shape.rows * shape.columns, 3);
  std::vector<T> bias = drawn<T>(kernels.panel_columns, 4);
  std::vector<T> panel(static_cast<std::size_t>(shape.inner * kernels.panel_columns), T(7));
  if (b_transposed) {
    kernels.pack_transposed_panel(b.data(), shape.inner, shape.inner, shape.columns, panel.data());
  } else {
    kernels.pack_panels(b.data(), shape.columns, shape.inner, shape.columns, panel.data(), panel.size());
  }
  TileOf<T> tile;
  tile.inner = shape.inner;
  tile.a = a.data();
  tile.a_stride = a_transposed ? shape.rows : shape.inner;
  tile.a_tile = a_transposed ? kTileRows : kTileRows * shape.inner;
  tile.panel = panel.data();
  tile.c = c.data();
  tile.c_stride = shape.columns;
  tile.columns = shape.columns;
  tile.start = start;
  tile.bias = bias.data();
  tile.ahead = {b.data(), shape.columns, shape.inner, shape.columns};
  (a_transposed ? kernels.multiply_columns : kernels.multiply_rows)(shape.rows, tile);
  return c;
}

template <class T, class Sum = double>
std::vector<Sum> plain_product(const Shape& shape, bool a_transposed, bool b_transposed, TileStart start) {
  const std::vector<T> a = drawn<T>(shape.rows * shape.inner, 1);
  const std::vector<T> b = drawn<T>(shape.inner * shape.columns, 2);
  const std::vector<T> c = drawn<T>(shape.rows * shape.columns, 3);
  const std::vector<T> bias = drawn<T>(shape.columns, 4);
  std::vector<Sum> result;
  for (Index i = 0; i < shape.rows; ++i) {
    for (Index j = 0; j < shape.columns; ++j) {
      Sum sum = start == TileStart::bias ? bias[j] : 0;
      for (Index k = 0; k < shape.inner; ++k) {
        sum += static_cast<Sum>(a[a_transposed ? k * shape.rows + i : i * shape.inner + k]) *
               static_cast<Sum>(b[b_transposed ? j * shape.inner + k : k * shape.columns + j]);
      }
      result.push_back(start == TileStart::result ? c[i * shape.columns + j] + sum : sum);
    }
  }
  return result;
}

TYPED_TEST(KernelsTest, ProductsOfEverySet) {
  using T = TypeParam;
  for (const KernelSet set : kKernelSets) {
    if (!runs_here(set)) continue;
    const KernelsOf<T>& kernels = kernels_of<T>(set);
    ASSERT_EQ(kernels.panel_columns % kernels.lanes, 0);
    for (const Shape& shape : shapes(kernels.panel_columns, kernels.lanes)) {
      for (const TileStart start : {TileStart::zero, TileStart::result, TileStart::bias}) {
        for (const bool a_transposed : {false, true}) {
          for (const bool b_transposed : {false, true}) {
            const std::vector<T> c = product<T>(kernels, shape, a_transposed, b_transposed, start);
            const std::vector<double> expected = plain_product<T>(shape, a_transposed, b_transposed, start);
            for (std::size_t i = 0; i < c.size(); ++i) {
              ASSERT_NEAR(c[i], expected[i], rounding<T>(shape.inner))
                  << name_of(set) << " " << shape.rows << " × " << shape.inner << " × " << shape.columns << " at " << i;
            }
          }
        }
      }
    }
  }
}

#ifdef __x86_64__
/// Returns the portable kernels with vectors that every processor has, and those that this machine uses.
template <class T>
std::vector<const KernelsOf<T>*> portable_kernels() {
  if constexpr (std::is_same_v<T, float>) return {&kPortableKernels.of_float, &kernels_of<T>(KernelSet::portable)};
  if constexpr (std::is_same_v<T, double>) return {&kPortableKernels.of_double, &kernels_of<T>(KernelSet::portable)};
}

// Portable kernels round every product and every sum, so results have the same bits with vectors of any width.
TYPED_TEST(KernelsTest, PortableProductsAreSumsInOrder) {
  using T = TypeParam;
  for (const KernelsOf<T>* kernels : portable_kernels<T>()) {
    EXPECT_EQ(kernels->depth, 2048);
    for (const Shape& shape : shapes(kernels->panel_columns, kernels->lanes)) {
      for (const TileStart start : {TileStart::zero, TileStart::result, TileStart::bias}) {
        for (const bool a_transposed : {false, true}) {
          for (const bool b_transposed : {false, true}) {
            EXPECT_EQ(product<T>(*kernels, shape, a_transposed, b_transposed, start),
                      (plain_product<T, T>(shape, a_transposed, b_transposed, start)))
                << kernels->lanes << " lanes, " << shape.rows << " × " << shape.inner << " × " << shape.columns;
          }
        }
      }
    }
  }
}
#endif

TYPED_TEST(KernelsTest, PanelsThatArePackedTogetherAreThoseOfOneAtATime) {
  using T = TypeParam;
  for (const KernelSet set : kKernelSets) {
    if (!runs_here(set)) continue;
    const KernelsOf<T>& kernels = kernels_of<T>(set);
    const Index width = kernels.panel_columns;
    constexpr Index kInner = 5;
    for (const Index columns : {width - 1, width, 2 * width, 3 * width + 1}) {
      const Index stride = columns + 3;
      const std::vector<T> b = drawn<T>(kInner * stride, 1);
      const Index panels = (columns + width - 1) / width;
      const Index apart = kInner * width + 2;
      std::vector<T> together(static_cast<std::size_t>(panels * apart), T(7));
      std::vector<T> alone = together;
      kernels.pack_panels(b.data(), stride, kInner, columns, together.data(), apart);
      for (Index p = 0; p < panels; ++p) {
        for (Index k = 0; k < kInner; ++k) {
          for (Index j = 0; j < width; ++j) {
            const Index column = p * width + j;
            alone[p * apart + k * width + j] = column < columns ? b[k * stride + column] : T(0);
          }
        }
      }
      EXPECT_EQ(together, alone) << name_of(set) << ", " << columns << " columns";
    }
  }
}

/// Returns the outputs of `out` filters for `count` adjacent windows, each of two rows of `run` numbers, followed by
/// the gradient of the filters' first row.
template <class T>
std::vector<T> windows(const KernelsOf<T>& kernels, Index count, Index run, Index out, bool add, bool with_bias) {
  constexpr Index kRows = 2, kApart = 4;
  const Index pitch = count * kApart + run;
  const std::vector<T> picture = drawn<T>(kRows * pitch, 5);
  const Index width = out <= kernels.few_lanes ? kernels.few_lanes
                      : out <= kernels.lanes   ? kernels.lanes
                                               : kernels.window_columns;
  const std::vector<T> weights = drawn<T>(kRows * run * out, 6);
  const std::vector<T> bias = drawn<T>(out + width, 7);
  std::vector<T> result = drawn<T>(count * out, 8);
  for (Index column = 0; column < out; column += width) {
    WindowTile<T> tile;
    tile.columns = std::min(width, out - column);
    std::vector<T> panel(static_cast<std::size_t>(kRows * run * width), T(0));
    for (Index k = 0; k < kRows * run; ++k) {
      std::copy_n(weights.data() + k * out + column, tile.columns, panel.data() + k * width);
    }
    tile.window = picture.data();
    tile.apart = kApart;
    tile.pitch = pitch;
    tile.rows = kRows;
    tile.run = run;
    tile.panel = panel.data();
    tile.width = width;
    tile.result = result.data() + column;
    tile.result_apart = out;
    tile.add = add;
    tile.bias = with_bias ? bias.data() + column : nullptr;
    kernels.multiply_windows(count, tile);
  }
  std::vector<T> gradient = drawn<T>(out * run, 9);
  const std::vector<T> numbers = drawn<T>(pitch + kernels.gradient_columns, 5);
  for (Index column = 0; column < run; column += kernels.gradient_columns) {
    GradientTile<T> sums;
    sums.delta = result.data();
    sums.delta_apart = out;
    sums.delta_pitch = 0;
    sums.number = numbers.data() + column;
    sums.number_apart = kApart;
    sums.number_pitch = 0;
    sums.down = 1;
    sums.across = count;
    sums.gradient = gradient.data() + column;
    sums.gradient_apart = run;
    sums.columns = std::min(kernels.gradient_columns, run - column);
    kernels.add_gradient(out, sums);
  }
  result.insert(result.end(), gradient.begin(), gradient.end());
  return result;
}

#ifdef __x86_64__
TYPED_TEST(KernelsTest, PortableWindowsHaveTheSameBitsWithVectorsOfAnyWidth) {
  using T = TypeParam;
  const auto kernels = portable_kernels<T>();
  for (const Index count : {1, 2, 3, 6, 7, 8, 13, 15, 21, 28, 32}) {
    for (const Index run : {6, 40}) {
      for (const Index out : {1, 3, 6, 8, 14, 33}) {
        for (const bool add : {false, true}) {
          EXPECT_EQ(windows(*kernels[0], count, run, out, add, add), windows(*kernels[1], count, run, out, add, add))
              << count << " " << run << " " << out;
        }
      }
    }
  }
}
#endif

TYPED_TEST(KernelsTest, WindowsOfEverySetAreThoseOfThePortableOne) {
  using T = TypeParam;
  const KernelsOf<T>& portable = kernels_of<T>(KernelSet::portable);
  for (const KernelSet set : kKernelSets) {
    if (!runs_here(set)) continue;
    for (const Index count : {1, 2, 3, 6, 7, 8, 13, 15, 21, 28, 32}) {
      for (const Index run : {6, 40}) {
        for (const Index out : {1, 3, 6, 8, 14, 33}) {
          for (const bool add : {false, true}) {
            const bool with_bias = (count + out) % 2 == 0;
            const std::vector<T> here = windows(kernels_of<T>(set), count, run, out, add, with_bias);
            const std::vector<T> there = windows(portable, count, run, out, add, with_bias);
            for (std::size_t i = 0; i < here.size(); ++i) {
              // The gradient sums products of factors, which are sums of up to 2 · run + 2 terms.
              ASSERT_NEAR(here[i], there[i], static_cast<double>(2 * run + 2) * rounding<T>(count + 2 * run))
                  << name_of(set) << " " << count << " " << run << " " << out << " " << i;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace dadsim::models
