// `margin serve`: decisions and outcomes over HTTP.
#include <cstdio>
#include <memory>
#include <string>

#include "cli/command.h"
#include "cli/config_flags.h"
#include "cli/version.h"
#include "server/daemon.h"

namespace margin::cli {
namespace {

constexpr const char* kServeFooter =
    "Everything has a default; margin config sample prints them, and margin.toml in the working folder is read when it is there.\n"
    "Without a key only this machine is served (margin keys create). SIGHUP reloads, SIGTERM drains.\n\n"
    "Examples:\n"
    "  margin serve\n"
    "  margin serve --listen 127.0.0.1:9000 --store pools.db\n"
    "  curl -s http://127.0.0.1:8080/v1/decide -H 'Content-Type: application/json' -d '{\"responses\":[\n"
    "    {\"model\":\"a\",\"answer\":\"Paris\",\"confidence\":0.9},{\"model\":\"b\",\"answer\":\"Lyon\",\"confidence\":0.95}]}'";

constexpr const char* kHello =
    "A first decision:\n"
    "  curl -s %s/v1/decide -H 'Content-Type: application/json' -d '{\"responses\":[\n"
    "    {\"model\":\"a\",\"answer\":\"Paris\",\"confidence\":0.9},{\"model\":\"b\",\"answer\":\"Lyon\",\"confidence\":0.95}]}'\n";

}  // namespace

Command add_serve(CLI::App& root) {
  CLI::App* app = root.add_subcommand("serve", "Serve decisions and outcomes over HTTP");
  auto options = std::make_shared<server::DaemonOptions>();
  app->footer(kServeFooter);
  app->add_option("--config", options->config_file, "Configuration; margin.toml when that exists")->type_name("FILE");
  app->add_option("--listen", options->listen, "Address and port, 127.0.0.1:8080 by default; port 0 takes a free one")
      ->type_name("ADDRESS");
  app->add_option("--admin-listen", options->admin_listen,
                  "Another address and port for operators: scope admin, /metrics, /status and the dashboard are then there alone")
      ->type_name("ADDRESS");
  app->add_option("--store", options->store, "The log and its snapshots, margin.db by default")->type_name("FILE");
  auto hello = std::make_shared<bool>(false);
  app->add_flag("--hello", *hello, "Say how to ask for a first decision");
  app->add_flag("--demo", options->demo, "Add a pool `demo` of simulated models that decide and get outcomes all the time");
  return {app, [options, hello] {
            options->environment = environment();
            options->config_file = config_path(options->config_file);
            options->version = version();
            options->commit = commit();
            options->listening = [hello, demo = options->demo](const server::Addresses& addresses) {
              const bool apart = !addresses.operators.empty();
              std::printf("MARGIN listens on %s\n", addresses.main.c_str());
              if (apart) std::printf("Operators: %s\n", addresses.operators.c_str());
              if (demo)
                std::printf(
                    "The pools `demo` and `quiz` are simulated: their models, answers and outcomes are made up. Chat with margin/quiz.\n");
              std::printf("Dashboard: %s/dashboard/\n", (apart ? addresses.operators : addresses.main).c_str());
              if (*hello) std::printf(kHello, addresses.main.c_str());
              std::fflush(stdout);
            };
            const Status served = server::serve(*options);
            if (served) return 0;
            const bool usage = served.error().code == ErrorCode::kInvalidArgument || served.error().code == ErrorCode::kNotFound;
            return complain(served.error().message, usage ? kBadInput : kFailed);
          }};
}

}  // namespace margin::cli
