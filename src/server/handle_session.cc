// GET /v1/session: who asks, as the server sees it. The dashboard asks it first: a 401 means that a key is wanted.
#include "server/app.h"
#include "server/render.h"

namespace margin::server {

void show_session(App& app, const Call& call) {
  JsonWriter out;
  out.open('{').key("name").text(call.caller.name).key("tenant").text(call.caller.tenant).key("scopes").open('[');
  for (std::size_t i = 0; i < access::kScopeNames.size(); ++i) {
    if (call.caller.scopes.has(static_cast<access::Scope>(i))) out.text(access::kScopeNames[i]);
  }
  out.close(']').key("keyless").flag(app.keys().empty()).key("demo").flag(app.demo());
  out.key("version").text(app.version());
  render_time(out, "time", app.service().now_ms());
  call.answer->json(out.close('}').take());
}

}  // namespace margin::server
