// Who may talk to a server: certificates, tokens, addresses, limits.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "absl/strings/match.h"
#include "base/env.h"
#include "distributed/certificates.h"
#include "distributed/network_options.h"
#include "distributed/rpc.h"
#include "distributed/server_test_util.h"
#include "distributed/task_server.h"
#include "graph/graph_test_util.h"
#include "headrace/importer.h"

namespace headrace {
namespace {

class SecurityTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = JoinPath(::testing::TempDir(), "certs_XXXXXX");
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    Env::Default()->DeleteRecursively(folder_).IgnoreError();
  }
  std::string Certs(const char* name, int64_t seconds = 3600) {
    CertificateOptions options;
    options.folder = JoinPath(folder_, name);
    options.seconds = seconds;
    EXPECT_EQ(MakeCertificateFiles(options), OkStatus());
    return options.folder;
  }
  std::string File(const char* name, const std::string& text) {
    const std::string path = JoinPath(folder_, name);
    EXPECT_EQ(Env::Default()->WriteFile(path, text), OkStatus());
    return path;
  }
  static std::unique_ptr<RpcServer> Serve() {
    RpcHandlers handlers;
    handlers["/echo"] = [](const std::shared_ptr<RpcCall>& call) {
      call->Finish(OkStatus(), WireBytes(call->peer()));
    };
    std::unique_ptr<RpcServer> server;
    EXPECT_EQ(MoveTo(RpcServer::Start("localhost:0", handlers), &server),
              OkStatus());
    return server;
  }
  static Status Call(int port, std::string* answer = nullptr) {
    std::shared_ptr<RpcChannel> channel;
    HR_RETURN_IF_ERROR(
        MoveTo(NewRpcChannel(StrCat("localhost:", port)), &channel));
    CallOptions options;
    options.timeout = absl::Seconds(20);
    options.wait_for_ready = true;
    WireBytes response;
    const Status s = channel->Call("/echo", {}, options, &response);
    if (answer != nullptr) *answer = response.Flatten();
    return s;
  }

  std::string folder_;
};

TEST_F(SecurityTest, BothSidesWithCertificates) {
  const Variable tls("HEADRACE_TLS_DIR", Certs("a"));
  const std::unique_ptr<RpcServer> server = Serve();
  std::string peer;
  EXPECT_EQ(Call(server->port(), &peer), OkStatus());
  EXPECT_TRUE(peer == "127.0.0.1" || peer == "[::1]") << peer;
  // Keys are for their owner.
  for (const char* key : {"ca.key", "server.key", "client.key"}) {
    struct stat info;
    ASSERT_EQ(stat(JoinPath(JoinPath(folder_, "a"), key).c_str(), &info), 0)
        << key;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << key;
  }
}

// A new certificate of the same CA is as good.
TEST_F(SecurityTest, CertificatesAreRenewed) {
  std::unique_ptr<RpcServer> server;
  std::string first;
  {
    const Variable tls("HEADRACE_TLS_DIR", Certs("a"));
    ASSERT_EQ(
        Env::Default()->ReadFile(JoinPath(folder_, "a/client.pem"), &first),
        OkStatus());
    server = Serve();
  }
  const Variable tls("HEADRACE_TLS_DIR", Certs("a"));
  std::string second;
  ASSERT_EQ(
      Env::Default()->ReadFile(JoinPath(folder_, "a/client.pem"), &second),
      OkStatus());
  EXPECT_NE(first, second);
  EXPECT_EQ(Call(server->port()), OkStatus());
}

TEST_F(SecurityTest, TheWrongCaIsRefusedByTheClient) {
  std::unique_ptr<RpcServer> server;
  {
    const Variable tls("HEADRACE_TLS_DIR", Certs("a"));
    server = Serve();
  }
  const Variable tls("HEADRACE_TLS_DIR", Certs("b"));
  const Status s = Call(server->port());
  EXPECT_TRUE(errors::IsUnauthenticated(s)) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "b/ca.pem")) << s;
}

// The client trusts the server's CA but shows a certificate of another.
TEST_F(SecurityTest, TheWrongCaIsRefusedByTheServer) {
  const std::string a = Certs("a"), b = Certs("b");
  std::unique_ptr<RpcServer> server;
  {
    const Variable tls("HEADRACE_TLS_DIR", a);
    server = Serve();
  }
  const TlsFiles files = {JoinPath(a, "ca.pem"), JoinPath(b, "client.pem"),
                          JoinPath(b, "client.key")};
  const Status s =
      TryConnection(StrCat("localhost:", server->port()), &files, [] {
        return false;
      }).status();
  EXPECT_TRUE(errors::IsUnauthenticated(s)) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "b/client.pem")) << s;
}

TEST_F(SecurityTest, AHostThatTheCertificateDoesNotName) {
  CertificateOptions options;
  options.folder = JoinPath(folder_, "a");
  options.hosts = {"example.com"};
  ASSERT_EQ(MakeCertificateFiles(options), OkStatus());
  const Variable tls("HEADRACE_TLS_DIR", options.folder);
  const std::unique_ptr<RpcServer> server = Serve();
  const Status s = Call(server->port());
  EXPECT_TRUE(errors::IsUnauthenticated(s)) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "mismatch")) << s;
}

TEST_F(SecurityTest, OneSideAloneEncrypts) {
  const std::string certs = Certs("a");
  std::unique_ptr<RpcServer> server;
  {
    const Variable tls("HEADRACE_TLS_DIR", certs);
    server = Serve();
  }
  Status s = Call(server->port());
  EXPECT_TRUE(errors::IsUnauthenticated(s)) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "HEADRACE_TLS_DIR")) << s;
  server = Serve();
  const Variable tls("HEADRACE_TLS_DIR", certs);
  s = Call(server->port());
  EXPECT_TRUE(errors::IsUnauthenticated(s)) << s;
}

TEST_F(SecurityTest, FilesThatCannotBeUsed) {
  const std::string good = Certs("good"), other = Certs("other"),
                    expired = Certs("expired", -60);
  const std::string junk = File("junk.pem", "junk");
  const struct {
    std::string ca, cert, key;
    const char* words;
  } cases[] = {
      {good + "/ca.pem", good + "/client.pem", good + "/client.key", ""},
      {good + "/ca.pem", expired + "/client.pem", expired + "/client.key",
       "has expired at"},
      {good + "/ca.pem", other + "/client.pem", other + "/client.key",
       "was not signed by"},
      {good + "/ca.pem", good + "/client.pem", good + "/server.key",
       "is no key of"},
      {junk, good + "/client.pem", good + "/client.key",
       "is no certificate in PEM"},
      {good + "/ca.pem", good + "/client.pem", junk, "is no private key"},
      {good + "/ca.pem", good + "/none.pem", good + "/client.key", "none.pem"},
  };
  for (const auto& c : cases) {
    const Status s = ReadTlsFiles({c.ca, c.cert, c.key}).status();
    EXPECT_EQ(s.ok(), *c.words == 0) << s;
    EXPECT_TRUE(absl::StrContains(s.message(), c.words)) << s;
    const Variable v1("HEADRACE_TLS_CA", c.ca), v2("HEADRACE_TLS_CERT", c.cert),
        v3("HEADRACE_TLS_KEY", c.key);
    EXPECT_EQ(NewRpcChannel("example.com:1").status(), s);
    EXPECT_EQ(RpcServer::Start("localhost:0", {}).status(), s);
  }
  const Variable alone("HEADRACE_TLS_CA", good + "/ca.pem");
  const Status s = NewRpcChannel("localhost:1").status();
  EXPECT_TRUE(errors::IsInvalidArgument(s)) << s;
}

// A client finds out that its server's certificate has expired while it ran.
TEST_F(SecurityTest, AnExpiredServer) {
  std::unique_ptr<RpcServer> server;
  {
    const Variable tls("HEADRACE_TLS_DIR", Certs("a", 3));
    server = Serve();
  }
  absl::SleepFor(absl::Seconds(4));
  const Variable tls("HEADRACE_TLS_DIR", Certs("a"));
  const Status s = Call(server->port());
  EXPECT_TRUE(errors::IsUnauthenticated(s)) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "expired")) << s;
}

TEST_F(SecurityTest, HostsOfCertificates) {
  for (const char* host :
       {"", "a b", "a,DNS:b", "DNS:x", "1.2.3.4.5", "::1::", "a\n"}) {
    CertificateOptions options;
    options.folder = JoinPath(folder_, "hosts");
    options.hosts = {host};
    EXPECT_FALSE(MakeCertificateFiles(options).ok()) << host;
  }
}

TEST_F(SecurityTest, Tokens) {
  const std::string right = File("right", "secret-1\n"),
                    wrong = File("wrong", "secret-2"),
                    longer = File("longer", "secret-11"),
                    empty = File("empty", "\n"), spaces = File("spaces", "a b");
  std::unique_ptr<RpcServer> server;
  {
    const Variable token("HEADRACE_TOKEN_FILE", right);
    server = Serve();
    EXPECT_EQ(Call(server->port()), OkStatus());
  }
  Status s = Call(server->port());
  EXPECT_TRUE(errors::IsUnauthenticated(s)) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "the call has none")) << s;
  for (const std::string& file : {wrong, longer}) {
    const Variable token("HEADRACE_TOKEN_FILE", file);
    s = Call(server->port());
    EXPECT_TRUE(errors::IsUnauthenticated(s)) << s;
    EXPECT_TRUE(absl::StrContains(s.message(), "not the server's")) << s;
  }
  for (const std::string& file : {empty, spaces}) {
    const Variable token("HEADRACE_TOKEN_FILE", file);
    EXPECT_TRUE(
        errors::IsInvalidArgument(NewRpcChannel("localhost:1").status()))
        << file;
  }
  const Variable none("HEADRACE_TOKEN_FILE", JoinPath(folder_, "none"));
  EXPECT_TRUE(errors::IsNotFound(NewRpcChannel("localhost:1").status()));
}

TEST(SameTokenTest, Values) {
  const struct {
    const char *a, *b;
    bool same;
  } cases[] = {{"", "", true},   {"a", "", false},    {"", "a", false},
               {"a", "a", true}, {"ab", "ac", false}, {"aa", "a", false}};
  for (const auto& c : cases) EXPECT_EQ(SameToken(c.a, c.b), c.same) << c.a;
}

TEST_F(SecurityTest, AddressesBeyondThisMachine) {
  const struct {
    const char* address;
    bool plain, listen;  // allowed without certificates, and to a server
  } cases[] = {{"localhost:0", true, true},
               {"127.0.0.1:0", true, true},
               {"[::1]:0", true, true},
               {"example.com:0", false, true},
               {"10.0.0.1:0", false, true},
               {"0.0.0.0:0", false, false},
               {"0:0", false, false},
               {"0x0:0", false, false},
               {"[::]:0", false, false},
               {"[::ffff:0.0.0.0]:0", false, false},
               {"[0:0:0:0:0:0:0:0]:0", false, false}};
  for (const auto& c : cases) {
    NetworkOptions options;
    EXPECT_EQ(CheckAddress(options, c.address).ok(), c.plain) << c.address;
    EXPECT_EQ(CheckListenAddress(options, c.address).ok(), c.plain)
        << c.address;
    options.client.ca = "ca.pem";
    EXPECT_EQ(CheckAddress(options, c.address), OkStatus()) << c.address;
    EXPECT_EQ(CheckListenAddress(options, c.address).ok(), c.listen)
        << c.address;
    options.client.ca = "";
    options.plaintext_everywhere = true;
    EXPECT_EQ(CheckListenAddress(options, c.address).ok(), c.listen)
        << c.address;
    options.all_interfaces = true;
    EXPECT_EQ(CheckListenAddress(options, c.address), OkStatus()) << c.address;
  }
}

TEST(NetworkOptionsTest, NumbersThatAreNone) {
  for (const char* name :
       {"HEADRACE_KEEPALIVE_MS", "HEADRACE_MAX_MESSAGE_BYTES"}) {
    for (const char* value : {"x", "-1", "1", "99999999999"}) {
      const Variable v(name, value);
      const Status s = NetworkOptions::FromEnvironment().status();
      EXPECT_TRUE(errors::IsInvalidArgument(s)) << name << value << s;
    }
  }
  for (const char* value : {"x", "0"}) {
    const Variable v("HEADRACE_MAX_SESSIONS", value);
    EXPECT_FALSE(ServerLimits::FromEnvironment().ok()) << value;
  }
}

TEST_F(SecurityTest, LargeMessagesAreRefused) {
  const Variable limit("HEADRACE_MAX_MESSAGE_BYTES", "2000");
  const std::unique_ptr<RpcServer> server = Serve();
  std::shared_ptr<RpcChannel> channel;
  ASSERT_EQ(
      MoveTo(NewRpcChannel(StrCat("localhost:", server->port())), &channel),
      OkStatus());
  WireBytes response;
  EXPECT_EQ(
      channel->Call("/echo", WireBytes(std::string(1000, 'x')), {}, &response),
      OkStatus());
  const Status s =
      channel->Call("/echo", WireBytes(std::string(3000, 'x')), {}, &response);
  EXPECT_TRUE(errors::IsResourceExhausted(s)) << s;
}

// A peer whose machine is gone takes what we send and says nothing.
TEST(KeepaliveTest, FindsAPeerThatIsSilent) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&at), size), 0);
  ASSERT_EQ(listen(listener, 10), 0);
  getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
  // Settings, as a server that speaks HTTP/2 sends them, then silence.
  std::thread silent([listener] {
    const int fd = accept(listener, nullptr, nullptr);
    const char settings[] = {0, 0, 0, 4, 0, 0, 0, 0, 0};
    EXPECT_EQ(send(fd, settings, sizeof settings, 0), 9);
    char byte;
    while (recv(fd, &byte, 1, 0) > 0) {
    }
    close(fd);
  });
  {
    const Variable keepalive("HEADRACE_KEEPALIVE_MS", "1000");
    std::shared_ptr<RpcChannel> channel;
    ASSERT_EQ(MoveTo(NewRpcChannel(StrCat("127.0.0.1:", ntohs(at.sin_port))),
                     &channel),
              OkStatus());
    CallOptions options;
    options.timeout = absl::Seconds(30);
    WireBytes response;
    const Status s = channel->Call("/any", {}, options, &response);
    EXPECT_TRUE(errors::IsUnavailable(s)) << s;
  }
  silent.join();
  close(listener);
}

TEST(LimitsTest, OfAClient) {
  const Variable sessions("HEADRACE_MAX_SESSIONS_OF_CLIENT", "2"),
      callables("HEADRACE_MAX_CALLABLES", "3"),
      runs("HEADRACE_MAX_PARTIAL_RUNS", "2"),
      nodes("HEADRACE_MAX_GRAPH_NODES", "4"),
      step_bytes("HEADRACE_MAX_STEP_BYTES", "4000000");
  std::unique_ptr<Server> server;
  ASSERT_EQ(MoveTo(NewTaskServer(LocalServer()), &server), OkStatus());
  ASSERT_EQ(server->Start(), OkStatus());
  std::shared_ptr<RpcChannel> channel;
  ASSERT_EQ(MoveTo(NewRpcChannel(server->target().substr(7)), &channel),
            OkStatus());
  const std::unique_ptr<MasterInterface> master =
      NewRemoteMaster(channel, server->target());
  const CallOptions options;

  pb::CreateSessionRequest create;
  Graph g;
  const Endpoint x = Placeholder(&g, "x", DT_FLOAT);
  AddOp(&g, "y", "Neg", {x});
  GraphToGraphDef(g, create.mutable_graph_def());
  pb::CreateSessionResponse made;
  std::vector<std::string> handles;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(master->CreateSession(options, create, &made), OkStatus());
    handles.push_back(made.session_handle());
  }
  Status s = master->CreateSession(options, create, &made);
  EXPECT_TRUE(errors::IsResourceExhausted(s)) << s;
  EXPECT_TRUE(absl::StrContains(s.message(), "OF_CLIENT")) << s;
  pb::CloseSessionRequest close;
  close.set_session_handle(handles.back());
  EXPECT_EQ(master->CloseSession(options, close), OkStatus());
  ASSERT_EQ(master->CreateSession(options, create, &made), OkStatus());
  // A session that could not be made does not count.
  close.set_session_handle(made.session_handle());
  EXPECT_EQ(master->CloseSession(options, close), OkStatus());
  pb::CreateSessionRequest bad = create;
  bad.mutable_graph_def()->mutable_node(0)->set_op("NoSuchOp");
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(master->CreateSession(options, bad, &made).ok());
  }

  pb::MakeCallableRequest make;
  make.set_session_handle(handles[0]);
  make.mutable_options()->add_feed("x:0");
  make.mutable_options()->add_fetch("y:0");
  pb::MakeCallableResponse callable;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(master->MakeCallable(options, make, &callable), OkStatus());
  }
  s = master->MakeCallable(options, make, &callable);
  EXPECT_TRUE(errors::IsResourceExhausted(s)) << s;

  pb::PartialRunSetupRequest setup;
  setup.set_session_handle(handles[0]);
  setup.add_feed("x:0");
  setup.add_fetch("y:0");
  pb::PartialRunSetupResponse begun;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(master->PartialRunSetup(options, setup, &begun), OkStatus());
  }
  s = master->PartialRunSetup(options, setup, &begun);
  EXPECT_TRUE(errors::IsResourceExhausted(s)) << s;

  pb::ExtendSessionRequest extend;
  extend.set_session_handle(handles[0]);
  for (int i = 0; i < 3; ++i) {
    pb::NodeDef* const n = extend.mutable_graph_def()->add_node();
    n->set_name(StrCat("n", i));
    n->set_op("NoOp");
  }
  pb::ExtendSessionResponse extended;
  s = master->ExtendSession(options, extend, &extended);
  EXPECT_TRUE(errors::IsResourceExhausted(s)) << s;
  extend.mutable_graph_def()->mutable_node()->RemoveLast();
  EXPECT_EQ(master->ExtendSession(options, extend, &extended), OkStatus());

  // A result of 2 MB, then one of 8 MB.
  for (const int64_t elements : {500000, 2000000}) {
    RunStepCall run;
    run.header.set_session_handle(handles[0]);
    run.header.add_fetch("y:0");
    run.feeds = {{"x:0", Tensor(DT_FLOAT, TensorShape({elements}))}};
    RunStepResult result;
    s = master->RunStep(options, std::move(run), &result);
    EXPECT_EQ(elements > 1000000, errors::IsResourceExhausted(s)) << s;
    EXPECT_EQ(elements > 1000000,
              absl::StrContains(s.message(), "memory budget is 4000000"))
        << s;
  }
}

}  // namespace
}  // namespace headrace
