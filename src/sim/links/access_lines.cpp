#include "sim/links/efficiency.hpp"
#include "sim/links/families.hpp"

namespace dadsim::links {

std::vector<LinkSpec> access_lines() {
  const auto line = [](const char* name, double megabits, double latency, double share, const char* source) {
    LinkSpec one;
    one.name = name;
    one.bandwidth = megabits * 1e6 / 8;
    one.latency = latency;
    one.transport = Transport::tcp;
    one.efficiency = share;
    one.source = source;
    return one;
  };
  // One way, half of the median round trip to the nearest server: 10 ms fixed, 28 ms mobile (Ookla, November 2022).
  constexpr double fixed = 5e-3;
  constexpr double mobile = 14e-3;
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
      line("5g-up", 21.08, mobile, efficiency::measured, five_g),
      line("5g-down", 166.13, mobile, efficiency::measured, five_g),
      line("4g-up", 10, mobile, efficiency::tcp, four_g),
      line("4g-down", 40, mobile, efficiency::tcp, four_g),
      line("cable-up", 20, fixed, efficiency::tcp, cable),
      line("cable-down", 200, fixed, efficiency::tcp, cable),
      line("dsl-up", 10, fixed, efficiency::tcp, dsl),
      line("dsl-down", 50, fixed, efficiency::tcp, dsl),
      line("fibre-100m", 100, fixed, efficiency::tcp, fibre),
      line("fibre-1g", 1000, fixed, efficiency::tcp, fibre),
      line("fibre-10g", 10000, fixed, efficiency::tcp, fibre),
  };
}

}  // namespace dadsim::links
