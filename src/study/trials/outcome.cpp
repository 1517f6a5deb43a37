#include "study/trials/outcome.hpp"

#include <stdexcept>

#include "sim/simulator.hpp"

namespace dadsim::study {

std::optional<Fault> fault_of(const std::function<void()>& trial, std::string& message) {
  const auto simulated = [&](const std::exception& error) {
    // A signal that ends the terminal's processes ends the simulations too.
    if (interrupted().load()) throw Cancelled();
    message = error.what();
    return Fault{.what = message, .remedy = ""};
  };
  try {
    trial();
    return std::nullopt;
  } catch (const InputError& error) {
    message = error.what();
    const Diagnostic& first = error.diagnostics().front();
    return Fault{first.what, first.remedy, first.not_built, error.is_infeasible()};
  } catch (const sim::SimulationError& error) {
    return simulated(error);
  } catch (const std::invalid_argument& error) {  // a network that cannot be divided as a change asks
    return simulated(error);
  }
}

}  // namespace dadsim::study
