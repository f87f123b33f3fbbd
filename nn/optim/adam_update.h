// The update of Adam, which several optimisers share.
#pragma once

#include <retrace/nn/optim/optimizers.h>

namespace retrace {

/// g += decay w; w = keep w; then w is updated as AdamOptions tells. The slot's state begins with m and v.
void adam_update(OptimizerSlot& slot, const AdamOptions& options, double keep, double decay);

}  // namespace retrace
