// Tests the sentences of statements that estimates, simulations and plans create without text.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "report/words/statement.hpp"

namespace dadsim::report {
namespace {

Statement published(double samples, std::vector<double> batches, std::vector<double> results) {
  return Statement{"published-steps", {"MLPerf Training v1.0", "MLPerf Training v2.1"}}
      .with("samples", samples)
      .with("batches", std::move(batches))
      .with("results", std::move(results));
}

TEST(Sentences, OfWhereStepsAreFrom) {
  EXPECT_EQ(
      in_words(published(45 * 1281167.0, {13'056}, {2}).with("samples_per_epoch", 1281167.0)),
      "45 epochs of 1281167 samples, mean of 2 results at this batch: MLPerf Training v1.0, MLPerf Training v2.1");
  EXPECT_EQ(in_words(published(2'850'816, {2048, 4096}, {1, 3})),
            "2850816 samples, between 1 result at a batch of 2048 and 3 results at 4096: MLPerf Training v1.0, MLPerf "
            "Training v2.1");
  EXPECT_EQ(in_words(Statement{"steps-as-said"}.with("epochs", 1.5).with("samples_per_epoch", 50000.0)),
            "1.5 epochs of 50000 samples from the scenario");
  EXPECT_EQ(in_words(Statement{"steps-as-said"}.with("steps", 1000.0)), "1000 steps from the scenario");
}

TEST(Sentences, OfWhatIsNotKnown) {
  EXPECT_EQ(in_words(Statement{"no-published-steps", {"vgg-16"}}), "no published results for vgg-16 are known here");
  EXPECT_EQ(in_words(Statement{"batch-beyond-published", {"resnet-50"}}
                         .with("least_batch", 408.0)
                         .with("most_batch", 67'456.0)
                         .with("batch", 400.0)),
            "published results for resnet-50 go from a global batch of 408 to 67456, and do not show what "
            "a batch of 400 needs");
  const auto missed = [](bool of_gradient_sharing, double missing, double seeds) {
    return Statement{"target-not-reached"}
        .with("of_gradient_sharing", of_gradient_sharing)
        .with("seeds_missed", missing)
        .with("seeds", seeds);
  };
  EXPECT_EQ(in_words(missed(false, 1, 1)), "it did not reach the target");
  EXPECT_EQ(in_words(missed(false, 1, 2)), "it did not reach the target with 1 of 2 seeds");
  EXPECT_EQ(in_words(missed(true, 2, 2)), "gradient sharing did not reach the target with 2 of 2 seeds");
  EXPECT_EQ(in_words(missed(false, 1, 1).with("best_accuracy", 0.858)), "it did not reach the target: best 85.8 %");
}

TEST(Sentences, OfHowASimulationWasChosen) {
  EXPECT_EQ(in_words(Statement{"flow-by-effort"}.with("messages", 1000.0).with("seconds", 7.0)),
            "by flow: 1e+03 messages would take about 7 s to simulate one by one");
  EXPECT_EQ(in_words(Statement{"quicker-in-library", {"tree"}}
                         .with("protocol", std::string("LL"))
                         .with("seconds", 12.5e-6)
                         .with("saving", 0.25)
                         .with("setting", std::string("NCCL_ALGO=Tree NCCL_PROTO=LL"))),
            "tree LL takes 12.5 µs, 25 % less than the library's own choice; set NCCL_ALGO=Tree "
            "NCCL_PROTO=LL");
  EXPECT_EQ(in_words(Statement{"compared-by-flow", {"ring", "tree"}}
                         .with("seconds", std::vector<double>{0.01, 0.002})
                         .with("slower", 2.0)
                         .with("too_large", std::vector<std::string>{"direct"})),
            "by flow ring 0.01 s, tree 0.002 s; 2 more are slower by closed form; too many messages to compare: "
            "direct");
}

TEST(Sentences, HoldThoseOfTheirParts) {
  const auto change = Statement{"faster-device", {"xeon"}}.with("factor", 2.0).with("aggregator", true);
  EXPECT_EQ(in_words(change), "an aggregator twice as fast as xeon");
  EXPECT_EQ(in_words(Statement{"others-as-tight"}.with("of_its_kind", true).with("saving", 0.236).with(change)),
            "others of its kind are as busy, and become the limit: an aggregator twice as fast as xeon saves 23.6 %");
  EXPECT_EQ(in_words(Statement{"untried-change"}.with("fault", std::string("no such batch")).with(change)),
            "Not tried: an aggregator twice as fast as xeon (no such batch).");
  EXPECT_THROW(in_words(Statement{"untried-change"}.with("fault", std::string("no such batch"))), std::logic_error);
}

TEST(Sentences, OfAPlansMargins) {
  const auto margin = [](const char* kind, const char* limit) {
    return Statement{kind}.with("limit", std::string(limit)).with("currency", std::string("EUR"));
  };
  EXPECT_EQ(in_words(margin("limit-missed", "seconds").with("by", 720.0)), "misses by 12 min 0 s");
  EXPECT_EQ(in_words(margin("limit-kept", "money").with("by", 3.0)), "stays 3.00 EUR below");
  EXPECT_EQ(in_words(margin("limit-unknown", "joules")), "cannot be said: its energy is not known");
}

TEST(TextOfAStatement, ComesBackAsItWas) {
  const auto change = Statement{"faster-device", {"xeon \"A\""}}.with("factor", 2.0).with("aggregator", true);
  const auto note = Statement{"untried-change"}.with("fault", std::string("ü; \n")).with(change);
  EXPECT_EQ(statement_of(to_text(note)), note);
  const auto lists = published(1.0 / 3, {1, 2}, {1, 2}).with("more", std::vector<std::string>{"a", "b"});
  EXPECT_EQ(statement_of(to_text(lists)), lists);
  const auto unknown =
      Statement{"jitter"}.with("spatial", 0.1).with("temporal", std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(statement_of(to_text(unknown)).number("temporal")));
  for (const char* wrong : {"", "{", "{}", R"({"kind": "of a later dadsim", "subjects": [], "values": {}})",
                            R"({"kind": "jitter", "subjects": [], "values": {}})"}) {
    EXPECT_THROW(statement_of(wrong), std::runtime_error) << wrong;
  }
}

}  // namespace
}  // namespace dadsim::report
