// Keys from the moment they are made to the request that shows them, and how many requests that may be.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "access/key.h"
#include "access/key_line.h"
#include "access/key_ring.h"
#include "access/rate_limiter.h"

namespace margin::access {
namespace {

constexpr std::int64_t kNow = 1'715'934'615'250;

// A folder of its own per test, gone afterwards.
class Keys : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "margin_keys_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    path_ = folder_ + "/margin.db.keys";
  }
  void TearDown() override {
    unlink(path_.c_str());
    unlink((path_ + ".lock").c_str());
    EXPECT_EQ(rmdir(folder_.c_str()), 0) << "something was left behind";
  }

  std::string create(std::string_view scopes, const std::string& name = "app") {
    const Result<std::string> key = create_key(path_, {.name = name, .scopes = parse_scopes(scopes).value()}, kNow);
    EXPECT_TRUE(key.ok()) << (key.ok() ? "" : key.error().message);
    return key.ok() ? *key : "";
  }
  [[nodiscard]] KeyRing ring() const {
    Result<KeyRing> loaded = KeyRing::load(path_);
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
    return loaded.ok() ? *std::move(loaded) : KeyRing();
  }
  [[nodiscard]] std::string content() const {
    std::ifstream in(path_);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }

  std::string folder_;
  std::string path_;
};

TEST_F(Keys, ANewKeyOpensItsScopesAndNothingElse) {
  const std::string key = create("decide,feedback");
  const KeyRing keys = ring();
  const Result<const Key*> found = keys.authenticate(key);
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE((*found)->grant.scopes.has(Scope::kDecide));
  EXPECT_TRUE((*found)->grant.scopes.has(Scope::kFeedback));
  EXPECT_FALSE((*found)->grant.scopes.has(Scope::kAdmin));
  EXPECT_FALSE((*found)->grant.scopes.has(Scope::kRead));
  EXPECT_EQ((*found)->created_ms, kNow);
}

TEST_F(Keys, TheFileHasTheHashAndNeverTheSecretAndIsPrivate) {
  const std::string key = create("read");
  const KeyParts parts = split_key(key).value();
  EXPECT_EQ(content().find(parts.secret), std::string::npos);
  EXPECT_NE(content().find(parts.id), std::string::npos);
  struct stat status {};
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(Keys, WrongSecretsUnknownIdsAndOtherFormsAreRefused) {
  const std::string key = create("decide");
  const KeyRing keys = ring();
  for (std::size_t i = 0; i < key.size(); ++i) {
    std::string other = key;
    other[i] = other[i] == 'x' ? 'y' : 'x';
    EXPECT_FALSE(keys.authenticate(other).ok()) << i;
  }
  EXPECT_EQ(keys.authenticate(join_key({std::string(12, 'a'), std::string(48, 'b')})).error().message, "the key is not known");
  std::string wrong = key;
  wrong.back() = wrong.back() == 'x' ? 'y' : 'x';
  EXPECT_EQ(keys.authenticate(wrong).error().message, "the key is not known");
  for (const std::string& form : {std::string(), key + "a", key.substr(1), key.substr(0, key.size() - 1), " " + key, "Bearer " + key}) {
    EXPECT_EQ(keys.authenticate(form).error().code, ErrorCode::kInvalidArgument) << form;
  }
  EXPECT_FALSE(KeyRing().authenticate(key).ok());
}

TEST_F(Keys, ARevokedKeyOpensNothingAndOthersStay) {
  const std::string first = create("decide");
  const std::string second = create("decide");
  const std::string id(split_key(first)->id);
  ASSERT_TRUE(revoke_key(path_, id, kNow + 1).ok());
  const KeyRing keys = ring();
  EXPECT_EQ(keys.authenticate(first).error().code, ErrorCode::kConflict);
  EXPECT_TRUE(keys.authenticate(second).ok());
  EXPECT_TRUE(keys.any_valid());
  EXPECT_EQ(keys.find_valid(id), nullptr);
  EXPECT_EQ(keys.find_valid(split_key(second)->id), *keys.authenticate(second));
  EXPECT_EQ(keys.find_valid("nobodynobody"), nullptr);
  EXPECT_EQ(revoke_key(path_, id, kNow).error().code, ErrorCode::kConflict);
  EXPECT_EQ(revoke_key(path_, "nobodynobody", kNow).error().code, ErrorCode::kNotFound);
  ASSERT_TRUE(revoke_key(path_, split_key(second)->id, kNow).ok());
  EXPECT_FALSE(ring().any_valid());
  EXPECT_FALSE(ring().empty()) << "there were keys once";
  EXPECT_TRUE(KeyRing().empty());
}

TEST_F(Keys, ConcurrentCreatesLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kEach = 15;
  std::vector<std::vector<std::string>> made(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) made[static_cast<std::size_t>(t)].push_back(create("read"));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const KeyRing keys = ring();
  EXPECT_EQ(keys.keys().size(), static_cast<std::size_t>(kThreads * kEach));
  for (const auto& some : made) {
    for (const std::string& key : some) EXPECT_TRUE(keys.authenticate(key).ok());
  }
}

TEST_F(Keys, EveryFieldComesBackFromTheFile) {
  const KeyGrant grant = {
      .name = "Zoë \"q\"", .scopes = parse_scopes("infer,admin").value(), .tenant = "acme_1", .weight = 0.25, .requests_per_second = 12.5};
  ASSERT_TRUE(create_key(path_, grant, kNow).ok());
  const KeyRing keys = ring();
  const Key& key = keys.keys().front();
  EXPECT_EQ(key.grant.name, grant.name);
  EXPECT_EQ(key.grant.scopes, grant.scopes);
  EXPECT_EQ(key.grant.tenant, grant.tenant);
  EXPECT_EQ(key.grant.weight, 0.25);
  EXPECT_EQ(key.grant.requests_per_second, 12.5);
  EXPECT_FALSE(key.revoked_ms.has_value());
  EXPECT_EQ(keys.text(), content());
}

TEST_F(Keys, AMissingFileIsNoKeysAndADamagedOneIsAnError) {
  EXPECT_TRUE(ring().keys().empty());
  create("read");
  const std::string good = content();
  for (std::size_t length = 1; length + 1 < good.size(); ++length) {
    EXPECT_FALSE(KeyRing::parse(good.substr(0, length), "k").ok()) << length;
  }
  const auto refused = [&](std::string from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    const Result<KeyRing> keys = KeyRing::parse(text, "k");
    return keys.ok() ? "was accepted" : keys.error().message;
  };
  EXPECT_EQ(refused("\"weight\":1", "\"weight\":1.5"), "k:1: weight: got 1.5, expected a number in [0, 1]");
  EXPECT_EQ(refused("\"weight\":1", "\"wait\":1"), "k:1: wait: unknown, stated twice, or not what a key has there");
  EXPECT_EQ(refused("\"scopes\":\"read\"", "\"scopes\":\"root\"").find("k:1: scopes: "), 0U);
  EXPECT_EQ(refused("\"tenant\":\"\"", "\"tenant\":\"../x\"").find("k:1: tenant: got"), 0U);
  EXPECT_EQ(KeyRing::parse(good + good, "k").error().message.find("k:2: a second key "), 0U);
  EXPECT_FALSE(KeyRing::load(folder_).ok()) << "a folder is no file of keys";
  for (const char* nothing : {"", "\n"}) {
    std::ofstream(path_, std::ios::trunc) << nothing;
    EXPECT_EQ(KeyRing::load(path_).error().code, ErrorCode::kCorrupt) << "taken for no file at all it would open the server";
  }
}

TEST_F(Keys, AFileThatCannotBeUnderstoodIsNotOverwritten) {
  std::ofstream(path_) << "not keys\n";
  EXPECT_FALSE(create_key(path_, {.name = "n", .scopes = parse_scopes("read").value()}, kNow).ok());
  EXPECT_EQ(content(), "not keys\n");
}

TEST(Grant, BadOnesAreNamed) {
  const Scopes read = parse_scopes("read").value();
  EXPECT_TRUE(check_grant({.name = "n", .scopes = read, .tenant = std::string(32, 'a')}).ok());
  EXPECT_FALSE(check_grant({.name = "n", .scopes = read, .tenant = std::string(33, 'a')}).ok());
  EXPECT_FALSE(check_grant({.name = "n", .scopes = read, .tenant = "A"}).ok());
  EXPECT_FALSE(check_grant({.name = "", .scopes = read}).ok());
  EXPECT_TRUE(check_grant({.name = std::string(128, 'n'), .scopes = read}).ok());
  EXPECT_FALSE(check_grant({.name = std::string(129, 'n'), .scopes = read}).ok());
  EXPECT_FALSE(check_grant({.name = "a\nb", .scopes = read}).ok());
  EXPECT_FALSE(check_grant({.name = "n"}).ok());
  EXPECT_FALSE(check_grant({.name = "n", .scopes = read, .weight = -0.1}).ok());
  EXPECT_FALSE(check_grant({.name = "n", .scopes = read, .requests_per_second = -1}).ok());
  EXPECT_EQ(parse_scopes("decide,reed").error().message, "no scope named \"reed\" (did you mean read?)");
  EXPECT_FALSE(parse_scopes("").ok());
  EXPECT_FALSE(parse_scopes("decide,").ok());
  EXPECT_EQ(parse_scopes("feedback,decide")->text(), "decide,feedback");
}

TEST(Secrets, LettersAreEquallyLikely) {
  // 62 letters, 62000 draws: chi-square with 61 degrees of freedom exceeds 150 with a chance below 1e-8.
  std::map<char, int> counts;
  const std::string drawn = random_text(62'000).value();
  for (const char c : drawn) ++counts[c];
  ASSERT_EQ(counts.size(), 62U);
  double chi_square = 0.0;
  for (const auto& [letter, count] : counts) chi_square += (count - 1000.0) * (count - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 150.0);
  EXPECT_NE(random_text(48).value(), random_text(48).value());
}

TEST_F(Keys, ThroughALinkTheFileBehindItIsChanged) {
  const std::string key = create("read");
  const std::string link = folder_ + "/link";
  ASSERT_EQ(symlink("margin.db.keys", link.c_str()), 0);
  EXPECT_TRUE(revoke_key(link, split_key(key)->id, kNow).ok());
  EXPECT_FALSE(ring().any_valid());
  EXPECT_EQ(unlink(link.c_str()), 0);
}

TEST(Secrets, Sha256IsThePublishedOne) {
  // FIPS 180-4, "abc".
  const Sha256 digest = sha256("abc");
  EXPECT_EQ(key_line({.secret = digest}).find("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") != std::string::npos,
            true);
}

TEST(RateLimiter, AllowsTheRateAndSaysHowLongToWait) {
  RateLimiter limiter(10);
  int allowed = 0;
  for (int ms = 0; ms < 10'000; ++ms) {
    for (int i = 0; i < 3; ++i) allowed += limiter.wait_ms("a", 20.0, ms) == 0 ? 1 : 0;
  }
  EXPECT_NEAR(allowed, 20 + 200, 1);  // a full bucket, then the rate
  EXPECT_EQ(limiter.wait_ms("a", 20.0, 10'000), 0);
  const std::int64_t wait = limiter.wait_ms("a", 20.0, 10'000);
  EXPECT_GT(wait, 0);
  EXPECT_LE(wait, 50);
  EXPECT_EQ(limiter.wait_ms("a", 20.0, 10'000 + wait), 0) << "after the wait it may go on";
  EXPECT_EQ(limiter.wait_ms("b", 20.0, 10'000), 0) << "keys do not share";
}

TEST(RateLimiter, SlowRatesGiveOneRequestAndZeroIsNoLimit) {
  RateLimiter limiter(10);
  EXPECT_EQ(limiter.wait_ms("a", 0.5, 0), 0);
  EXPECT_EQ(limiter.wait_ms("a", 0.5, 0), 2000);
  EXPECT_GT(limiter.wait_ms("b", 1e-300, 0) + limiter.wait_ms("b", 1e-300, 0), 0);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(limiter.wait_ms("c", 0.0, 0), 0);
}

TEST(RateLimiter, AClockThatGoesBackGivesNothingAway) {
  RateLimiter limiter(10);
  EXPECT_EQ(limiter.wait_ms("a", 1.0, 5000), 0);
  EXPECT_EQ(limiter.wait_ms("a", 1.0, 0), 1000) << "no time has passed, forward or back";
  EXPECT_GT(limiter.wait_ms("a", 1.0, 5000), 0);
  EXPECT_EQ(limiter.wait_ms("a", 1.0, 6000), 0);
}

TEST(RateLimiter, MemoryIsBounded) {
  RateLimiter limiter(100);
  for (int i = 0; i < 10'000; ++i) EXPECT_EQ(limiter.wait_ms(std::to_string(i), 1.0, i / 10), 0);
  EXPECT_LE(limiter.buckets(), 100U);
}

}  // namespace
}  // namespace margin::access
