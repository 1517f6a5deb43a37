#include <utility>

#include "api/dadsim.hpp"

namespace dadsim::api::inline v1 {

// Their destructors are here so that their types belong to this library: a program that catches them finds them by
// name.
Error::~Error() = default;
InputError::~InputError() = default;
SimulationError::~SimulationError() = default;
OutputError::~OutputError() = default;
SystemError::~SystemError() = default;
Stopped::~Stopped() = default;

InputError::InputError(const std::string& text, std::vector<Diagnostic> diagnostics)
    : Error(text), diagnostics_(std::make_shared<const std::vector<Diagnostic>>(std::move(diagnostics))) {}

const std::vector<Diagnostic>& InputError::diagnostics() const noexcept { return *diagnostics_; }

}  // namespace dadsim::api::inline v1
