#pragma once

#include <string>

namespace dadsim::test {

// Scenario of one site with a line to the hub, where summing takes no time, so that all times have a closed form.
namespace one_line {

constexpr double bytes = 4 * 7850;   // gradient bytes of a 784-10 network
constexpr double up = 10e6 / 8;      // byte/s
constexpr double down = 1e9 / 8;     // byte/s
constexpr double latency = 5e-3;     // seconds in each direction
constexpr double computing = 10e-3;  // seconds of computing per step, set in the device
constexpr double kHourPrice = 36;    // price of a worker per hour, which is 0.01 per second

/// `more`: further XML elements of the scenario.
inline std::string scenario(const std::string& more = "") {
  return R"(<scenario name="one line" seed="1">
  <platform>
    <federation><sites name="site" count="1" up="10Mbps" down="1Gbps" latency="5ms" transport="plain"/></federation>
  </platform>
  <device name="worker" peak-flops="1TF" memory-bandwidth="100GBps" matrix-efficiency="1" memory-efficiency="1"
          launch-overhead="0s" step-time="10ms" watts="200"/>
  <device name="adder" peak-flops="1e9TF" memory-bandwidth="1e12GBps" matrix-efficiency="1" memory-efficiency="1"
          launch-overhead="0s"/>
  <workers><worker hosts="site-1" device="worker"/><aggregator host="hub" device="adder"/></workers>
  <data><digits train="400" test="200"/></data>
  <model><dense units="10"/></model>
  <training batch="20" epochs="4" target-accuracy="0.5" evaluate-every="1"><adam learning-rate="0.01"/></training>
  <run algorithm="gradient-sharing" exchange="aggregator"/>
)" + more +
         "</scenario>";
}

}  // namespace one_line
}  // namespace dadsim::test
