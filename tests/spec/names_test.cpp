#include "spec/names.hpp"

#include <gtest/gtest.h>

#include <set>

#include "spec/data_specification.hpp"
#include "spec/failure_specification.hpp"
#include "spec/specification.hpp"
#include "spec/sweep_specification.hpp"

namespace dadsim::test {
namespace {

template <spec::Named Enum>
void expect_one_name_each() {
  std::set<Enum> values;
  for (const spec::Name<Enum>& name : names_of(Enum{})) {
    EXPECT_TRUE(values.insert(name.value).second) << name.text;
    EXPECT_STREQ(to_string(name.value), name.text);
    EXPECT_EQ(spec::parse<Enum>(name.text), name.value) << name.text;
  }
  EXPECT_EQ(values.size(), spec::all_names<Enum>().size());
  EXPECT_EQ(spec::parse<Enum>("no such name"), std::nullopt);
}

TEST(Names, AreOfOneValueEachAndReadBack) {
  expect_one_name_each<spec::AbsenceSpec::Does>();
  expect_one_name_each<spec::AbsenceSpec::Estimate>();
  expect_one_name_each<spec::Activation>();
  expect_one_name_each<spec::Attention>();
  expect_one_name_each<spec::AvailabilitySpec::By>();
  expect_one_name_each<spec::CollectiveLibrary>();
  expect_one_name_each<spec::CompressSpec::Scope>();
  expect_one_name_each<spec::ConditionsSpec::Of>();
  expect_one_name_each<spec::Corruption>();
  expect_one_name_each<spec::ExchangeMode>();
  expect_one_name_each<spec::FabricSpec::Kind>();
  expect_one_name_each<spec::Fidelity>();
  expect_one_name_each<spec::LayerKind>();
  expect_one_name_each<spec::OptimizerSpec::Kind>();
  expect_one_name_each<spec::PipelineOrder>();
  expect_one_name_each<spec::PlatformSpec::Profile::Of>();
  expect_one_name_each<spec::Precision>();
  expect_one_name_each<spec::Recomputation>();
  expect_one_name_each<spec::ScheduleSpec::Kind>();
  expect_one_name_each<spec::Sharding>();
  expect_one_name_each<spec::SiteWeights>();
  expect_one_name_each<spec::SplitSpec::Kind>();
  expect_one_name_each<spec::SweepSpec::Method>();
  expect_one_name_each<spec::TrainingSpec::Batches>();
  expect_one_name_each<spec::TrainingSpec::Stop>();
  expect_one_name_each<spec::Transport>();
}

TEST(Names, AValueWithoutOneIsAMistakeOfOurs) {
  EXPECT_THROW((void)to_string(static_cast<spec::Transport>(99)), std::logic_error);
}

}  // namespace
}  // namespace dadsim::test
