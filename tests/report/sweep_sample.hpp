#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "report/sweep/sweep_report.hpp"

namespace dadsim::report {

/// Builds sweeps by hand, with three runs whose times cross and one run that shares nothing.
class SampleSweep {
 public:
  explicit SampleSweep(std::int64_t seeds = 1) {
    report_.version = "0.1.0";
    report_.scenario_name = "three axes";
    report_.scenario_file = "three.xml";
    report_.hash = 0xABCU;
    report_.target_accuracy = 0.95;
    report_.seeds = seeds;
    report_.runs = {
        {"small", "power-sgd", true}, {"fast", "dad", true}, {"slow", "gradient-sharing", true}, {"alone", "", false}};
  }

  SampleSweep& axis(SweepReport::Axis axis) {
    report_.axes.push_back(std::move(axis));
    return *this;
  }
  /// Adds an axis of rates in bit/s, each a power of ten from 1 Mbit/s.
  SampleSweep& rates(std::size_t count) {
    SweepReport::Axis rates{"sites.up", "platform.sites.up", {"platform.sites.down"}, "bit/s", {}};
    for (std::size_t i = 0; i < count; ++i) {
      const double rate = 1e6 * std::pow(10.0, static_cast<double>(i));
      rates.values.push_back({fmt::format("{}Mbps", rate / 1e6), rate});
    }
    return axis(std::move(rates));
  }
  SampleSweep& numbers(const std::string& name, std::size_t count) {
    SweepReport::Axis numbers{name, name, {}, "", {}};
    for (std::size_t i = 1; i <= count; ++i) numbers.values.push_back({std::to_string(i), static_cast<double>(i)});
    return axis(std::move(numbers));
  }
  SampleSweep& texts(const std::string& name, const std::vector<std::string>& texts) {
    SweepReport::Axis axis_of_texts{name, name, {}, "", {}};
    for (const std::string& text : texts) axis_of_texts.values.push_back({text, {}});
    return axis(std::move(axis_of_texts));
  }

  /// Adds all points of the grid, with the last axis varying fastest.
  SampleSweep& grid() {
    std::vector<std::size_t> at(report_.axes.size(), 0);
    for (;;) {
      point(at);
      std::size_t axis = at.size();
      while (axis > 0 && ++at[axis - 1] == report_.axes[axis - 1].values.size()) at[--axis] = 0;
      if (axis == 0) break;
    }
    report_.points_of_sweep = static_cast<std::int64_t>(report_.points.size());
    return *this;
  }
  /// Adds points outside any grid, each with a new value on every axis.
  SampleSweep& drawn(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::vector<std::size_t> at;
      for (std::size_t axis = 0; axis < report_.axes.size(); ++axis) at.push_back((i * (axis * 6 + 1)) % count);
      point(at);
    }
    report_.points_of_sweep = static_cast<std::int64_t>(count);
    return *this;
  }

  SampleSweep& fail(std::size_t index, const std::string& words) {
    SweepReport::Point& point = report_.points.at(index);
    point.ranked.clear();
    report_.failures.push_back({point.id, 0, words});
    std::erase_if(report_.rows, [&](const SweepReport::Row& one) { return one.point == index; });
    return *this;
  }
  SampleSweep& nobody(std::size_t index) {
    for (SweepReport::Time& time : report_.points.at(index).ranked) time.seconds.reset();
    for (SweepReport::Row& one : report_.rows) {
      if (one.point == index) set(one, "target_seconds", kNone), set(one, "target_step", kNone);
    }
    return *this;
  }
  /// Makes the second run at a point undecided against the first.
  SampleSweep& open(std::size_t index) {
    SweepReport::Time& second = report_.points.at(index).ranked.at(1);
    second.verdict = {{1.02, 0.97, 1.08}, estimate::Standing::undecided, estimate::WouldTell::seeds};
    return *this;
  }
  SampleSweep& costs(const std::string& currency) {
    report_.currency = currency;
    for (SweepReport::Row& one : report_.rows) {
      set(one, "money_to_target", one["target_seconds"] * static_cast<double>(one.run + 1) * 0.01);
      set(one, "joules_to_target", one["target_seconds"] * 700);
    }
    return *this;
  }

  static void set(SweepReport::Row& row, const char* figure, double value) { row.values[page_figure(figure)] = value; }
  SweepReport report() const { return report_; }
  SweepReport& change() { return report_; }

 private:
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

  /// Returns the seconds to the target: transfer time plus computing, which grows along the last axis.
  double seconds(const std::vector<std::size_t>& at, std::size_t run) const {
    const double rate = report_.axes[0].values[at[0]].number.value_or(1e8);
    const double step = static_cast<double>(at.back() + 1) / static_cast<double>(report_.axes.back().values.size());
    constexpr double kBits[] = {1e7, 4e8, 1e9, 0};
    const double computing[] = {1 + 6 * step, 1, 1.5, 100};
    return kBits[run] / rate + computing[run];
  }

  void point(const std::vector<std::size_t>& at) {
    SweepReport::Point point{static_cast<std::int64_t>(report_.points.size()) + 1, at, {}};
    const std::size_t index = report_.points.size();
    for (std::size_t run = 0; run < report_.runs.size(); ++run) {
      const double mean = seconds(at, run);
      const double half = static_cast<double>(report_.seeds - 1) / 2;
      std::vector<double> times;
      for (std::int64_t seed = 0; seed < report_.seeds; ++seed) {
        SweepReport::Row row{.point = index, .seed = seed, .run = run};
        row.values.assign(page_figures().size(), kNone);
        // Spreads the seeds' values evenly around the mean.
        const double share = 1 + 0.05 * (static_cast<double>(seed) - half);
        set(row, "target_seconds", times.emplace_back(mean * share));
        set(row, "target_step", 100 * share);
        set(row, "final_accuracy", 0.95 + 0.01 * static_cast<double>(run));
        set(row, "step_seconds", mean / 100);
        set(row, "total_bytes", 1e9 / static_cast<double>(run + 1));
        report_.rows.push_back(std::move(row));
      }
      if (report_.runs[run].communicates)
        point.ranked.push_back({run, times.size() > 1 ? estimate::ratio_of_means(times, std::vector(times.size(), 1.0))
                                                      : estimate::Estimate{mean, {}, {}}});
    }
    std::ranges::sort(point.ranked, {}, [](const SweepReport::Time& time) { return time.seconds->value; });
    for (SweepReport::Time& time : point.ranked) {
      if (&time == point.ranked.data()) continue;
      time.verdict = {{time.seconds->value / point.ranked.front().seconds->value, {}, {}},
                      estimate::Standing::behind,
                      estimate::WouldTell::nothing};
    }
    report_.points.push_back(std::move(point));
  }

  SweepReport report_;
};

}  // namespace dadsim::report
