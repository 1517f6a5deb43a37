#include "models/data/csv.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "models/data/refused.hpp"
#include "support/temporary_folder.hpp"

namespace dadsim::test {
namespace {

std::string message(const std::string& content, const std::string& target = "class") {
  return refused([&] { models::inspect_csv({.train = {{"t.csv", content}}, .test = {}, .target = target}); });
}

spec::SplitSpec as_they_say() {
  spec::SplitSpec split;
  split.kind = spec::SplitSpec::Kind::by_site;
  return split;
}

models::CsvColumns inspected(const std::string& content) {
  return models::inspect_csv({.train = {{"t.csv", content}}, .test = {}, .target = "class"});
}

TEST(Csv, SaysThatATargetOfPricesIsNoTargetOfClasses) {
  EXPECT_TRUE(holds(message("rooms,price\n4,310.5\n3,205.0\n5,398.9\n2,151.2\n", "price"),
                    "t.csv:1: target 'price' has 4 different numbers in 4 rows, but needs classes; use a column of "
                    "classes, e.g. ranges of these numbers (low, middle, high)"));
  std::string many = "x,n\n", few = "x,n\n";
  for (int i = 0; i < 12; ++i) many += "1," + std::to_string(i) + "\n";
  for (int i = 0; i < 24; ++i) few += "1," + std::to_string(i % 12) + ".5\n";
  EXPECT_TRUE(holds(message(many, "n"), "12 different numbers in 12 rows"));
  EXPECT_EQ(message(few, "n"), "") << "as the remedy has it: classes that come again";
  EXPECT_EQ(message("x,class\n1,0\n2,1\n3,2\n"), "") << "codes of classes";
  EXPECT_EQ(message("x,class\n1,low\n2,middle\n3,high\n"), "");
}

TEST(Csv, KnowsNumbersFromWords) {
  const models::CsvColumns table = inspected(
      "\xef\xbb\xbf"
      "age,colour,class,\"a, quoted\"\"name\"\r\n"
      "1,red,yes,0\n?,\"blue\",no,NA\n\n 3.5 ,red,yes,-1e3\n");
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
  EXPECT_EQ(inspected("x,class\n1,10\n1,9\n2,-1\n").classes, (std::vector<std::string>{"-1", "9", "10"}));
}

// The training table has 1, 3 and a missing number, so mean 2 and deviation 1.
TEST(Csv, StandardisesAndOneHotEncodes) {
  const models::CsvText train{"a.csv", "x,w,class\n1,p,a\n3,q,b\n,,b\n"};
  const models::CsvText test{"b.csv", "x,w,class\n5,r,c\n"};
  const models::Dataset data = models::dataset_of({.train = {train}, .test = {test}, .target = "class"}, 3, 1, 1);
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
  // All rows have different features, so no row may be in both parts, and none may be lost.
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
  EXPECT_TRUE(holds(message("class\na\n"), "t.csv:1: only one column; "));
  EXPECT_TRUE(holds(message(""), "t.csv: the file is empty; "));
  EXPECT_TRUE(holds(message("x,class\n"), "t.csv: no samples below the line of names; "));
  const std::string fields = message("x,class\n1,a\n1\n1,2,a\n1,?\n2,b\n");
  EXPECT_TRUE(holds(fields, "t.csv:3: 1 fields; 2, ")) << fields;
  EXPECT_TRUE(holds(fields, "t.csv:4: 3 fields; 2, ")) << fields;
  EXPECT_TRUE(holds(fields, "t.csv:5: no value of the target 'class'; ")) << fields;
  EXPECT_TRUE(holds(message("x,class\n\"1,a\n2,b\n"), "t.csv:2: a quote is not closed; "));
  EXPECT_TRUE(holds(message("x,class\n\"1\" 2,a\n"), "t.csv:2: '2' follows a closing quote; "));
  EXPECT_TRUE(holds(message("x,class\n\"two\nlines\",a\n1\n"), "t.csv:4: 1 fields; ")) << "lines inside quotes count";
  EXPECT_TRUE(holds(message("x,class\n,a\n?,b\n"), "t.csv:1: column 'x' holds nothing; "));
  EXPECT_TRUE(holds(message("x,class\n1,a\n2,a\n"), "t.csv:1: column 'class' has only one value; "));
  std::string words = "x,class\n1,a\n";
  for (int i = 0; i < 65; ++i) words += "word" + std::to_string(i) + ",b\n";
  EXPECT_TRUE(holds(message(words), "t.csv:3: column 'x' has words with more than 64 different values; "));
  std::string classes = "x,class\n";
  for (int i = 0; i < 1001; ++i) classes += "1," + std::to_string(i) + "\n";
  EXPECT_TRUE(holds(message(classes), "t.csv:1: column 'class' has more than 1000 different values; "));
  EXPECT_TRUE(holds(refused([] {
                      models::inspect_csv({.train = {{"a", "x,class\n1,a\n2,b\n"}},
                                           .test = {{"b", "y,class\n1,a\n"}},
                                           .target = "class"});
                    }),
                    "b:1: columns differ from the table to train on; "));
}

// Tables of the UCI archive and of course collections have no header.
TEST(Csv, TablesWithoutALineOfNames) {
  const auto of = [](const std::string& content, const std::string& target) {
    return models::inspect_csv(
        {.train = {{"t.csv", content}}, .test = {}, .target = target, .ignore = {}, .names = false});
  };
  for (const char* content :
       {"5.0,3.4,alba\n6.0,2.7,rubra\n7.0,3.4,rubra\n", "5.0;3,4;alba\r\n6.0;2,7;rubra\r\n7;3,4;rubra\r\n",
        "5.0\t3.4\talba\n6.0\t2.7\trubra\n7.0\t3.4\trubra",
        "  5.0   3.4  alba \n 6.0\t2.7  rubra\n7.0 3.4 \"rubra\"\n\n"}) {
    for (const char* target : {"last", "3"}) {
      const models::CsvColumns table = of(content, target);
      EXPECT_EQ(table.rows, (std::vector<std::int64_t>{3})) << content;
      EXPECT_EQ(table.target, 2U);
      EXPECT_EQ(table.classes, (std::vector<std::string>{"alba", "rubra"}));
      EXPECT_EQ(table.features, 2);
      EXPECT_TRUE(table.columns[1].number);
      EXPECT_EQ(table.columns[0].name, "1");
      EXPECT_TRUE(table.notes.empty());
    }
  }
  // The target may be the first column. Columns to leave out, and the column that names sites, may be given by number.
  // A first row of equal fields is no header.
  const models::CsvColumns wine = models::inspect_csv({.train = {{"t.csv", "1,7,7,a\n2,5,7,b\n1,5,6,b\n"}},
                                                       .test = {{"u.csv", "2,1,1,a\n"}},
                                                       .target = "1",
                                                       .site = "last",
                                                       .ignore = {"2"},
                                                       .names = false});
  EXPECT_EQ(wine.classes, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(wine.sites, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(wine.features, 1);
  EXPECT_EQ(wine.rows, (std::vector<std::int64_t>{3, 1}));
  const models::Dataset data = models::dataset_of(
      {.train = {{"t.csv", "1,a\n3,b\n5,b\n"}}, .test = {{"u.csv", "3,a\n"}}, .target = "last", .names = false}, 3, 1,
      1);
  EXPECT_EQ(data.train.features.rows(), 3);
  EXPECT_NEAR(data.train.features.sum(), 0, 1e-6) << "of all three rows, of which the first is one";
  EXPECT_EQ(data.test.labels[0], 0);
  EXPECT_TRUE(holds(refused([&] { of("1,a\n2,b\n", "species"); }),
                    "t.csv:1: no column 'species'; without column names, use a number from 1 to 2, or last"));
  EXPECT_TRUE(holds(refused([&] { of("1,a\n2,b\n3\n", "last"); }), "t.csv:3: 1 fields; 2, as the first line has"));
}

TEST(Csv, ColumnsByNumberWhereNoneHasThatName) {
  const auto target_of = [](const std::string& content, const std::string& target) {
    const models::CsvColumns table = models::inspect_csv({.train = {{"t.csv", content}}, .test = {}, .target = target});
    return table.columns[table.target].name;
  };
  EXPECT_EQ(target_of("x,y\n1,2\n2,3\n", "last"), "y");
  EXPECT_EQ(target_of("x,y\n1,2\n2,3\n", "1"), "x");
  EXPECT_EQ(target_of("last,2,1\n1,2,3\n2,3,4\n", "last"), "last");
  EXPECT_EQ(target_of("last,2,1\n1,2,3\n2,3,4\n", "1"), "1");
  EXPECT_TRUE(holds(message("x,y\n1,2\n", "3"), "t.csv:1: no column '3'; "));
  EXPECT_TRUE(holds(message("x,y\n1,2\n", "0"), "t.csv:1: no column '0'; "));
}

// A first row that is mistaken for a header would be lost silently.
TEST(Csv, ALineOfNamesThatLooksLikeASampleIsNoted) {
  const std::string note =
      "t.csv:1: the first line is read as column names, but looks like a sample; "
      "set names=\"false\" if the first line is a sample";
  const auto notes = [](const std::string& content, const std::string& target) {
    return models::inspect_csv({.train = {{"t.csv", content}}, .test = {}, .target = target}).notes;
  };
  const std::vector<std::string> noted{note};
  EXPECT_EQ(notes("5.0,3.4,alba\n6.0,2.7,rubra\n7.0,2.6,alba\n", "alba"), noted);
  EXPECT_EQ(notes("5.0,red,1\n6.0,red,1\n7.0,blue,0\n", "1"), noted);
  EXPECT_EQ(notes("5.0,red,alba\n6.0,blue,rubra\n7.0,blue,alba\n", "alba"), std::vector<std::string>{}) << "no red";
  EXPECT_EQ(notes("1990,1991,class\n6.0,2.7,rubra\n7.0,2.6,alba\n", "class"), std::vector<std::string>{});
  EXPECT_TRUE(holds(message("1,1,a\n2,3,b\n", "a"),
                    "two columns '1'; use each name once; set names=\"false\" if the first "
                    "line is a sample"));
  EXPECT_TRUE(holds(message("1,2,a\n2,3,b\n", "species"), "set names=\"false\" if the first line is a sample"));
}

// pandas and R write row numbers first, in a column without a name.
TEST(Csv, AFirstColumnWithoutANameIsThatOfNumbersOfRows) {
  for (const char* content : {",x,class\n0,1,a\n1,2,b\n", "\"\",\"x\",\"class\"\n\"1\",1,\"a\"\n\"2\",2,\"b\"\n"}) {
    const models::CsvColumns table = inspected(content);
    EXPECT_EQ(table.features, 1);
    EXPECT_EQ(table.notes,
              std::vector<std::string>{"t.csv:1: the first column has no name; it is read as row numbers and ignored"});
  }
}

TEST(Csv, WhatStandsForAValueThatNobodyKnows) {
  const models::CsvColumns table =
      inspected("x,class\n1,a\n?,a\nNA,a\n,a\nN/A,a\nn/a,b\nNaN,b\nnan,b\nNULL,b\nnull,b\n#N/A,b\n<NA>,b\n");
  EXPECT_TRUE(table.columns[0].number);
  EXPECT_EQ(table.rows, (std::vector<std::int64_t>{12}));
}

// Spreadsheets use semicolons or tabs in countries with a decimal comma.
TEST(Csv, RecognisesSemicolonsAndTabs) {
  for (const char separator : {',', ';', '\t'}) {
    std::string content = "\"x\"|\"two words\"|class\n 1 |\"a;b,c\td\"|\"yes\"\n\"2\"|e|no\n";
    std::ranges::replace(content, '|', separator);
    const models::CsvColumns table = inspected(content);
    ASSERT_EQ(table.columns.size(), 3U) << separator;
    EXPECT_TRUE(table.columns[0].number);
    EXPECT_EQ(table.columns[1].name, "two words");
    EXPECT_EQ(table.columns[1].words, (std::vector<std::string>{"a;b,c\td", "e"}));
    EXPECT_EQ(table.classes, (std::vector<std::string>{"no", "yes"}));
  }
  // Semicolons in a name do not make the table semicolon-separated.
  EXPECT_EQ(inspected("a;b;c;d,class\n1,x\n2,y\n").columns.size(), 2U);
  EXPECT_TRUE(holds(message("x;clas\n1;a\n"), "t.csv:1: no column 'class'; did you mean 'clas'?"));
  EXPECT_TRUE(holds(message("x;class\n1;a\n1\n2;b\n"), "t.csv:3: 1 fields; 2, "));
  EXPECT_TRUE(holds(message("x;class\n\"1\"2;a\n"), "t.csv:2: '2' follows a closing quote; put a semicolon or "));
}

TEST(Csv, TakesACommaForThePointBetweenSemicolons) {
  const models::CsvTables decimal{
      .train = {{"t.csv", "x;class\n1,5;a\n2,5;b\n-0,5;a\n"}}, .test = {}, .target = "class"};
  const models::CsvTables point{.train = {{"t.csv", "x,class\n1.5,a\n2.5,b\n-0.5,a\n"}}, .test = {}, .target = "class"};
  EXPECT_EQ(models::dataset_of(decimal, 2, 1, 3).train.features, models::dataset_of(point, 2, 1, 3).train.features);
  EXPECT_FALSE(inspected("x;class\n1.234,5;a\n2;b\n").columns[0].number) << "which of the two is the point?";
}

TEST(Csv, LeavesColumnsOut) {
  const models::CsvTables tables{.train = {{"t.csv", "id,x,when,class\np1,1,mon,a\np2,2,tue,b\n"}},
                                 .test = {{"u.csv", "x,class\n3,a\n"}},
                                 .target = "class",
                                 .site = "",
                                 .ignore = {"id", "when"}};
  const models::CsvColumns table = models::inspect_csv(tables);
  ASSERT_EQ(table.columns.size(), 2U);
  EXPECT_EQ(table.columns[0].name, "x");
  EXPECT_EQ(table.features, 1);
  EXPECT_EQ(models::dataset_of(tables, 2, 1, 1).test.features(0, 0), 3.0F);
  models::CsvTables misspelt = tables;
  misspelt.ignore = {"id", "wen"};
  EXPECT_TRUE(holds(refused([&] { models::inspect_csv(misspelt); }), "t.csv:1: no column 'wen'; did you mean 'when'?"));
  misspelt.ignore = {"id", "when", "x"};
  EXPECT_TRUE(holds(refused([&] { models::inspect_csv(misspelt); }),
                    "t.csv:1: only one column is neither ignored nor a site; "));
}

TEST(Csv, KnowsTheSitesOfItsRows) {
  // Numbers of site 1 are below those of site 2, and these below those of site 10.
  std::string content = "where,x,class\n";
  for (int i = 0; i < 60; ++i) {
    const int site = i % 3 == 0 ? 10 : i % 3;
    content += std::to_string(site) + "," + std::to_string(1000 * site + i) + (i % 2 == 0 ? ",a\n" : ",b\n");
  }
  const models::CsvTables tables{.train = {{"t.csv", content}}, .test = {}, .target = "class", .site = "where"};
  EXPECT_EQ(models::inspect_csv(tables).sites, (std::vector<std::string>{"1", "2", "10"})) << "numbers by value";
  EXPECT_EQ(models::inspect_csv(tables).features, 1) << "nothing is learned from the site";
  const models::Dataset data = models::dataset_of(tables, 48, 12, 5);
  const models::Partition partition = split_over_sites(as_they_say(), data.train, data.classes, 3, 5);
  for (std::size_t site = 0; site < 3; ++site) EXPECT_GE(partition[site].size(), 8U);
  for (std::size_t site = 1; site < 3; ++site) {
    for (const std::int32_t a : partition[site - 1]) {
      for (const std::int32_t b : partition[site]) EXPECT_LT(data.train.features(a, 0), data.train.features(b, 0));
    }
  }
  EXPECT_TRUE(holds(refused([&] { split_over_sites(as_they_say(), data.train, data.classes, 4, 5); }),
                    "the split by site leaves site 4 without a training sample"));
  EXPECT_TRUE(holds(
      refused([] {
        models::inspect_csv(
            {.train = {{"t.csv", "where,x,class\nn,1,a\n,2,b\n"}}, .test = {}, .target = "class", .site = "where"});
      }),
      "t.csv:3: no value in the site column 'where'; give a site for every sample"));
}

TEST(Csv, TakesATableForEachSite) {
  const TemporaryFolder folder;
  spec::CsvSource source;
  source.site_files = {folder.write("north.csv", "x,class\n1,a\n2,b\n3,a\n"),
                       folder.write("south.csv", "x;class\n4;b\n5;a\n6;b\n7;a\n8;b\n")};
  source.target = "class";
  source.test_file = folder.write("test.csv", "x\tclass\n9\ta\n");
  const spec::DataFacts facts = models::inspect_csv(source);
  EXPECT_EQ(facts.sites, (std::vector<std::string>{"north.csv", "south.csv"}));
  EXPECT_EQ(facts.train, 8);
  EXPECT_EQ(facts.test, 1);
  source.train = 8;
  source.test = 1;
  const models::Dataset data = models::read_csv(source, 3);
  const models::Partition partition = split_over_sites(as_they_say(), data.train, data.classes, 2, 3);
  EXPECT_EQ(partition[0].size(), 3U);
  EXPECT_EQ(partition[1].size(), 5U);
  for (const std::int32_t a : partition[0]) {
    for (const std::int32_t b : partition[1]) EXPECT_LT(data.train.features(a, 0), data.train.features(b, 0));
  }
  source.test_file.clear();
  EXPECT_EQ(models::inspect_csv(source).test, 2) << "a fifth of all rows";
  source.site_files[1] = folder.write("other.csv", "y,class\n4,b\n");
  EXPECT_TRUE(holds(refused([&] { models::inspect_csv(source); }), "other.csv:1: columns differ from "));
}

TEST(Csv, SaysWhichClassesNobodyCanLearn) {
  const models::CsvTables tables{.train = {{"a.csv", "x,class\n1,a\n2,b\n"}},
                                 .test = {{"b.csv", "x,class\n1,a\n2,c\n3,c\n4,d\n"}},
                                 .target = "class"};
  EXPECT_EQ(models::inspect_csv(tables).notes,
            (std::vector<std::string>{"b.csv:3: class 'c' is in no training row; 2 of the 4 test rows have this class, "
                                      "so no network can have learned it",
                                      "b.csv:5: class 'd' is in no training row; 1 of the 4 test rows has this class, "
                                      "so no network can have learned it"}));
  EXPECT_TRUE(inspected("x,class\n1,a\n2,b\n").notes.empty());
}

}  // namespace
}  // namespace dadsim::test
