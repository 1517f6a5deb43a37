#include "formats/federation_log.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace dadsim::formats {
namespace {

TEST(FederationLog, ReadsClientsOfNvflareOldAndNew) {
  // One round each in the formats of NVFlare 2.4 and 2.7. The second client trained for 92.4 s.
  const auto log = read_client_log(
      "2024-05-23 09:47:30,727 - Communicator - INFO - Received from example_project server. getTask: train size: "
      "408.5KB (408512 Bytes) time: 0.100075 seconds\n"
      "2024-05-23 09:47:30,728 - ClientRunner - INFO - [identity=site-1, run=c8973f05, peer=example_project]: got "
      "task\n"
      "2024-05-23 09:48:40,977 - Communicator - INFO - SubmitUpdate to: server. size: 408.6KB (408600 Bytes). time: "
      "0.25 seconds\n"
      "2024-05-23 09:48:41,000 - Communicator - INFO - Received from server. getTask: train size: 408.5KB (408512 "
      "Bytes) time: 0.2 seconds\n");
  ASSERT_TRUE(log);
  EXPECT_EQ(log->name, "site-1");
  ASSERT_EQ(log->down.size(), 2U);
  EXPECT_DOUBLE_EQ(log->down[0].bytes, 408512);
  EXPECT_DOUBLE_EQ(log->down[0].seconds, 0.100075);
  ASSERT_EQ(log->up.size(), 1U);
  EXPECT_DOUBLE_EQ(log->up[0].bytes, 408600);
  ASSERT_EQ(log->training.size(), 1U);
  EXPECT_NEAR(log->training[0], 70.0, 1e-6);

  const auto old = read_client_log(
      "2023-08-24 23:59:59,500 - Communicator - INFO - getTask: train size: 645 Bytes time: 1 seconds\n"
      "2023-08-25 00:00:02,000 - Communicator - INFO -  SubmitUpdate size: 645 Bytes. time: 0.5 seconds\n");
  ASSERT_TRUE(old);
  EXPECT_DOUBLE_EQ(old->up.at(0).bytes, 645);
  EXPECT_NEAR(old->training.at(0), 2.0, 1e-6);
  EXPECT_FALSE(read_client_log("nothing of the kind\n"));
  EXPECT_THROW(read_client_log("[identity=site-1, run=1]\n[identity=site-2, run=1]\n"
                               "getTask: train size: 1KB (1000 Bytes) time: 1 seconds\n"),
               std::runtime_error);
}

TEST(FederationLog, ReadsServersOfFlowerOldAndNew) {
  const auto dated = read_server_log(
      "DEBUG flower 2022-09-22 08:33:54,500 | server.py:215 | fit_round 1: strategy sampled 2 clients (out of 5)\n"
      "DEBUG flower 2022-09-22 08:34:18,146 | server.py:229 | fit_round 1 received 2 results and 0 failures\n"
      "DEBUG flower 2022-09-22 08:34:18,179 | server.py:165 | evaluate_round 1: strategy sampled 2 clients (out of 5)\n"
      "DEBUG flower 2022-09-22 08:34:23,884 | server.py:179 | evaluate_round 1 received 2 results and 0 failures\n"
      "DEBUG flower 2022-09-22 08:34:24,000 | server.py:215 | fit_round 2: strategy sampled 2 clients (out of 5)\n"
      "INFO flower 2022-09-22 08:35:00,000 | server.py:144 | FL finished in 66.5\n");
  ASSERT_TRUE(dated);
  ASSERT_EQ(dated->rounds.size(), 1U);  // the second round has no results
  EXPECT_EQ(dated->rounds[0].sampled, 2);
  EXPECT_EQ(dated->rounds[0].known, 5);
  EXPECT_NEAR(dated->rounds[0].seconds.value(), 23.646, 1e-6);
  EXPECT_FALSE(dated->model_bytes);
  EXPECT_DOUBLE_EQ(dated->total_seconds.value(), 66.5);

  const auto later = read_server_log(
      "INFO :          ├── ArrayRecord (0.24 MB)\n"
      "INFO :      [ROUND 1/2]\n"
      "INFO :      configure_train: Sampled 5 nodes (out of 10)\n"
      "INFO :      aggregate_train: Received 5 results and 0 failures\n"
      "INFO :      configure_evaluate: Sampled 10 nodes (out of 10)\n"
      "INFO :      aggregate_evaluate: Received 10 results and 0 failures\n"
      "INFO :      configure_train: Sampled 5 nodes (out of 10)\n"
      "INFO :      aggregate_train: Received 4 results and 1 failures\n"
      "INFO :      Strategy execution finished in 24.50s\n");
  ASSERT_TRUE(later);
  ASSERT_EQ(later->rounds.size(), 2U);
  EXPECT_EQ(later->rounds[1].received, 4);
  EXPECT_FALSE(later->rounds[1].seconds);
  EXPECT_DOUBLE_EQ(later->model_bytes.value(), 0.24 * 1024 * 1024);
  EXPECT_DOUBLE_EQ(later->total_seconds.value(), 24.5);
  EXPECT_FALSE(read_server_log("configure_evaluate: strategy sampled 2 clients (out of 2)\n"));
}

}  // namespace
}  // namespace dadsim::formats
