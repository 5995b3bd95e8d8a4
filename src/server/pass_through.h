// Chats that one upstream answers alone: those to an upstream's own name, and those with tools or images, which go to a pool's primary.
#pragma once

#include <string>

#include "gateway/gateway.h"
#include "server/app.h"

namespace margin::server {

// `reason`: why a pool's chat goes to its primary, said in the answer; empty: the client named the upstream itself.
void pass_through(App& app, const Call& call, const gateway::ChatRequest& request, const gateway::Model& model, const std::string& reason);

}  // namespace margin::server
