// Log: the responses of a log in memory, from files, from columns or from Arrow tables. What replays and experiments are run on.
#pragma once

#include <memory>

#include "bind.h"
#include "dataset/observation_log.h"

namespace margin::python {

struct Log {
  std::shared_ptr<const dataset::ObservationLog> rows;
};

}  // namespace margin::python
