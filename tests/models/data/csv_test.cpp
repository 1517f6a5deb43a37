#include "models/data/csv.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "models/data/refused.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

std::string message(const std::string& content, const std::string& target = "class") {
  return refused([&] { models::inspect_csv({{"t.csv", content}}, target); });
}

TEST(Csv, KnowsNumbersFromWords) {
  const models::CsvColumns table = models::inspect_csv({{"t.csv",
                                                         "\xef\xbb\xbf"
                                                         "age,colour,class,\"a, quoted\"\"name\"\r\n"
                                                         "1,red,yes,0\n?,\"blue\",no,NA\n\n 3.5 ,red,yes,-1e3\n"}},
                                                       "class");
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_TRUE(table.columns[0].number);
  EXPECT_FALSE(table.columns[1].number);
  EXPECT_EQ(table.columns[1].words, (std::vector<std::string>{"blue", "red"}));
  EXPECT_EQ(table.columns[3].name, "a, quoted\"name");
  EXPECT_EQ(table.columns[3].first, 3);
  EXPECT_EQ(table.features, 4);
  EXPECT_EQ(table.classes, (std::vector<std::string>{"no", "yes"}));
  EXPECT_EQ(table.rows, (std::vector<std::int64_t>{3}));
}

TEST(Csv, OrdersClassesThatAreNumbersByValue) {
  EXPECT_EQ(models::inspect_csv({{"t.csv", "x,class\n1,10\n1,9\n2,-1\n"}}, "class").classes,
            (std::vector<std::string>{"-1", "9", "10"}));
}

// The numbers of the training table are 1, 3 and one missing: mean 2, deviation 1.
TEST(Csv, StandardisesAndOneHotEncodes) {
  const models::CsvText train{"a.csv", "x,w,class\n1,p,a\n3,q,b\n,,b\n"};
  const models::CsvText test{"b.csv", "x,w,class\n5,r,c\n"};
  const models::Dataset data = models::dataset_of({train, test}, "class", 3, 1, 1);
  EXPECT_EQ(data.shape, (spec::SampleShape{1, 1, 4}));
  EXPECT_EQ(data.classes, 3);
  std::set<std::vector<float>> rows;
  for (Eigen::Index i = 0; i < 3; ++i) {
    std::vector<float> row(data.train.features.row(i).begin(), data.train.features.row(i).end());
    row.push_back(static_cast<float>(data.train.labels[static_cast<std::size_t>(i)]));
    rows.insert(row);
  }
  EXPECT_EQ(rows, (std::set<std::vector<float>>{{-1, 1, 0, 0, 0}, {1, 0, 1, 0, 1}, {0, 0, 0, 0, 1}}));
  EXPECT_EQ(data.test.features(0, 0), 3.0F);
  EXPECT_EQ(data.test.features(0, 3), 1.0F);
  EXPECT_EQ(data.test.labels[0], 2);
}

TEST(Csv, HoldsBackRowsDrawnFromTheSeed) {
  std::string content = "x,class\n";
  for (int i = 0; i < 100; ++i) content += std::to_string(i) + (i < 50 ? ",a\n" : ",b\n");
  const TemporaryFolder folder;
  spec::CsvSource source;
  source.file = folder.write("t.csv", content);
  source.target = "class";
  const spec::DataFacts facts = models::inspect_csv(source);
  EXPECT_EQ(facts.train, 80);
  EXPECT_EQ(facts.test, 20);
  source.train = 80;
  source.test = 20;
  const models::Dataset data = models::read_csv(source, 1);
  std::multiset<std::int32_t> classes(data.test.labels.begin(), data.test.labels.end());
  EXPECT_GT(classes.count(0), 3U) << "not the last rows, which are all of one class";
  EXPECT_GT(classes.count(1), 3U);
  // The features of all rows are different: none is on both sides, and none is lost.
  std::set<float> seen;
  for (const models::Matrix* part : {&data.train.features, &data.test.features})
    seen.insert(part->data(), part->data() + part->size());
  EXPECT_EQ(seen.size(), 100U);
  EXPECT_EQ(models::read_csv(source, 1).test.features, data.test.features);
  EXPECT_NE(models::read_csv(source, 2).test.labels, data.test.labels);
}

TEST(Csv, SaysWhereItIsWrong) {
  EXPECT_TRUE(holds(message("x,clas\n1,a\n"), "t.csv:1: no column 'class'; did you mean 'clas'?"));
  EXPECT_TRUE(holds(message("x,x,class\n"), "t.csv:1: two columns 'x'; "));
  EXPECT_TRUE(holds(message("x,,class\n"), "t.csv:1: a column without a name; "));
  EXPECT_TRUE(holds(message("class\na\n"), "t.csv:1: one column alone; "));
  EXPECT_TRUE(holds(message(""), "t.csv: the file is empty; "));
  EXPECT_TRUE(holds(message("x,class\n"), "t.csv: no samples below the line of names; "));
  const std::string fields = message("x,class\n1,a\n1\n1,2,a\n1,?\n2,b\n");
  EXPECT_TRUE(holds(fields, "t.csv:3: 1 fields; 2, ")) << fields;
  EXPECT_TRUE(holds(fields, "t.csv:4: 3 fields; 2, ")) << fields;
  EXPECT_TRUE(holds(fields, "t.csv:5: no value of the target 'class'; ")) << fields;
  EXPECT_TRUE(holds(message("x,class\n\"1,a\n2,b\n"), "t.csv:2: a quote that is not closed; "));
  EXPECT_TRUE(holds(message("x,class\n\"1\" 2,a\n"), "t.csv:2: '2' behind a closing quote; "));
  EXPECT_TRUE(holds(message("x,class\n\"two\nlines\",a\n1\n"), "t.csv:4: 1 fields; ")) << "lines inside quotes count";
  EXPECT_TRUE(holds(message("x,class\n,a\n?,b\n"), "t.csv:1: column 'x' holds nothing; "));
  EXPECT_TRUE(holds(message("x,class\n1,a\n2,a\n"), "t.csv:1: column 'class' takes one value alone; "));
  std::string words = "x,class\n1,a\n";
  for (int i = 0; i < 65; ++i) words += "word" + std::to_string(i) + ",b\n";
  EXPECT_TRUE(holds(message(words), "t.csv:3: column 'x' holds words, and more than 64 different values; "));
  std::string classes = "x,class\n";
  for (int i = 0; i < 1001; ++i) classes += "1," + std::to_string(i) + "\n";
  EXPECT_TRUE(holds(message(classes), "t.csv:1: column 'class' takes more than 1000 values; "));
  EXPECT_TRUE(holds(refused([] {
                      models::inspect_csv({{"a", "x,class\n1,a\n2,b\n"}, {"b", "y,class\n1,a\n"}}, "class");
                    }),
                    "b:1: other columns than the table to train on; "));
}

}  // namespace
}  // namespace dadsim::test
