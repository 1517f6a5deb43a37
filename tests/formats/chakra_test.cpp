#include "formats/chakra.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace dadsim::formats {
namespace {

using namespace std::string_literals;

std::string with_length(const std::string& message) {
  return std::string(1, static_cast<char>(message.size())) + message;
}
std::string field(char key, const std::string& text) { return std::string(1, key) + with_length(text); }

// Messages in the wire format of protobuf, written by hand: field << 3 | type, then a varint or a length.
const std::string kMetadata = with_length(
    "\x0a\x05"
    "0.0.4"s);
std::string attribute(const std::string& name, const std::string& value) {
  return field('\x52', field('\x0a', name) + value);  // field 10
}
const std::string kFalse = "\xd8\x01\x00"s;  // bool_val, field 27
const std::string kTrue = "\xd8\x01\x01"s;

TEST(Chakra, ReadsWhatComputesAndWhatSends) {
  const std::string compute = "\x08\x07"s + field('\x12', "gemm") + "\x18\x04"s + "\x38\xe8\x07"s /* 1000 µs */ +
                              attribute("is_cpu_op", kFalse);
  // Dependencies are given in both forms, packed and one by one.
  const std::string sum = "\x08\x08\x18\x07"s + field('\x2a', "\x07\x03"s) + "\x28\x05"s +
                          attribute("comm_type", "\x48\x07"s) + attribute("comm_size", "\x68\x80\x20"s) +
                          field('\x52', field('\x0a', "pg_name") + "\xea\x01\x01"s + "2");
  const std::string host = "\x08\x09\x18\x04\x38\x05"s + attribute("is_cpu_op", kTrue);
  const ChakraTrace trace = read_chakra(kMetadata + with_length(compute) + with_length(sum) + with_length(host));
  ASSERT_EQ(trace.nodes.size(), 3U);
  EXPECT_EQ(trace.nodes[0].name, "gemm");
  EXPECT_DOUBLE_EQ(trace.nodes[0].seconds, 1e-3);
  EXPECT_FALSE(trace.nodes[0].on_host);
  EXPECT_EQ(trace.nodes[1].type, ChakraNode::NodeType::collective);
  EXPECT_EQ(trace.nodes[1].collective, ChakraNode::Collective::reduce_scatter);
  EXPECT_EQ(trace.nodes[1].after, (std::vector<std::uint64_t>{7, 3, 5}));
  EXPECT_DOUBLE_EQ(trace.nodes[1].bytes, 4096);
  EXPECT_EQ(trace.nodes[1].group, "2");
  EXPECT_TRUE(trace.nodes[2].on_host);
}

TEST(Chakra, ReadsTheGroupsOfPyTorchsMetadata) {
  const std::string list = R"(['[{"pg_name": "0", "ranks": []}, {"pg_name": "1", "ranks": [0, 2]}]'])";
  const std::string metadata = "\x08\x01\x18\x01"s + field('\x42', field('\x0a', list));
  const std::string compute = "\x08\x02\x18\x04\x38\x01"s;
  const ChakraTrace trace = read_chakra(kMetadata + with_length(metadata) + with_length(compute));
  EXPECT_EQ(trace.groups.at("1"), (std::vector<std::int64_t>{0, 2}));
  EXPECT_TRUE(trace.groups.at("0").empty());
  EXPECT_EQ(read_groups(R"({"1": [0, 1], "2": [2, 3]})").at("2"), (std::vector<std::int64_t>{2, 3}));
}

TEST(Chakra, SaysWhatIsWrong) {
  EXPECT_THROW(read_chakra(""), std::runtime_error);
  EXPECT_THROW(read_chakra("\x05"
                           "0.0"s),
               std::runtime_error);
  EXPECT_THROW(read_chakra(kMetadata), std::runtime_error);
  EXPECT_THROW(read_chakra(kMetadata + with_length("\x08\x01\x18\x07"s + attribute("comm_type", "\x48\x0b"s))),
               std::runtime_error);
  EXPECT_THROW(read_chakra(kMetadata + with_length("\x0b"s)), std::runtime_error);
  EXPECT_THROW(read_chakra(kMetadata + std::string(11, '\xff')), std::runtime_error);
  EXPECT_THROW(read_groups("[1]"), std::runtime_error);
  EXPECT_THROW(read_groups(R"({"1": ["a"]})"), std::runtime_error);
}

}  // namespace
}  // namespace dadsim::formats
