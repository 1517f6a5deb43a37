#include "study/results/costs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "estimate/interruptions.hpp"
#include "estimate/prices.hpp"
#include "sim/platform.hpp"
#include "study/setting/device_lookup.hpp"
#include "support/pattern.hpp"

namespace dadsim::study {
namespace {

constexpr double kSecondsPerHour = 3600;
constexpr double kJoulesPerKwh = 3.6e6;
constexpr double kBytesPerGigabyte = 1e9;

/// What a device costs while it is there.
struct Terms {
  std::optional<double> per_second;
  std::optional<double> busy_watts, idle_watts;
};

const spec::CostSpec::Price* own_price(const spec::CostSpec& costs, const std::string& device) {
  const auto found = std::ranges::find(costs.prices, device, &spec::CostSpec::Price::device);
  return found == costs.prices.end() ? nullptr : &*found;
}

class Bill {
 public:
  explicit Bill(const scenario::Scenario& scenario) : costs_(*scenario.costs) {
    for (const spec::Placement& worker : scenario.all_devices()) nodes_.push_back(terms_of(scenario, worker.device));
    if (scenario.aggregator) nodes_.push_back(terms_of(scenario, scenario.aggregator->device));
    workers_ = scenario.all_devices().size();
    if (!costs_.lines.empty()) rent_lines(sim::platform_links(scenario.platform));
  }

  /// Of a month; none where no line has a price.
  std::optional<double> lines_per_month() const {
    return costs_.lines.empty() ? std::nullopt : std::optional(lines_per_second_ * spec::kMonth);
  }

  /// The costs of `steps` steps that take `seconds` in all and send `bytes`; of devices at a share of their price.
  report::Costs of(const report::RunResult& run, double steps, double seconds, double bytes, double paid_bytes,
                   double share_of_price = 1) const {
    report::Costs costs;
    double money = paid_bytes / kBytesPerGigabyte * costs_.egress_per_gb + seconds * costs_.rent / spec::kMonth;
    if (run.spec.communicates) money += seconds * lines_per_second_;  // who shares nothing needs none
    double joules = bytes / kBytesPerGigabyte * costs_.network_energy * kJoulesPerKwh;
    bool priced = true;
    bool powered = true;
    for (std::size_t node = 0; node < run.busy_seconds.size(); ++node) {
      // A run of fewer workers uses the first; the aggregator comes after those it uses.
      const Terms& terms = nodes_[node < run.workers ? node : workers_];
      priced = priced && terms.per_second;
      powered = powered && terms.busy_watts;
      if (terms.per_second) money += seconds * *terms.per_second * share_of_price;
      if (!terms.busy_watts) continue;
      const double busy = std::min(steps * run.busy_seconds[node], seconds);
      joules += costs_.overhead * (busy * *terms.busy_watts + (seconds - busy) * *terms.idle_watts);
    }
    if (powered) costs.joules = joules;
    if (powered && costs_.carbon > 0) costs.carbon = joules / kJoulesPerKwh * costs_.carbon;
    const bool pays_energy = costs_.electricity > 0;
    if (priced && (powered || !pays_energy))
      costs.money = money + (pays_energy ? joules / kJoulesPerKwh * costs_.electricity : 0);
    return costs;
  }

  /// What was taken for granted.
  std::vector<report::Statement> terms() const {
    std::vector<report::Statement> statements;
    for (const auto& [device, statement] : device_terms_) statements.push_back(statement);
    report::Statement shared{"cost-terms"};
    shared.with("currency", costs_.currency);
    if (costs_.egress_per_gb > 0) shared.with("egress_per_gb", costs_.egress_per_gb);
    if (!costs_.egress_links.empty()) shared.with("egress_links", costs_.egress_links);
    if (!costs_.lines.empty()) {
      shared.with("lines_per_month", *lines_per_month()).with("line_links", line_links_);
      shared.with("line_count", line_count_).with("line_mbps", line_mbps_).with("line_price", line_price_);
    }
    if (costs_.rent > 0) shared.with("rent", costs_.rent);
    if (costs_.purchase > 0) shared.with("purchase", costs_.purchase);
    if (costs_.electricity > 0) shared.with("electricity", costs_.electricity);
    if (costs_.overhead > 1) shared.with("overhead", costs_.overhead);
    if (costs_.network_energy > 0) shared.with("network_energy", costs_.network_energy);
    statements.push_back(std::move(shared));
    return statements;
  }

 private:
  void rent_lines(const std::vector<sim::PlatformLink>& links) {
    for (const spec::CostSpec::Line& line : costs_.lines) {
      double mbps = 0;
      std::size_t count = 0;
      for (const sim::PlatformLink& link : links) {
        if (!fits(line.link, link.name) && line.link != link.link_class) continue;
        ++count;
        mbps += link.bandwidth * 8 / 1e6;
      }
      lines_per_second_ += mbps * line.per_mbps_month / spec::kMonth;
      line_links_.push_back(line.link);
      line_count_.push_back(static_cast<double>(count));
      line_mbps_.push_back(mbps);
      line_price_.push_back(line.per_mbps_month);
    }
  }

  Terms terms_of(const scenario::Scenario& scenario, const std::string& name) {
    const spec::DeviceSpec& device = find_device(scenario, name);
    const spec::CostSpec::Price* own = own_price(costs_, name);
    Terms terms;
    report::Statement statement{"device-price", {name}};
    statement.with("currency", costs_.currency);
    if (own != nullptr && own->per_hour) {
      terms.per_second = *own->per_hour / kSecondsPerHour;
      statement.with("per_hour", *own->per_hour);
    } else if (const estimate::DevicePrice* price = estimate::find_price(name, costs_);
               price != nullptr && costs_.currency == "USD") {
      terms.per_second = price->per_hour / kSecondsPerHour;
      statement.with("per_hour", price->per_hour).with("source", fmt::format("{}, {}", price->source, price->date));
      if (costs_.term != spec::PriceTerm::on_demand) statement.with("term", to_string(costs_.term));
    }
    if (device.power > 0) {
      const bool idle_known = own != nullptr && own->idle_power;
      terms.busy_watts = device.power;
      terms.idle_watts = idle_known ? *own->idle_power : spec::kIdleShare * device.power;
      statement.with("watts", *terms.busy_watts)
          .with("idle_watts", *terms.idle_watts)
          .with("idle_assumed", !idle_known);
    }
    device_terms_.insert_or_assign(name, std::move(statement));
    return terms;
  }

  const spec::CostSpec& costs_;
  std::size_t workers_ = 0;
  std::vector<Terms> nodes_;  ///< workers, then the aggregator
  std::map<std::string, report::Statement> device_terms_;
  double lines_per_second_ = 0;
  std::vector<std::string> line_links_;
  std::vector<double> line_count_, line_mbps_, line_price_;
};

/// Bytes that are paid for, per byte that a node sends: on the links named, however many of them a byte passes.
double paid_bytes_per_byte(const spec::CostSpec& costs, const report::RunResult& run) {
  if (costs.egress_links.empty() || run.total_bytes == 0) return 1;
  double paid = 0;
  for (const step::LinkUse& use : run.network.link_use) {
    if (use.link == costs.egress_links || use.link_class == costs.egress_links) paid += use.bytes_per_step;
  }
  return paid * static_cast<double>(run.steps) / run.total_bytes;
}

/// What so many steps are to be expected to take and cost on machines that may be taken away. What is done again sends
/// again, and waiting machines are counted as busy ones.
report::SpotCosts on_spot(const spec::CostSpec::Spot& spot, const Bill& bill, const report::RunResult& run,
                          double steps, double seconds, double bytes, double paid_bytes) {
  estimate::Interruptions what{
      .per_second = spot.interruptions / kSecondsPerHour * static_cast<double>(run.busy_seconds.size()),
      .checkpoint_every = spot.checkpoint_every,
      .checkpoint_seconds = spot.checkpoint_time,
      .restart_seconds = spot.restart};
  if (what.checkpoint_every == 0) what.checkpoint_every = best_interval(what);
  report::SpotCosts costs;
  costs.slowdown = expected_slowdown(what);
  costs.seconds = seconds * costs.slowdown;
  costs.interruptions = costs.seconds * what.per_second;
  costs.checkpoint_every = what.checkpoint_every;
  costs.costs = bill.of(run, steps * costs.slowdown, costs.seconds, bytes * costs.slowdown, paid_bytes * costs.slowdown,
                        spot.price);
  return costs;
}

double bytes_to_target(const report::RunResult& run) {
  const auto at = std::ranges::find(run.curve, run.target_step, &report::CurvePoint::step);
  return at == run.curve.end() ? 0 : at->bytes;
}

}  // namespace

void add_costs(const scenario::Scenario& scenario, report::Result& result) {
  if (!scenario.costs) return;
  result.currency = scenario.costs->currency;
  result.purchase = scenario.costs->purchase;
  Bill bill(scenario);
  for (report::RunResult& run : result.runs) {
    const auto steps = static_cast<double>(run.steps);
    if (run.steps == 0) continue;
    const double paid_share = paid_bytes_per_byte(*scenario.costs, run);
    const auto cost_of = [&](double of_steps, double seconds, double bytes) {
      return bill.of(run, of_steps, seconds, bytes, bytes * paid_share);
    };
    report::RunCosts costs;
    costs.whole = cost_of(steps, run.total_seconds, run.total_bytes);
    costs.per_step = cost_of(1, run.step_seconds, run.total_bytes / steps);
    if (run.target_reached) {
      costs.to_target = cost_of(static_cast<double>(run.target_step), run.target_seconds, bytes_to_target(run));
    }
    if (run.at_scale && run.at_scale->time && result.scale && result.scale->known) {
      const double needed = result.scale->known->steps * run.at_scale->relative.ratio->value;
      costs.at_scale = cost_of(needed, run.at_scale->time->value, needed * run.total_bytes / steps);
    }
    if (costs.per_step.money && run.step_seconds > 0)
      costs.per_month = *costs.per_step.money / run.step_seconds * spec::kMonth;
    if (scenario.costs->spot) {
      // The longest stretch that means something.
      double of_steps = steps;
      double seconds = run.total_seconds;
      if (costs.at_scale) {
        of_steps = result.scale->known->steps * run.at_scale->relative.ratio->value;
        seconds = run.at_scale->time->value;
      } else if (costs.to_target) {
        of_steps = static_cast<double>(run.target_step);
        seconds = run.target_seconds;
      }
      const double bytes = of_steps * run.total_bytes / steps;
      costs.spot = on_spot(*scenario.costs->spot, bill, run, of_steps, seconds, bytes, bytes * paid_share);
    }
    run.costs = costs;
  }
  result.lines_per_month = bill.lines_per_month();
  for (report::Statement& statement : bill.terms()) result.assumptions.push_back(std::move(statement));
}

}  // namespace dadsim::study
