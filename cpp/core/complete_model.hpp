// Quantities of a model that follow from its sizes, bodies and frames.
#pragma once

#include "core/model.hpp"

namespace kinodyn {

void complete(Model& m);

// The completed model in float32.
ModelOf<float> rounded(const Model& m);

}  // namespace kinodyn
