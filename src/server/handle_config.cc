// /v1/config: the configuration that runs, and reading it again. It is of the whole server, so no tenant's key opens it.
#include <algorithm>

#include "server/app.h"
#include "server/render.h"

namespace margin::server {
namespace {

std::string tag_of(const App& app) { return "\"" + config::config_hash(app.config()) + "\""; }

// Whether an If-Match, or one of several, is met by `tag`: a list with that entity tag in it, or "*". Compared strongly (RFC 9110, 13.1.1):
// what begins with W/ is none. True where there is no such header.
bool if_match_holds(const http::Request& request, std::string_view tag) {
  bool conditional = false;
  for (const http::Header& header : request.headers) {
    if (!http::same_name(header.name, "If-Match")) continue;
    conditional = true;
    std::string_view rest = header.value;
    while (!rest.empty()) {
      std::string_view token = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(rest.size(), token.size() + 1));
      token.remove_prefix(std::min(token.find_first_not_of(" \t"), token.size()));
      token = token.substr(0, token.find_last_not_of(" \t") + 1);
      if (token == tag || token == "*") return true;
    }
  }
  return !conditional;
}

// False: a key of a tenant, and answered.
bool is_of_the_server(const Call& call) {
  if (call.caller.tenant.empty()) return true;
  call.answer->send(refusal(403, "tenant_key",
                            "key " + call.caller.key + ": is confined to the tenant " + call.caller.tenant +
                                ", expected one that is not: the configuration is of the whole server"));
  return false;
}

void render_texts(JsonWriter& out, std::string_view name, const std::vector<std::string>& texts) {
  out.key(name).open('[');
  for (const std::string& text : texts) out.text(text);
  out.close(']');
}

}  // namespace

void show_config(App& app, const Call& call) {
  if (!is_of_the_server(call)) return;
  call.answer->add_header("ETag", tag_of(app));
  call.answer->json(config::to_json(app.config()));
}

void reload_config(App& app, const Call& call) {
  if (!is_of_the_server(call)) return;
  if (const std::string tag = tag_of(app); !if_match_holds(call.request, tag)) {
    call.answer->add_header("ETag", tag);
    return call.answer->send(
        refusal(412, "precondition_failed", "If-Match: expected " + tag + ", the configuration that runs; nothing was read"));
  }
  app.journal().info("a reload is asked for over HTTP", {{"by", call.caller.source}});
  const Result<Reloaded> reloaded = app.read_again();
  call.answer->add_header("ETag", tag_of(app));
  if (!reloaded) return call.answer->send(refusal(422, "invalid_configuration", reloaded.error().message));
  JsonWriter out;
  out.open('{').key("config_hash").text(config::config_hash(app.config()));
  render_texts(out, "changed", reloaded->changed);
  render_texts(out, "needs_restart", reloaded->needs_restart);
  render_texts(out, "warnings", reloaded->warnings);
  call.answer->json(out.close('}').take());
}

}  // namespace margin::server
