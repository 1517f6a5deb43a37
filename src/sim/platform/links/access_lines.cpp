#include "sim/platform/links/efficiency.hpp"
#include "sim/platform/links/families.hpp"

namespace dadsim::sim::links {

std::vector<spec::LinkSpec> access_lines() {
  const auto line = [](const char* name, double megabits, double latency, double share, const char* source) {
    spec::LinkSpec one;
    one.name = name;
    one.bandwidth = megabits * 1e6 / 8;
    one.latency = latency;
    one.transport = spec::Transport::tcp;
    one.efficiency = share;
    one.source = source;
    return one;
  };
  // One way, half of the median round trip to the nearest server: 10 ms fixed, 28 ms mobile (Ookla, November 2022).
  constexpr double kFixed = 5e-3;
  constexpr double kMobile = 14e-3;
  const char* five_g =
      "Speedtest by Ookla, global median of 5G, third quarter of 2021: 166.13 Mbit/s down, 21.08 up, as payload; "
      "latency: half of the median round trip of mobile lines, 28 ms, Speedtest Global Index, November 2022; "
      "queue is an assumption";
  const char* four_g =
      "a 4G line of 40 Mbit/s down, 10 up, unverified; latency: half of the median round trip of mobile lines, "
      "28 ms, Speedtest Global Index, November 2022; queue is an assumption";
  const char* cable =
      "a cable line of 200 Mbit/s down, 20 up, unverified; latency: half of the median round trip of fixed "
      "lines, 10 ms, Speedtest Global Index, November 2022; queue is an assumption";
  const char* dsl =
      "a VDSL2 line of 50 Mbit/s down, 10 up, unverified; latency: half of the median round trip of fixed lines, "
      "10 ms, Speedtest Global Index, November 2022; queue is an assumption";
  const char* fibre =
      "a symmetric line of that rate, an assumption; latency: half of the median round trip of fixed lines, "
      "10 ms, Speedtest Global Index, November 2022; queue is an assumption";
  return {
      line("5g-up", 21.08, kMobile, efficiency::kMeasured, five_g),
      line("5g-down", 166.13, kMobile, efficiency::kMeasured, five_g),
      line("4g-up", 10, kMobile, efficiency::kTcp, four_g),
      line("4g-down", 40, kMobile, efficiency::kTcp, four_g),
      line("cable-up", 20, kFixed, efficiency::kTcp, cable),
      line("cable-down", 200, kFixed, efficiency::kTcp, cable),
      line("dsl-up", 10, kFixed, efficiency::kTcp, dsl),
      line("dsl-down", 50, kFixed, efficiency::kTcp, dsl),
      line("fibre-100m", 100, kFixed, efficiency::kTcp, fibre),
      line("fibre-1g", 1000, kFixed, efficiency::kTcp, fibre),
      line("fibre-10g", 10000, kFixed, efficiency::kTcp, fibre),
  };
}

}  // namespace dadsim::sim::links
