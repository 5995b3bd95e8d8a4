// Configurations as people write them: what is taken, what is refused and with which words.
#include "config/config.h"

#include <gtest/gtest.h>

#include "config/fields.h"
#include "config/pool_check.h"

namespace margin::config {
namespace {

Config loaded(std::string_view text, const Environment& environment = {}) {
  Result<Config> config = parse_config(text, "m.toml", environment);
  EXPECT_TRUE(config.ok()) << (config.ok() ? "" : config.error().message);
  return config.ok() ? *config : Config{};
}

std::string refused(std::string_view text, const Environment& environment = {}) {
  const Result<Config> config = parse_config(text, "m.toml", environment);
  return config.ok() ? "was accepted" : config.error().message;
}

bool equal(const Config& a, const Config& b) { return changes(a, b).empty(); }

TEST(Config, NothingStatedIsTheDefaults) {
  const Config config = loaded("");
  EXPECT_TRUE(equal(config, default_config()));
  EXPECT_EQ(config.server.listen, "127.0.0.1:8080");
  EXPECT_EQ(config.limits.body_bytes, 1048576);
  ASSERT_TRUE(config.pools.contains("default"));
}

TEST(Config, FileOverridesDefaultsAndEnvironmentOverridesFile) {
  const Config config = loaded("[server]\nlisten = \"[::1]:9\"\ndrain_ms = 5\n[limits]\nrequests_per_second = 3\n",
                               {{"MARGIN_SERVER__DRAIN_MS", "7"}, {"MARGIN_STORE__DURABILITY", "process"}, {"MARGIN_KEY", "sk-mg-x"}});
  EXPECT_EQ(config.server.listen, "[::1]:9");
  EXPECT_EQ(config.server.drain_ms, 7);
  EXPECT_EQ(config.store.durability, Durability::kProcess);
  EXPECT_EQ(config.limits.requests_per_second, 3.0);
  EXPECT_EQ(loaded("[limits]\nconnections = 1e3\n").limits.connections, 1000);
}

TEST(Config, EveryKeyCanBeStatedInTheFileAndInTheEnvironment) {
  for (const Field<Config>& field : fields()) {
    if (field.key == "tls_certificate" || field.key == "tls_key") continue;  // only together
    // Another value than the default.
    FieldValue other;
    switch (field.kind) {
      case FieldKind::kInteger: other = static_cast<std::int64_t>(field.range.high) - 1; break;
      case FieldKind::kNumber: other = field.range.high / 2; break;
      case FieldKind::kText: other = "other:1"; break;
      case FieldKind::kReference: other = "env::OTHER"; break;
      case FieldKind::kChoice: other = std::string(field.choices.back()); break;
      case FieldKind::kNames: FAIL() << "a list cannot be stated in the environment";
    }
    if (other == field.get(default_config())) other = std::string(field.choices.front());
    const std::string section(field.section);
    const std::string key(field.key);
    EXPECT_EQ(field.get(loaded("[" + section + "]\n" + key + " = " + toml_value(other))), other) << section << "." << key;
    std::string variable = "MARGIN_" + section + "__" + key;
    for (char& c : variable) c = static_cast<char>(std::toupper(c));
    std::string text = toml_value(other);
    if (text.front() == '"') text = std::get<std::string>(other);
    EXPECT_EQ(field.get(loaded("", {{variable, text}})), other) << variable;
  }
}

TEST(Config, RangesHoldTheirEndsAndNothingBeyond) {
  for (const Field<Config>& field : fields()) {
    if (field.kind != FieldKind::kInteger) continue;
    const auto with = [&](double value) {
      return "[" + std::string(field.section) + "]\n" + std::string(field.key) + " = " + std::to_string(static_cast<std::int64_t>(value));
    };
    EXPECT_EQ(std::get<std::int64_t>(field.get(loaded(with(field.range.low)))), static_cast<std::int64_t>(field.range.low)) << field.key;
    EXPECT_EQ(std::get<std::int64_t>(field.get(loaded(with(field.range.high)))), static_cast<std::int64_t>(field.range.high)) << field.key;
    for (const double beyond : {field.range.low - 1, field.range.high + 1}) {
      EXPECT_NE(refused(with(beyond)).find("expected a whole number in ["), std::string::npos) << field.key;
    }
  }
}

TEST(Config, UnknownNamesAreRefusedWithPlaceAndSuggestion) {
  EXPECT_EQ(refused("\n[serve]\nlisten = \"x:1\"\n"), "m.toml:2: no section named \"serve\" (did you mean server?)");
  EXPECT_EQ(refused("[server]\n\nlisen = \"x:1\"\n"), "m.toml:3: server: no key named \"lisen\" (did you mean listen?)");
  EXPECT_EQ(refused("listen = \"x:1\"\n"), "m.toml:1: no section named \"listen\" (did you mean server.listen?)");
  EXPECT_EQ(refused("[log]\ndurability = \"disk\"\n"), "m.toml:2: log: no key named \"durability\" (did you mean store.durability?)");
  EXPECT_EQ(refused("[pools.law]\nvotes = \"sum\"\n"), "m.toml:2: pools.law: no key named \"votes\" (did you mean vote?)");
  EXPECT_EQ(refused("", {{"MARGIN_SERVER__LISEN", "x"}}), "MARGIN_SERVER__LISEN: no such setting (did you mean MARGIN_SERVER__LISTEN?)");
}

TEST(Config, WrongValuesNameKeyValueAndExpectation) {
  EXPECT_EQ(refused("[server]\ndrain_ms = \"soon\"\n"), "m.toml:2: server.drain_ms: got \"soon\", expected a whole number in [0, 3600000]");
  EXPECT_EQ(refused("[server]\ndrain_ms = 1.5\n"), "m.toml:2: server.drain_ms: got 1.5, expected a whole number in [0, 3600000]");
  EXPECT_EQ(refused("[store]\ndurability = \"tape\"\n"), "m.toml:2: store.durability: got \"tape\", expected one of \"disk\", \"process\"");
  EXPECT_EQ(refused("[store]\ndurability = true\n"), "m.toml:2: store.durability: got true, expected one of \"disk\", \"process\"");
  EXPECT_EQ(refused("server = 3\n"), "m.toml:1: server: got 3, expected a table, [server]");
  EXPECT_EQ(refused("", {{"MARGIN_LIMITS__HEADERS", "64x"}}),
            "MARGIN_LIMITS__HEADERS: limits.headers: got \"64x\", expected a whole number in [8, 1000]");
  EXPECT_EQ(refused("[server]\nlisten = \"8080\"\n"),
            "m.toml:2: server.listen: got \"8080\", expected HOST:PORT such as 127.0.0.1:8080 or [::1]:8080");
  EXPECT_EQ(refused("[server]\ntls_key = \"k.pem\"\n"), "m.toml:2: server.tls_key: needs server.tls_certificate beside it");
  EXPECT_EQ(refused("[store]\nfile = \"\"\n"), "m.toml:2: store.file: got \"\", expected the name of a file");
  EXPECT_EQ(refused("[keys]\nfile = \"margin.db\"\n"), "m.toml:2: keys.file: is the store's file too");
  EXPECT_EQ(refused("[limits]\npools = 1\n[pools.law]\n"), "m.toml:2: pools: 2 are configured, limits.pools allows 1");
}

TEST(Config, AllFaultsAreReportedTogether) {
  EXPECT_EQ(refused("[server]\ndrain_ms = -1\n[log]\nlevel = \"loud\"\n[pools.law]\nvote = \"summ\"\n", {{"MARGIN_LOG__FORMAT", "xml"}}),
            "m.toml:2: server.drain_ms: got -1, expected a whole number in [0, 3600000]\n"
            "m.toml:4: log.level: got \"loud\", expected one of \"debug\", \"info\", \"warning\", \"error\"\n"
            "m.toml:6: pools.law.vote: no vote named summ (did you mean sum?)\n"
            "MARGIN_LOG__FORMAT: log.format: got \"xml\", expected one of \"pretty\", \"json\"");
  std::string many = "[server]\n";
  for (int i = 0; i < 30; ++i) many += "unknown_key_number_" + std::to_string(i) + " = 1\n";
  EXPECT_TRUE(refused(many).ends_with("\nand 10 more"));
}

TEST(Config, PoolsAreCheckedDownToTheirParameters) {
  const Config config = loaded(
      "[pools.\"acme/law\"]\ncalibrator = \"margin\"\nvote = \"log_odds\"\npending_days = 2\nmax_error = 0.1\nremedy = \"implied\"\n"
      "trust = \"margin@1\"\nsource_share_max = 0.25\nwatched_models = 8\n"
      "[pools.\"acme/law\".calibrator_parameters]\nalpha = 0.1\nbands = 5\n");
  const PoolConfigured made = pool_configured(config, config.pools.at("acme/law"));
  EXPECT_EQ(made.calibrator, "margin");
  EXPECT_EQ(number(made.calibrator_parameters, "alpha"), 0.1);
  EXPECT_EQ(integer(made.calibrator_parameters, "bands"), 5);
  EXPECT_EQ(made.pending_ms_max, 2 * 24 * 3600 * 1000);
  EXPECT_EQ(made.models_max, 1000U);
  EXPECT_EQ(made.trust, "margin");
  EXPECT_EQ(made.source_share_max, 0.25);
  EXPECT_EQ(made.max_error, 0.1);
  EXPECT_EQ(refused("[pools.a]\nmax_error = 0\n"), "m.toml:2: pools.a.max_error: got 0, expected a number in (0, 1]");
  EXPECT_EQ(refused("[trace]\nsample = inf\n"), "m.toml:2: trace.sample: got inf, expected a number in [0, 1]");
  EXPECT_EQ(made.watched_models_max, 8U);
  EXPECT_NE(refused("[pools.a]\ntrust = \"temperature_scaling\"\n").find("pools.a.trust: temperature_scaling is fitted"),
            std::string::npos);
  EXPECT_EQ(config.pools.at("acme/law").remedy, RemedyChoice::kImplied);

  EXPECT_EQ(refused("[pools.a]\ncalibrator = \"margn\"\n"),
            "m.toml:2: pools.a.calibrator: no calibrator named margn (did you mean margin?)");
  EXPECT_NE(refused("[pools.a]\ncalibrator = \"margin_adaptive@9\"\n").find("m.toml:2: pools.a.calibrator: "), std::string::npos);
  EXPECT_EQ(refused("[pools.a]\ncalibrator = \"platt_scaling\"\n"),
            "m.toml:2: pools.a.calibrator: platt_scaling is fitted at design time and would learn nothing here");
  const std::string head = "[pools.a]\ncalibrator = \"margin\"\n[pools.a.calibrator_parameters]\n";
  EXPECT_NE(refused(head + "alpha = 7\n").find("m.toml:4: pools.a.calibrator_parameters.alpha: got 7, expected a number in "),
            std::string::npos);
  EXPECT_EQ(refused(head + "alhpa = 0.1\n"), "m.toml:4: pools.a.calibrator_parameters: no parameter named alhpa (did you mean alpha?)");
  EXPECT_EQ(refused(head + "alpha = [\"x\"]\n"),
            "m.toml:4: pools.a.calibrator_parameters.alpha: got an array, expected a number, a word or an array of numbers");
  EXPECT_NE(refused("[pools.\"a b\"]\n").find("pools: got the name \"a b\", expected 1 to 64 letters"), std::string::npos);
  EXPECT_NE(refused("[pools.\"" + std::string(65, 'a') + "\"]\n").find("expected 1 to 64 letters"), std::string::npos);
  for (const char* unreachable : {"a/b/c", "Upper/x", "/x", "a/"}) {
    EXPECT_NE(refused("[pools.\"" + std::string(unreachable) + "\"]\n").find("behind TENANT/"), std::string::npos) << unreachable;
  }
  EXPECT_EQ(refused("[pools.\"acme/Law.2\"]\n[upstreams.\"open/gpt/4\"]\nurl = \"http://h\"\n"), "was accepted");
}

TEST(Config, PoolsAskUpstreamsThatAreThere) {
  const std::string upstreams =
      "[upstreams.a]\nurl = \"http://localhost:1/v1\"\n[upstreams.b]\nurl = \"http://localhost:2/v1\"\nprice_prompt = 2\n";
  const Config config = loaded(upstreams + "[pools.default]\nmodels = [\"a\", \"b\"]\nprimary = \"b\"\ntask = \"choice\"\n");
  EXPECT_EQ(config.pools.at("default").models, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(config.pools.at("default").task, TaskKind::kChoice);
  EXPECT_EQ(config.upstreams.at("b").price_prompt, 2.0);
  const auto fault = [&](const std::string& pool) { return refused(upstreams + "[pools.default]\n" + pool); };
  EXPECT_NE(fault("models = [\"a\", \"bb\"]").find(".models: no upstream named \"bb\" (did you mean b?)"), std::string::npos);
  EXPECT_NE(fault("models = [\"a\", \"a\"]").find("names, each of them once"), std::string::npos);
  EXPECT_NE(fault("models = \"a\"").find("expected a list"), std::string::npos);
  EXPECT_NE(fault("models = [\"a\"]\nprimary = \"b\"").find("expected one of its models"), std::string::npos);
  EXPECT_NE(fault("models = [\"a\"]\nmin_responses = 2").find("at most the number of its models"), std::string::npos);
  EXPECT_NE(fault("models = [\"a\"]\nelicit = \"off\"").find("nothing to calibrate"), std::string::npos);
  EXPECT_NE(refused("[upstreams.a]\n").find("upstreams.a.url: expected where it is"), std::string::npos);
  EXPECT_NE(refused("[upstreams.a]\nurl = \"http://x\"\nmodle = 1").find("did you mean model?"), std::string::npos);
  const std::string secret = refused("[upstreams.a]\nurl = \"http://x\"\nkey = \"sk-topsecret\"");
  EXPECT_NE(secret.find("upstreams.a.key: expected a reference"), std::string::npos);
  EXPECT_EQ(secret.find("topsecret"), std::string::npos);
  const std::string header = refused("[trace]\nheaders = \"x-api-key=topsecret\"");
  EXPECT_EQ(header, "m.toml:2: trace.headers: expected a reference, env::NAME or file::PATH");
  EXPECT_EQ(refused("[trace]\nheaders = \"env::TRACE\""), "was accepted");
}

TEST(Config, APoolMeansTheNewestVersionUnlessItNamesOne) {
  const Config config = loaded("[pools.old]\ncalibrator = \"margin_adaptive@1\"\n");
  EXPECT_EQ(pool_configured(config, config.pools.at("default")).calibrator_version, 3);
  EXPECT_EQ(pool_configured(config, config.pools.at("old")).calibrator_version, 1);
}

TEST(Config, APoolThatRunsKeepsItsVersionUnlessTheFileNamesAnother) {
  const auto continued = [](const std::string& text, const PoolConfigured& running) {
    const Config config = loaded("[pools.law]\n" + text);
    return pool_continued(config, config.pools.at("law"), running);
  };
  const Config stated = loaded("[pools.law]\ncalibrator = \"margin_adaptive@2\"\nvote = \"stacked@2\"\ntrust = \"margin_adaptive@1\"\n");
  const PoolConfigured old = pool_configured(stated, stated.pools.at("law"));
  ASSERT_EQ(old.calibrator_version, 2);
  EXPECT_EQ(continued("vote = \"stacked\"\n", old), old) << "the file names methods, and no version of them";
  EXPECT_EQ(continued("calibrator = \"margin_adaptive@3\"\nvote = \"stacked\"\n", old).calibrator_version, 3);
  EXPECT_EQ(continued("calibrator = \"margin\"\n", old).calibrator, "margin");
  EXPECT_EQ(continued("vote = \"stacked\"\n[pools.law.vote_parameters]\nunknown_memory = 50\n", old).vote_version, 3)
      << "what only a later version has asks for it";
}

TEST(Config, ThePoolsOfTheFileAreThoseItNames) {
  EXPECT_FALSE(is_stated(loaded(""), "default")) << "though it is always there";
  EXPECT_TRUE(is_stated(loaded("[pools.default]\n"), "default"));
  const Config config = loaded("[pools.\"acme/law\"]\n");
  EXPECT_TRUE(is_stated(config, "acme/law"));
  EXPECT_FALSE(is_stated(config, "law"));
}

TEST(Config, HostileFilesCostLittleAndAreRefused) {
  EXPECT_NE(refused(std::string(300'000, '#')).find("is too large"), std::string::npos);
  std::string deep = "a";
  for (int i = 0; i < 8000; ++i) deep += ".a";
  EXPECT_EQ(refused(deep + " = 1\n").find("m.toml:1: no section named \"a\""), 0U);
  for (int i = 0; i < 200; ++i) deep += ".a";
  EXPECT_NE(refused(deep + " = 1\n").find("is too large"), std::string::npos);
  EXPECT_NE(refused("x = " + std::string(100'000, '[')), "was accepted");
  EXPECT_EQ(refused("[server]\n\"\\u001b[31m\" = 1\n").find('\x1b'), std::string::npos);
  EXPECT_NE(refused("[server]\nlisten = \"a\\u0007:1\"\n").find("without control characters"), std::string::npos);
  EXPECT_NE(refused("[server\n").find("m.toml:1: "), std::string::npos);
  EXPECT_NE(refused("\xff\xfe\x00"), "was accepted");
}

TEST(Config, MissingFileIsNamed) {
  const Result<Config> config = load_config("no/such/margin.toml", {});
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(config.error().message, "no/such/margin.toml: cannot be read: No such file or directory");
}

TEST(Config, SampleIsTheDefaults) { EXPECT_TRUE(equal(loaded(sample()), default_config())); }

TEST(Config, ChangesNameKeysAndWhetherTheyNeedARestart) {
  const Config before = loaded("[pools.law]\n");
  const Config after = loaded("[server]\nlisten = \"127.0.0.1:9\"\n[log]\nlevel = \"debug\"\n[pools.law]\nvote = \"majority\"\n");
  const std::vector<Change> found = changes(before, after);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].key, "server.listen");
  EXPECT_EQ(found[0].before, "\"127.0.0.1:8080\"");
  EXPECT_EQ(found[0].after, "\"127.0.0.1:9\"");
  EXPECT_EQ(found[0].applies, Applies::kAtRestart);
  EXPECT_EQ(found[1].key, "log.level");
  EXPECT_EQ(found[1].applies, Applies::kAtOnce);
  EXPECT_EQ(found[2].key, "pools.law.vote");
  EXPECT_EQ(changes(before, default_config()).size(), pool_keys().size());  // every key of the pool that went
}

TEST(Config, WhatNeedsARestartStaysAsItIs) {
  const Config running = loaded("[store]\nfile = \"old.db\"\n[limits]\nqueue = 7\n");
  const Config wanted = loaded("[store]\nfile = \"new.db\"\n[limits]\nqueue = 8\npools = 9\n[pools.law]\n");
  const Config now = applied_at_once(running, wanted);
  EXPECT_EQ(now.store.file, "old.db");
  EXPECT_EQ(now.limits.queue, 7);
  EXPECT_EQ(now.limits.pools, 9);
  EXPECT_TRUE(now.pools.contains("law"));
  for (const Change& left : changes(now, wanted)) EXPECT_EQ(left.applies, Applies::kAtRestart) << left.key;
  EXPECT_EQ(changes(now, wanted).size(), 2U) << "so the next reload says it again";
}

TEST(Config, TheHashTellsWhetherAnythingDiffers) {
  const std::string plain = config_hash(loaded(""));
  EXPECT_EQ(plain.size(), 32);
  EXPECT_EQ(plain, config_hash(loaded("[limits]\nqueue = 65536\n"))) << "a default that is stated";
  for (const char* other : {"[limits]\nqueue = 7\n", "[pools.default]\n", "[pools.law]\n", "[pools.default]\nvote = \"majority\"\n",
                            "[upstreams.m]\nurl = \"http://h/v1\"\n"}) {
    EXPECT_NE(plain, config_hash(loaded(other))) << other;
  }
}

TEST(Config, IsShownFlatAndWithoutSecrets) {
  const std::string shown = to_json(
      loaded("[log]\nlevel = \"debug\"\n[trace]\nheaders = \"env::TRACE\"\n"
             "[upstreams.m]\nurl = \"https://h/v1?api_key=s3cret\"\nkey = \"file::/run/k\"\nprice_prompt = 0.5\n"
             "[pools.\"acme/law\"]\nmodels = [\"m\"]\ncalibrator = \"margin\"\n[pools.\"acme/law\".calibrator_parameters]\nalpha = 0.1\n"));
  for (const char* pair :
       {R"({"server.listen":"127.0.0.1:8080",)", R"("log.level":"debug")", R"("limits.queue":65536)", R"("trace.headers":"env::TRACE")",
        R"("upstreams.m.key":"file::/run/k")", R"("upstreams.m.url":"https://h/v1?...")", R"("upstreams.m.price_prompt":0.5)",
        R"("pools.acme/law.models":["m"])", R"("pools.acme/law.calibrator_parameters.alpha":0.1)", R"("pools.default.vote":"sum")"}) {
    EXPECT_NE(shown.find(pair), std::string::npos) << pair << " in " << shown;
  }
  EXPECT_EQ(shown.find("s3cret"), std::string::npos);
  for (const Field<Config>& field : fields()) {
    EXPECT_NE(shown.find("\"" + std::string(field.section) + "." + std::string(field.key) + "\":"), std::string::npos) << field.key;
  }
}

TEST(Config, AChangeOfASecretIsSeenAndNotTold) {
  const auto with_url = [](const std::string& url) { return loaded("[upstreams.m]\nurl = \"" + url + "\"\n"); };
  const Config before = with_url("https://me:s3cret@h/v1?key=s3cret");
  for (const char* url : {"https://me:0ther@h/v1?key=s3cret", "https://me:s3cret@h/v1?key=0ther"}) {
    const std::vector<Change> found = changes(before, with_url(url));
    ASSERT_EQ(found.size(), 1U) << url;
    EXPECT_EQ(found[0].before, "\"https://...@h/v1?...\"");
    EXPECT_EQ(found[0].after, "\"https://...@h/v1?...\"");
    EXPECT_NE(config_hash(before), config_hash(with_url(url)));
  }
  EXPECT_EQ(to_json(before).find("s3cret"), std::string::npos);
}

TEST(Config, KeysStandBesideTheStoreUnlessNamed) {
  EXPECT_EQ(keys_file(loaded("")), "margin.db.keys");
  EXPECT_EQ(keys_file(loaded("[keys]\nfile = \"k\"\n")), "k");
}

TEST(Address, HostAndPort) {
  EXPECT_EQ(parse_address("localhost:80")->port, 80);
  EXPECT_EQ(parse_address("[::1]:65535")->host, "::1");
  for (const std::string_view bad : {"", ":80", "h:", "h:65536", "::1:80", "h:80x", "[]:80", "a b:80", "http://h:80", "h:-1"}) {
    EXPECT_FALSE(parse_address(bad).ok()) << bad;
  }
}

TEST(Address, OperatorsHaveOneOfTheirOwnOrNone) {
  const auto with = [](const std::string& listen, const std::string& admin) {
    return refused("[server]\nlisten = \"" + listen + "\"\nadmin_listen = \"" + admin + "\"\n");
  };
  EXPECT_EQ(loaded("").server.admin_listen, "");
  for (const auto& [listen, admin] : {std::pair("127.0.0.1:1", "127.0.0.1:2"), std::pair("127.0.0.1:1", "[::1]:1"),
                                      std::pair("10.0.0.1:1", "127.0.0.1:1"), std::pair("127.0.0.1:0", "127.0.0.1:0")}) {
    EXPECT_EQ(with(listen, admin), "was accepted") << listen << " " << admin;
  }
  EXPECT_EQ(with("127.0.0.1:1", "127.0.0.1:1"),
            "m.toml:3: server.admin_listen: got \"127.0.0.1:1\", expected another port or address than server.listen, \"127.0.0.1:1\"");
  for (const auto& [listen, admin] : {std::pair("localhost:1", "127.0.0.1:1"), std::pair("0.0.0.0:1", "127.0.0.1:1"),
                                      std::pair("[::1]:1", "[::]:1"), std::pair("[::]:1", "127.0.0.1:1")}) {
    EXPECT_NE(with(listen, admin).find("expected another port or address"), std::string::npos) << listen << " " << admin;
  }
  EXPECT_EQ(with("x", "y"),
            "m.toml:2: server.listen: got \"x\", expected HOST:PORT such as 127.0.0.1:8080 or [::1]:8080\n"
            "m.toml:3: server.admin_listen: got \"y\", expected HOST:PORT such as 127.0.0.1:8080 or [::1]:8080");
}

TEST(Secret, OnlyByReferenceAndNeverInTheMessage) {
  const Environment environment = {{"TOKEN", "s3cret"}, {"EMPTY", ""}};
  EXPECT_EQ(resolve_secret("env::TOKEN", environment).value(), "s3cret");
  EXPECT_FALSE(resolve_secret("env::EMPTY", environment).ok());
  EXPECT_FALSE(resolve_secret("env::OTHER", environment).ok());
  EXPECT_FALSE(resolve_secret("file::no/such/file", environment).ok());
  const Result<std::string> literal = resolve_secret("s3cret", environment);
  ASSERT_FALSE(literal.ok());
  EXPECT_EQ(literal.error().message.find("s3cret"), std::string::npos);
}

}  // namespace
}  // namespace margin::config
