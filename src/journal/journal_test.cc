// The operator's log: its two formats, what never appears in it, and that nobody waits for a reader.
#include "journal/journal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "journal/redact.h"

namespace margin::journal {
namespace {

constexpr std::int64_t kNow = 1'715'934'615'250;

// A journal that writes into a pipe.
class JournalTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(pipe(ends_), 0);
    ASSERT_EQ(fcntl(ends_[0], F_SETFL, O_NONBLOCK), 0);
  }
  void TearDown() override {
    close(ends_[0]);
    close(ends_[1]);
  }
  Journal journal(Format format, Level level = Level::kInfo) {
    return Journal(ends_[1], {format, level}, [] { return kNow; });
  }
  std::string written() {
    std::string text;
    char buffer[4096];
    for (ssize_t count = 0; (count = read(ends_[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(count));
    return text;
  }
  int ends_[2] = {-1, -1};
};

TEST_F(JournalTest, JsonIsOneObjectPerLine) {
  Journal out = journal(Format::kJson);
  out.info("listening", {{"address", "127.0.0.1:8080"}, {"pools", std::int64_t{3}}, {"milliseconds", 1.5}});
  EXPECT_EQ(
      written(),
      "{\"time\":\"2024-05-17T08:30:15.250Z\",\"level\":\"info\",\"message\":\"listening\",\"address\":\"127.0.0.1:8080\",\"pools\":3,"
      "\"milliseconds\":1.5}\n");
}

TEST_F(JournalTest, PrettyIsForPeopleAndHasNoColourOnAPipe) {
  Journal out = journal(Format::kPretty);
  out.warning("slow client", {{"name", "a b"}, {"empty", ""}, {"seconds", 2.0}});
  EXPECT_EQ(written(), "2024-05-17T08:30:15.250Z warning slow client name=\"a b\" empty=\"\" seconds=2\n");
}

TEST_F(JournalTest, LevelsBelowTheAskedOneAreSilentAndAReloadChangesThat) {
  Journal out = journal(Format::kPretty, Level::kWarning);
  out.info("not this");
  EXPECT_FALSE(out.takes(Level::kInfo));
  EXPECT_EQ(written(), "");
  out.set({Format::kJson, Level::kDebug});
  out.debug("this");
  EXPECT_EQ(written(), "{\"time\":\"2024-05-17T08:30:15.250Z\",\"level\":\"debug\",\"message\":\"this\"}\n");
}

TEST_F(JournalTest, HostileTextForgesNoLineAndMovesNoCursor) {
  for (const Format format : {Format::kPretty, Format::kJson}) {
    Journal out = journal(format);
    out.error("x\n2024 error forged\x1b[2J", {{"model", "a\r\nb\x07\xff"}});
    const std::string text = written();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    EXPECT_EQ(text.find('\r'), std::string::npos);
    EXPECT_EQ(text.find('\x07'), std::string::npos);
    EXPECT_EQ(text.find('\xff'), std::string::npos);
  }
}

TEST_F(JournalTest, SecretsAreMaskedInMessagesAndDetails) {
  const std::string key = "sk-mg-AbCdEfGhIjKl-" + std::string(48, 's');
  for (const Format format : {Format::kPretty, Format::kJson}) {
    Journal out = journal(format);
    out.info("got " + key, {{"header", std::string_view("Authorization: Bearer abcdef0123456789")}, {"key", key}});
    const std::string text = written();
    EXPECT_EQ(text.find("ssss"), std::string::npos);
    EXPECT_EQ(text.find("abcdef"), std::string::npos);
    EXPECT_NE(text.find("sk-mg-AbCdEfGhIjKl-***"), std::string::npos) << "the public part may be seen";
  }
}

TEST_F(JournalTest, LongLinesAreCutAndStayJson) {
  Journal out = journal(Format::kJson);
  const std::string long_text(100'000, '\x01');
  out.info(long_text, {{"a", long_text}, {"b", "kept out"}});
  const std::string text = written();
  EXPECT_LE(text.size(), Journal::kLineBytesMax);
  EXPECT_TRUE(text.ends_with("\"truncated\":true}\n")) << text.substr(text.size() - 60);
}

TEST_F(JournalTest, AReaderThatStallsCostsLinesAndTheNextLineSaysHowMany) {
  Journal out = journal(Format::kPretty);
  const auto start = std::chrono::steady_clock::now();
  const std::string filler(400, 'x');
  for (int i = 0; i < 2000; ++i) out.info(filler);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took, std::chrono::seconds(20)) << "one patience, not one per line (which were 90 s)";
  const std::uint64_t lost = out.dropped();
  EXPECT_GT(lost, 1000U);
  const std::string before = written();
  EXPECT_EQ(static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')) + lost, 2000U);
  out.info("back");
  EXPECT_EQ(written(), "2024-05-17T08:30:15.250Z warning log lines were lost: nobody read them in time lines=" + std::to_string(lost) +
                           "\n2024-05-17T08:30:15.250Z info    back\n");
}

TEST_F(JournalTest, AReaderThatIsGoneIsSurvived) {
  Journal out = journal(Format::kPretty);
  close(ends_[0]);
  ends_[0] = -1;
  out.info("nobody hears this");
  EXPECT_EQ(out.dropped(), 1U);
}

TEST_F(JournalTest, LinesOfManyThreadsStayWhole) {
  Journal out = journal(Format::kPretty);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&out, t] {
      for (int i = 0; i < 50; ++i) out.info(std::string(100, static_cast<char>('a' + t)));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::string text = written();
  ASSERT_EQ(std::count(text.begin(), text.end(), '\n'), 200);
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    const std::string message = line.substr(line.size() - 100);
    EXPECT_EQ(message, std::string(100, message[0]));
  }
}

TEST(Redact, MasksWhatLooksLikeASecretAndLeavesTheRest) {
  EXPECT_EQ(redact("sk-proj-abcdefghijkl1234"), "sk-***");
  EXPECT_EQ(redact("(sk-mg-AbCdEfGhIjKl-secretsecret)"), "(sk-mg-AbCdEfGhIjKl-***)");
  EXPECT_EQ(redact("sk-mg-AbCdEfGhIjKlsecretsecret"), "sk-***");
  EXPECT_EQ(redact("Authorization: Bearer a.b-c_d/e+f=="), "Authorization: Bearer ***");
  EXPECT_EQ(redact("authorization=dG9rZW4="), "authorization=***");
  EXPECT_EQ(redact("{\"Authorization\":\"Basic dXNlcjpwYXNz\"}"), "{\"Authorization\":\"Basic ***\"}");
  EXPECT_EQ(redact("X-Api-Key: 12345 next"), "X-Api-Key: *** next");
  EXPECT_EQ(redact("BEARER  abc"), "BEARER  ***");
  for (const std::string_view plain :
       {"", "a bearer", "task-force sk-it risk-management-of-things", "authorization failed", "basically fine"}) {
    EXPECT_EQ(redact(plain), plain);
  }
}

}  // namespace
}  // namespace margin::journal
