// What the handlers of changes share: write the event, and answer when it was applied.
#pragma once

#include <functional>

#include "server/app.h"
#include "server/render.h"

namespace margin::server {

// Answers with what `show` renders; with the event's own error when it could not be applied.
void commit_and_show(App& app, const Call& call, service::ServedPool& pool, EventBody body, std::function<void(JsonWriter&)> show);

}  // namespace margin::server
