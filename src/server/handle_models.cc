// Models of a pool: join, leave, pin; and whether the pool learns.
#include "server/app.h"
#include "server/commit.h"
#include "server/render.h"

namespace margin::server {
namespace {

// Every change of a model or of learning answers with the pool as it now is.
void change(App& app, const Call& call, EventBody body) {
  service::ServedPool* pool = find_pool(app, call, call.arguments[0]);
  if (pool == nullptr) return;
  commit_and_show(app, call, *pool, std::move(body),
                  [&app, pool, name = call.arguments[0]](JsonWriter& out) { render_pool(out, name, *pool, app.service().now_ms()); });
}

}  // namespace

void join_model(App& app, const Call& call) {
  ModelJoined joined{.model = call.arguments[1]};
  if (!call.request.body.empty()) {
    const Json* body = body_of(app, call);
    if (body == nullptr) return;
    ObjectReader in(*body, "");
    if (const auto predecessor = in.text("predecessor")) joined.predecessor = *predecessor;
    if (auto fault = in.finish()) return call.answer->refuse(*fault);
  }
  change(app, call, std::move(joined));
}

void leave_model(App& app, const Call& call) { change(app, call, ModelLeft{call.arguments[1]}); }

void pin_model(App& app, const Call& call) {
  const Json* body = body_of(app, call);
  if (body == nullptr) return;
  ObjectReader in(*body, "");
  const auto factor = in.in_range("factor", 0.0, 20.0);
  if (!factor) in.fail("factor", "expected a number in [0, 20]");
  if (auto fault = in.finish()) return call.answer->refuse(*fault);
  change(app, call, FactorPinned{.model = call.arguments[1], .factor = *factor});
}

void unpin_model(App& app, const Call& call) { change(app, call, FactorUnpinned{call.arguments[1]}); }
void freeze_pool(App& app, const Call& call) { change(app, call, LearningFrozen{}); }
void resume_pool(App& app, const Call& call) { change(app, call, LearningResumed{}); }

}  // namespace margin::server
