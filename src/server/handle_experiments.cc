// /v1/experiments: a log in the body, replayed on the side, its report to be read. Asks for the scope `admin`, since it takes processor
// time.
#include "server/app.h"
#include "server/render.h"

namespace margin::server {
namespace {

constexpr std::size_t kNameBytesMax = 120;

void render(JsonWriter& out, const Experiment& experiment) {
  constexpr std::array<std::string_view, 3> kNames = {"running", "done", "failed"};
  out.open('{').key("id").text(experiment.id.text()).key("name").text(experiment.name);
  render_time(out, "started", experiment.started_ms);
  out.key("log_bytes").number(experiment.log_bytes).key("status").text(kNames[static_cast<std::size_t>(experiment.status)]);
  out.key("seconds").number(experiment.seconds).key("message").text(experiment.message).close('}');
}

std::optional<Experiment> find(App& app, const Call& call) {
  const auto id = Uuid::parse(call.arguments[0]);
  auto found = id ? app.experiments().find(*id, call.caller.tenant) : std::nullopt;
  if (!found) call.answer->send(refusal(404, "not_found", "experiment: no such experiment; the latest few are kept", "experiment"));
  return found;
}

}  // namespace

void start_experiment(App& app, const Call& call) {
  const std::string_view query = call.request.query;
  const std::string format = http::query_value(query, "format").value_or("jsonl");
  if (format != "jsonl" && format != "csv") return call.answer->refuse(Fault{"format", "format: expected jsonl or csv"});
  if (call.request.body.empty()) return call.answer->refuse(Fault{"body", "body: expected a log, one observation per line"});
  ExperimentRequest request{.id = app.service().new_id(),
                            .tenant = call.caller.tenant,
                            .name = http::query_value(query, "name").value_or("").substr(0, kNameBytesMax),
                            .csv = format == "csv",
                            .methods = http::query_value(query, "methods").value_or(""),
                            .log = std::string(call.request.body),
                            .now_ms = app.service().now_ms()};
  const Uuid id = request.id;
  if (Status started = app.experiments().start(std::move(request)); !started) return call.answer->refuse(started.error());
  JsonWriter out;
  render(out, *app.experiments().find(id, call.caller.tenant));
  call.answer->json(out.take(), 202);
}

void list_experiments(App& app, const Call& call) {
  JsonWriter out;
  out.open('{').key("log_bytes_max").number(app.experiments().limits().log_bytes_max).key("experiments").open('[');
  for (const Experiment& experiment : app.experiments().list(call.caller.tenant)) render(out, experiment);
  call.answer->json(out.close(']').close('}').take());
}

void show_experiment(App& app, const Call& call) {
  const auto found = find(app, call);
  if (!found) return;
  JsonWriter out;
  render(out, *found);
  call.answer->json(out.take());
}

void show_report(App& app, const Call& call) {
  auto found = find(app, call);
  if (!found) return;
  if (found->status != Experiment::Status::kDone) {
    return call.answer->send(
        refusal(409, "not_done", "experiment: it has no report " + std::string(found->message.empty() ? "yet" : ""), ""));
  }
  http::Response response;
  response.content_type = "text/html; charset=utf-8";
  response.headers = {{"Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Content-Disposition", "attachment; filename=\"report.html\""},
                      {"Cache-Control", "no-store"}};
  response.body = std::move(found->report);
  call.answer->send(std::move(response));
}

}  // namespace margin::server
