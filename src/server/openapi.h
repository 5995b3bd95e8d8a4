// The OpenAPI document, openapi.json of this folder, as part of the program.
#pragma once

#include <string_view>

namespace margin::server {

[[nodiscard]] std::string_view openapi_document();

}  // namespace margin::server
