#include "support/wire.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace dadsim {
namespace shapes {

enum class Colour : std::uint8_t { red, green, blue };
constexpr Colour last_of(Colour /*type*/) { return Colour::blue; }

struct Circle {
  double radius = 0;
  bool operator==(const Circle&) const = default;
};
void fields(auto& bytes, of<Circle> auto& circle) { bytes(circle.radius); }

struct Tree {
  std::string name;
  Colour colour = Colour::red;
  bool tall = false;
  std::variant<Circle, std::int32_t> what;
  std::optional<float> weight;
  std::shared_ptr<const Circle> crown;
  std::vector<Tree> branches;
  std::vector<std::int64_t> numbers;
};
void fields(auto& bytes, of<Tree> auto& tree) {
  bytes(tree.name, tree.colour, tree.tall, tree.what, tree.weight, tree.crown, tree.branches, tree.numbers);
}

}  // namespace shapes
namespace {

using shapes::Circle;
using shapes::Colour;
using shapes::Tree;

Tree oak() {
  Tree tree{.name = "oak",
            .colour = Colour::green,
            .tall = true,
            .what = 7,
            .weight = 2.5F,
            .crown = std::make_shared<const Circle>(Circle{3}),
            .branches = {},
            .numbers = {1, -2}};
  tree.branches = {tree, Tree{}};
  return tree;
}

std::string bytes_of(const auto& value) {
  WireWriter bytes;
  bytes << value;
  return bytes.bytes();
}

TEST(Wire, ReadsWhatItHasWritten) {
  const std::string bytes = bytes_of(oak());
  const Tree again = WireReader(bytes).read<Tree>();
  EXPECT_EQ(bytes_of(again), bytes);
  ASSERT_EQ(again.branches.size(), 2U);
  EXPECT_EQ(again.branches[0].name, "oak");
  EXPECT_EQ(again.branches[0].colour, Colour::green);
  EXPECT_EQ(std::get<std::int32_t>(again.branches[0].what), 7);
  EXPECT_EQ(again.branches[0].weight, 2.5F);
  EXPECT_EQ(again.branches[0].crown->radius, 3);
  EXPECT_EQ(again.branches[0].numbers, (std::vector<std::int64_t>{1, -2}));
  EXPECT_EQ(again.branches[1].crown, nullptr);
  EXPECT_FALSE(again.branches[1].weight);
}

// These bytes must not change, as files of earlier sweeps contain them.
TEST(Wire, BytesAreThese) {
  EXPECT_EQ(bytes_of(true), std::string("\1", 1));
  EXPECT_EQ(bytes_of(Colour::blue), std::string("\2", 1));
  EXPECT_EQ(bytes_of(std::string("ab")), std::string("\2\0\0\0\0\0\0\0ab", 10));
  EXPECT_EQ(bytes_of(std::vector<std::int32_t>{5}), std::string("\1\0\0\0\0\0\0\0\5\0\0\0", 12));
  EXPECT_EQ(bytes_of(std::optional<std::uint8_t>(9)), std::string("\1\11", 2));
  EXPECT_EQ(bytes_of(std::variant<Circle, std::uint8_t>(std::uint8_t{9})), std::string("\1\11", 2));
}

TEST(Wire, RefusesWhatIsCutOffOrMeansNothing) {
  const std::string bytes = bytes_of(oak());
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(static_cast<void>(WireReader(bytes.substr(0, size)).read<Tree>()), std::out_of_range) << size;
  EXPECT_THROW(static_cast<void>(WireReader("\2").read<bool>()), std::out_of_range);
  EXPECT_THROW(static_cast<void>(WireReader("\3").read<Colour>()), std::out_of_range);
  EXPECT_THROW(static_cast<void>(WireReader("\2\0").read<std::optional<std::uint8_t>>()), std::out_of_range);
  EXPECT_THROW((static_cast<void>(WireReader("\2\1").read<std::variant<std::uint8_t, bool>>())), std::out_of_range);
  // A length that no data follow must not allocate memory.
  const std::string endless = bytes_of(std::numeric_limits<std::uint64_t>::max());
  EXPECT_THROW(static_cast<void>(WireReader(endless).read<std::vector<double>>()), std::out_of_range);
  EXPECT_THROW(static_cast<void>(WireReader(endless).read<std::vector<Circle>>()), std::out_of_range);
  EXPECT_THROW(static_cast<void>(WireReader(endless).read<std::string>()), std::out_of_range);
}

TEST(Wire, RefusesStructsWithinStructsWithoutEnd) {
  Tree tree;
  for (int depth = 0; depth < 100; ++depth) {
    Tree inner = tree;
    tree = Tree();
    tree.branches = {inner};
  }
  const std::string bytes = bytes_of(tree);
  EXPECT_THROW(static_cast<void>(WireReader(bytes).read<Tree>()), std::out_of_range);
}

}  // namespace
}  // namespace dadsim
