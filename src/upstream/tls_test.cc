// Encryption and proxies: who is trusted, what is resumed, what a proxy is told. Certificates are made by the openssl program.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "upstream/testing.h"

namespace margin::upstream {
namespace {

namespace fs = std::filesystem;

class UpstreamTls : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("margin_upstream_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    make_certificate("DNS:localhost,DNS:model.example,IP:127.0.0.1");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void make_certificate(const std::string& names) {
    const std::string command =
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=model -addext subjectAltName=" +
        names + " -keyout " + key_file() + " -out " + certificate_file() + " 2>/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
    SSL_CTX_use_certificate_file(context_.get(), certificate_file().c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(context_.get(), key_file().c_str(), SSL_FILETYPE_PEM);
  }
  [[nodiscard]] std::string certificate_file() const { return folder_ / "certificate.pem"; }
  [[nodiscard]] std::string key_file() const { return folder_ / "key.pem"; }
  [[nodiscard]] Settings trusting(const ScriptedServer& server, const std::string& host) const {
    Settings settings = settings_for("https://" + host + ":" + std::to_string(server.port()) + "/v1");
    settings.ca_file = certificate_file();
    return settings;
  }
  // Serves one request of each connection, encrypted.
  ScriptedServer::Script serve_encrypted() {
    return [this](Peer& peer) {
      if (!peer.start_tls(context_.get()) || !peer.read_request()) return;
      if (peer.resumed()) ++resumed_;
      peer.reply("\"" + peer.server_name() + "\"", "200 OK", "Connection: close\r\n");
    };
  }

  fs::path folder_;
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{SSL_CTX_new(TLS_server_method()), SSL_CTX_free};
  std::atomic<int> resumed_ = 0;
};

TEST_F(UpstreamTls, AServerThatTheCaFileVouchesForIsSpokenToAndItsSessionResumed) {
  ScriptedServer server(serve_encrypted());
  Asker asker(trusting(server, "localhost"));
  for (int i = 0; i < 3; ++i) {
    const Outcome outcome = asker.ask();
    EXPECT_FALSE(outcome.failure) << outcome.message;
    EXPECT_EQ(outcome.body, "\"localhost\"") << "the name is told to the server";
  }
  EXPECT_EQ(server.connections(), 3U);
  EXPECT_GE(resumed_, 1);
}

TEST_F(UpstreamTls, AnAddressIsVerifiedToo) {
  ScriptedServer server(serve_encrypted());
  const Outcome outcome = Asker(trusting(server, "127.0.0.1")).ask();
  EXPECT_FALSE(outcome.failure) << outcome.message;
  EXPECT_EQ(outcome.body, "\"\"") << "addresses are no server names";
}

TEST_F(UpstreamTls, AnUntrustedCertificateIsRefusedBeforeTheKeyIsSent) {
  std::atomic<bool> asked = false;
  ScriptedServer server([&](Peer& peer) { asked = peer.start_tls(context_.get()) && peer.read_request(); });
  Settings settings = trusting(server, "localhost");
  settings.ca_file.clear();
  const Outcome outcome = Asker(settings).ask();
  EXPECT_EQ(outcome.failure, Failure::kTls);
  EXPECT_EQ(outcome.attempts, 1);
  EXPECT_EQ(outcome.message, "upstream 'model-a': its certificate is not accepted: self-signed certificate");
  EXPECT_FALSE(asked);
}

TEST_F(UpstreamTls, ATrustedCertificateForAnotherHostIsRefused) {
  make_certificate("DNS:other.example,DNS:*.localhost,IP:127.0.0.2");
  ScriptedServer server(serve_encrypted());
  const Outcome by_name = Asker(trusting(server, "localhost")).ask();
  EXPECT_EQ(by_name.failure, Failure::kTls);
  EXPECT_EQ(by_name.message, "upstream 'model-a': its certificate is not accepted: hostname mismatch");
  const Outcome by_address = Asker(trusting(server, "127.0.0.1")).ask();
  EXPECT_EQ(by_address.failure, Failure::kTls);
  EXPECT_EQ(by_address.message, "upstream 'model-a': its certificate is not accepted: IP address mismatch");
}

TEST_F(UpstreamTls, AnEncryptedConnectionIsUsedAgain) {
  ScriptedServer server([&](Peer& peer) {
    if (!peer.start_tls(context_.get())) return;
    while (peer.read_request()) peer.reply(peer.body);
  });
  Asker asker(trusting(server, "localhost"));
  const std::string large(200'000, 'x');
  for (const std::string& body : {std::string("small"), large, std::string("again")}) {
    const Outcome outcome = asker.ask(Ask{.body = body});
    EXPECT_FALSE(outcome.failure) << outcome.message;
    EXPECT_TRUE(outcome.body == body);
  }
  EXPECT_EQ(server.connections(), 1U);
}

// Without a close_notify anybody on the way could have cut it.
TEST_F(UpstreamTls, AReplyThatOnlyTheConnectionsEndCompletesMustEndProperly) {
  ScriptedServer server([&](Peer& peer) {
    if (!peer.start_tls(context_.get()) || !peer.read_request()) return;
    peer.send("HTTP/1.1 200 OK\r\n\r\nperhaps all");
  });
  EXPECT_EQ(Asker(trusting(server, "localhost")).ask().failure, Failure::kCut);
}

TEST_F(UpstreamTls, APlainServerIsATlsFailure) {
  ScriptedServer server([](Peer& peer) {
    peer.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    peer.wait_closed();
  });
  const Outcome outcome = Asker(trusting(server, "localhost")).ask();
  EXPECT_EQ(outcome.failure, Failure::kTls);
  EXPECT_TRUE(outcome.message.starts_with("upstream 'model-a': the TLS handshake failed: ")) << outcome.message;
}

TEST_F(UpstreamTls, AHandshakeThatNeverEndsIsAConnectFailure) {
  ScriptedServer server([](Peer& peer) {
    while (!peer.wait_closed()) {
    }
  });
  Settings settings = trusting(server, "localhost");
  settings.connect_timeout = 50ms;
  settings.retries_max = 1;
  const Outcome outcome = Asker(settings).ask();
  EXPECT_EQ(outcome.failure, Failure::kConnect);
  EXPECT_EQ(outcome.message, "upstream 'model-a': no connection within 50 ms");
  EXPECT_EQ(outcome.attempts, 2);
}

TEST_F(UpstreamTls, AnEncryptedRequestGoesThroughAProxysTunnel) {
  std::string connect;
  ScriptedServer proxy([&](Peer& peer) {
    peer.read_request();
    connect = peer.head;
    peer.send("HTTP/1.1 200 Connection established\r\nContent-Length: 10\r\n\r\n");  // a length that means nothing here
    serve_encrypted()(peer);
  });
  Settings settings = settings_for("https://model.example/v1");
  settings.ca_file = certificate_file();
  Asker asker(settings, {{"https_proxy", "http://me:p%40ss@127.0.0.1:" + std::to_string(proxy.port())}});
  const Outcome outcome = asker.ask();
  EXPECT_FALSE(outcome.failure) << outcome.message;
  EXPECT_EQ(outcome.body, "\"model.example\"");
  EXPECT_EQ(connect, "CONNECT model.example:443 HTTP/1.1\r\nHost: model.example:443\r\nProxy-Authorization: Basic bWU6cEBzcw==\r\n\r\n");
}

TEST_F(UpstreamTls, AProxyThatRefusesIsAConnectFailure) {
  ScriptedServer proxy([](Peer& peer) {
    peer.read_request();
    peer.send("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
    peer.wait_closed();
  });
  Settings settings = settings_for("https://model.example/v1");
  settings.retries_max = 0;
  Asker asker(settings, {{"HTTPS_PROXY", "127.0.0.1:" + std::to_string(proxy.port())}});
  const Outcome outcome = asker.ask();
  EXPECT_EQ(outcome.failure, Failure::kConnect);
  EXPECT_EQ(outcome.message, "upstream 'model-a': the proxy refused with status 407");
}

TEST_F(UpstreamTls, APlainRequestIsGivenToTheProxyAsAWholeUrl) {
  std::string head;
  ScriptedServer proxy([&](Peer& peer) {
    peer.read_request();
    head = peer.head;
    peer.reply("{}");
  });
  Asker asker(settings_for("http://model.example:8000/v1"), {{"http_proxy", "http://a:b@127.0.0.1:" + std::to_string(proxy.port())}});
  EXPECT_FALSE(asker.ask().failure);
  EXPECT_TRUE(head.starts_with("POST http://model.example:8000/v1/chat/completions HTTP/1.1\r\nHost: model.example:8000\r\n")) << head;
  EXPECT_NE(head.find("\r\nProxy-Authorization: Basic YTpi\r\n"), std::string::npos) << head;
}

}  // namespace
}  // namespace margin::upstream
