#include <utility>

#include "api/dadsim.hpp"

namespace dadsim::api::inline v1 {

// Defines the destructors here, so that the types belong to this library, and programs can catch them.
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
