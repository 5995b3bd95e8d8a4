// TLS with certificates made by the openssl program at test time, against a client of OpenSSL's own.
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "http/testing.h"

namespace margin::http {
namespace {

namespace fs = std::filesystem;

class Tls : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("margin_tls_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    options_ = {.certificate_file = folder_ / "certificate.pem", .key_file = folder_ / "key.pem"};
    make_certificate("first");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void make_certificate(const std::string& name) const {
    const std::string command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=" + name +
                                " -keyout " + options_.key_file + " -out " + options_.certificate_file + " 2>/dev/null";
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
  }

  fs::path folder_;
  ListenOptions options_;
};

class TlsClient {
 public:
  explicit TlsClient(std::uint16_t port, const char* protocol = "\x08http/1.1", int max_version = TLS1_3_VERSION) {
    SSL_CTX_set_max_proto_version(context_.get(), max_version);
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    SSL_CTX_set_security_level(context_.get(), 0);
    bio_.reset(BIO_new_ssl_connect(context_.get()));
    BIO_get_ssl(bio_.get(), &ssl_);
    SSL_set_alpn_protos(ssl_, reinterpret_cast<const unsigned char*>(protocol), static_cast<unsigned>(std::strlen(protocol)));
    BIO_set_conn_hostname(bio_.get(), ("127.0.0.1:" + std::to_string(port)).c_str());
    connected = BIO_do_connect(bio_.get()) == 1 && BIO_do_handshake(bio_.get()) == 1;
  }

  void send(std::string_view bytes) {
    EXPECT_EQ(BIO_write(bio_.get(), bytes.data(), static_cast<int>(bytes.size())), static_cast<int>(bytes.size()));
  }
  // Until `bytes` are there or the server ends.
  std::string read(std::size_t bytes = SIZE_MAX) {
    std::string all;
    char piece[16384];
    while (all.size() < bytes) {
      const int count = BIO_read(bio_.get(), piece, sizeof piece);
      if (count <= 0) break;
      all.append(piece, static_cast<std::size_t>(count));
    }
    return all;
  }
  // The server said that nothing more comes, so that the answer cannot have been cut by a stranger.
  [[nodiscard]] bool ended_properly() const { return (SSL_get_shutdown(ssl_) & SSL_RECEIVED_SHUTDOWN) != 0; }
  [[nodiscard]] std::string server_name() const {
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(SSL_get1_peer_certificate(ssl_), X509_free);
    char name[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate.get()), NID_commonName, name, sizeof name);
    return name;
  }

  bool connected = false;

 private:
  std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_{SSL_CTX_new(TLS_client_method()), SSL_CTX_free};
  std::unique_ptr<BIO, decltype(&BIO_free_all)> bio_{nullptr, BIO_free_all};
  SSL* ssl_ = nullptr;
};

constexpr std::string_view kLastRequest = "GET /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";

TEST_F(Tls, ServesAndEndsProperly) {
  TestServer server(echo, {}, options_);
  TlsClient client(server.port());
  ASSERT_TRUE(client.connected);
  client.send(kLastRequest);
  const std::string answer = client.read();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\nGET /a ")) << answer;
  EXPECT_TRUE(client.ended_properly());
}

TEST_F(Tls, LargeBodiesGoBothWays) {
  TestServer server([](const Request& request, Reply reply) { std::move(reply).send(text(std::string(request.body))); }, {}, options_);
  TlsClient client(server.port());
  ASSERT_TRUE(client.connected);
  const std::string body(900'000, 'b');
  client.send("POST / HTTP/1.1\r\nHost: h\r\nConnection: close\r\nContent-Length: 900000\r\n\r\n" + body);
  EXPECT_TRUE(client.read().ends_with("\r\n\r\n" + body));
}

TEST_F(Tls, StreamsFlow) {
  std::optional<Stream> stream;
  TestServer server([&](const Request&, Reply reply) { stream.emplace(std::move(reply).start_stream(text("first"))); }, {}, options_);
  TlsClient client(server.port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  std::string seen;
  while (!seen.ends_with("5\r\nfirst\r\n")) seen += client.read(1);
  server.on_loop([&] { stream->write("second"); });
  EXPECT_EQ(client.read(11), "6\r\nsecond\r\n");
  server.on_loop([&] { stream->close(); });
  EXPECT_EQ(client.read(5), "0\r\n\r\n");
  server.on_loop([&] { stream.reset(); });
}

TEST_F(Tls, ReloadServesTheNewCertificateAndABadOneChangesNothing) {
  TestServer server(echo, {}, options_);
  EXPECT_EQ(TlsClient(server.port()).server_name(), "first");
  make_certificate("second");
  EXPECT_EQ(TlsClient(server.port()).server_name(), "first");
  TlsClient old(server.port());
  server.on_loop([&] { EXPECT_TRUE(server.server().reload_certificates().ok()); });
  EXPECT_EQ(TlsClient(server.port()).server_name(), "second");
  old.send(kLastRequest);  // connections made before go on
  EXPECT_NE(old.read(), "");
  std::ofstream(options_.certificate_file) << "nonsense";
  server.on_loop([&] {
    const Status status = server.server().reload_certificates();
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(status.error().message.find(options_.certificate_file), std::string::npos);
  });
  EXPECT_EQ(TlsClient(server.port()).server_name(), "second");
}

TEST_F(Tls, FilesThatAreMissingOrDoNotBelongTogetherAreRefused) {
  class Unasked final : public Handler {
    void handle(const Request&, Reply) override {}
  } handler;
  Loop loop;
  const auto code_of = [&](const ListenOptions& options) {
    const Status status = Server(loop, options, {}, handler).start();
    EXPECT_FALSE(status.ok());
    return status.error().code;
  };
  EXPECT_EQ(code_of({.certificate_file = options_.certificate_file}), ErrorCode::kNotFound);
  EXPECT_EQ(code_of({.key_file = options_.key_file}), ErrorCode::kNotFound);
  EXPECT_EQ(code_of({.certificate_file = folder_ / "absent", .key_file = options_.key_file}), ErrorCode::kNotFound);
  EXPECT_EQ(code_of({.certificate_file = options_.key_file, .key_file = options_.key_file}), ErrorCode::kCorrupt);
  fs::copy_file(options_.key_file, folder_ / "old_key.pem");
  make_certificate("second");
  EXPECT_EQ(code_of({.certificate_file = options_.certificate_file, .key_file = folder_ / "old_key.pem"}), ErrorCode::kCorrupt);
}

TEST_F(Tls, ThoseWhoSpeakOtherwiseAreDropped) {
  TestServer server(echo, {.header_timeout = std::chrono::milliseconds(200)}, options_);
  Client plain(server.port());
  plain.get("/");
  EXPECT_TRUE(plain.closed());
  Client silent(server.port());
  EXPECT_EQ(silent.rest(), "");
  EXPECT_FALSE(TlsClient(server.port(), "\x02h2").connected);
  EXPECT_FALSE(TlsClient(server.port(), "\x08http/1.1", TLS1_1_VERSION).connected);
  EXPECT_TRUE(TlsClient(server.port(), "\x08http/1.1", TLS1_2_VERSION).connected);
  EXPECT_EQ(server.counters().tls_failures, 3U);
  EXPECT_EQ(server.counters().requests, 0U);
}

}  // namespace
}  // namespace margin::http
