// Text for people and for JSON, under the names by which the layers of files and commands use it.
#pragma once

#include "base/text.h"

namespace margin::dataset {

using internal::json_number;
using internal::json_string;
using internal::printable;

}  // namespace margin::dataset
