// The route table: every path the server answers, the scope it asks for and the function that answers it. openapi.json describes the same
// paths; a test compares the two.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "access/key.h"
#include "http/message.h"
#include "server/answer.h"
#include "server/caller.h"

namespace margin::server {

class App;

// Whom a listener is for. Operators' routes are those that ask for the scope admin, /metrics, /status and the dashboard; where operators
// have a listener of their own, the other one is for clients, and answers as if there were no such routes.
enum class Audience { kAll, kClients };

// A request on its way to its handler.
struct Call {
  const http::Request& request;        // until answered
  std::vector<std::string> arguments;  // the {named} parts of the path, decoded, in their order
  Caller caller;
  SharedAnswer answer;
};

struct Route {
  std::string_view method;
  std::string_view pattern;            // "/v1/pools/{pool}"
  std::optional<access::Scope> scope;  // none: anybody
  void (*handle)(App&, const Call&);
  std::string_view query = {};  // parameters behind the '?', with blanks between them
  bool for_operators = false;   // the table works it out
  // Whether other parameters are refused. Not where programs come that add some of their own: probes, scrapers, browsers that look for a
  // page, and clients of OpenAI's interface.
  [[nodiscard]] bool knows_its_query() const { return scope && *scope != access::Scope::kInfer && pattern != "/metrics"; }
  // Whether it changes something: such a request must not come from a web page that a browser happens to show.
  [[nodiscard]] bool changes() const { return method != "GET"; }
  // Whether it reads a body; one that is sent to another route is refused.
  [[nodiscard]] bool takes_body() const;
};

[[nodiscard]] std::span<const Route> routes();

struct Match {
  const Route* route = nullptr;  // null: no such path, or not by this method
  std::vector<std::string> arguments;
  std::string allowed;  // methods of the path, when only the method is wrong
};
[[nodiscard]] Match match(std::string_view method, std::string_view path, Audience audience);

// What the route table calls; a file for each group.
void decide(App& app, const Call& call);  // handle_decide.cc
void chat(App& app, const Call& call);    // handle_chat.cc
void list_models(App& app, const Call& call);
void show_model(App& app, const Call& call);
void feedback(App& app, const Call& call);  // handle_feedback.cc
void feedback_batch(App& app, const Call& call);
void revert_feedback(App& app, const Call& call);  // handle_revert.cc
void list_pools(App& app, const Call& call);       // handle_pools.cc
void show_pool(App& app, const Call& call);
void put_pool(App& app, const Call& call);
void show_factors(App& app, const Call& call);
void show_alarms(App& app, const Call& call);
void join_model(App& app, const Call& call);  // handle_models.cc
void leave_model(App& app, const Call& call);
void pin_model(App& app, const Call& call);
void unpin_model(App& app, const Call& call);
void freeze_pool(App& app, const Call& call);
void resume_pool(App& app, const Call& call);
void export_state(App& app, const Call& call);  // handle_state.cc
void import_state(App& app, const Call& call);
void show_calibration(App& app, const Call& call);  // handle_insight.cc
void show_activity(App& app, const Call& call);
void show_heat(App& app, const Call& call);
void show_history(App& app, const Call& call);
void show_models(App& app, const Call& call);
void show_pairs(App& app, const Call& call);
void list_decisions(App& app, const Call& call);  // handle_decisions.cc
void list_queue(App& app, const Call& call);
void show_decision(App& app, const Call& call);
void erase_texts(App& app, const Call& call);
void stream_events(App& app, const Call& call);  // handle_events.cc
void show_health(App& app, const Call& call);    // handle_system.cc
void show_ready(App& app, const Call& call);
void show_status(App& app, const Call& call);
void show_metrics(App& app, const Call& call);
void show_openapi(App& app, const Call& call);
void show_config(App& app, const Call& call);  // handle_config.cc
void reload_config(App& app, const Call& call);
void start_experiment(App& app, const Call& call);  // handle_experiments.cc
void list_experiments(App& app, const Call& call);
void show_experiment(App& app, const Call& call);
void show_report(App& app, const Call& call);
void show_session(App& app, const Call& call);    // handle_session.cc
void open_dashboard(App& app, const Call& call);  // handle_dashboard.cc
void show_dashboard(App& app, const Call& call);
void show_dashboard_file(App& app, const Call& call);

}  // namespace margin::server
