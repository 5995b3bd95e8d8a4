// Chats that one upstream answers alone: those to an upstream's own name, and those with tools or images, which go to a pool's primary.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/gateway.h"
#include "server/app.h"

namespace margin::server {

// `reason`: why a pool's chat goes to its primary, said in the answer; empty: the client named the upstream itself.
void pass_through(App& app, const Call& call, const gateway::ChatRequest& request, const gateway::Model& model, const std::string& reason);

// What of a client's headers goes on to upstreams: the trace.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> forwarded_headers(const http::Request& request);

}  // namespace margin::server
