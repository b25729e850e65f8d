// SPDX-License-Identifier: GPL-2.0
// Messages, attributes and exchanges, and what happens to bytes that are wrong.
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <gtest/gtest.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/rblk_client.h>

#include "error.hpp"
#include "fake_kernel.hpp"
#include "netlink/genl.hpp"
#include "netlink/rdma.hpp"

namespace rblk::test {
namespace {

constexpr std::array<std::string_view, 8> names = {"one",  "two", "three", "four",
                                                   "five", "six", "seven", "eight"};
constexpr AttributeSpec spec = {"thing", names};

std::string decode_error(const Bytes& bytes, void (*use)(const Attributes&)) {
    try {
        use(Attributes(bytes, spec));
    } catch (const DecodeError& error) {
        return error.what();
    }
    return "no error";
}

TEST(Message, Encodes) {
    Message message(0x21, NLM_F_REQUEST | NLM_F_ACK, 7, 1, spec);
    message.u32(1, 5).u64(2, 1ULL << 40).text(3, "abc").binary(4, Bytes(28)).flag(5).s32(6, -2);
    message.set_sequence(99);
    auto request = seen(message.bytes(), true);
    EXPECT_EQ(request.family, 0x21);
    EXPECT_EQ(request.flags, NLM_F_REQUEST | NLM_F_ACK);
    EXPECT_EQ(request.sequence, 99u);
    EXPECT_EQ(request.command, 7);
    EXPECT_EQ(request.version, 1);
    EXPECT_EQ(request.u32(1), 5u);
    EXPECT_EQ(request.u64(2), 1ULL << 40);
    EXPECT_EQ(request.value(3),
              (Bytes{std::byte{'a'}, std::byte{'b'}, std::byte{'c'}, std::byte{0}}));
    EXPECT_EQ(request.value(4), Bytes(28));
    EXPECT_TRUE(request.value(5).empty());
    EXPECT_EQ(request.u32(6), 0xfffffffeu);
}

TEST(Message, Nests) {
    Message message(0x21, 0, 7, 1, spec);
    message.u32(1, 5).nest(2, [](Message& nest) { nest.binary(1, Bytes(5)).u32(2, 7); }).flag(3);
    auto all = message.bytes();
    // Behind the two headers.
    EXPECT_EQ(Bytes(all.begin() + 20, all.end()),
              Put().u32(1, 5).nest(2, Put().raw(1, Bytes(5)).u32(2, 7)).flag(3).bytes());
    EXPECT_EQ(message.attribute_at(28), "two");
    EXPECT_EQ(message.attribute_at(44), "two");
}

TEST(Message, NamesWhatLiesAtAnOffset) {
    Message message(0x21, 0, 7, 1, spec);
    message.u32(1, 5).text(3, "abcdef");
    EXPECT_EQ(message.attribute_at(0), "");
    EXPECT_EQ(message.attribute_at(19), "");
    EXPECT_EQ(message.attribute_at(20), "one");
    EXPECT_EQ(message.attribute_at(27), "one");
    EXPECT_EQ(message.attribute_at(28), "three");
    EXPECT_EQ(message.attribute_at(400), "");
    EXPECT_EQ(message.attribute_at(0xffffffff), "");
    EXPECT_EQ(message.attribute_name(8), "eight");
    EXPECT_EQ(message.attribute_name(9), "?");
    EXPECT_EQ(message.attribute_name(0), "?");
}

TEST(Message, RefusesWhatDoesNotFit) {
    Message message(0x21, 0, 7, 1, spec);
    EXPECT_THROW(message.text(3, std::string(9000, 'x')), std::length_error);
    message.text(3, std::string(8100, 'x'));
    EXPECT_THROW(message.nest(2, [](Message& nest) { nest.binary(1, Bytes(64)); }),
                 std::length_error);
}

TEST(Attributes, Decodes) {
    auto put = Put().u32(1, 7).u64(2, 1ULL << 33).u32(3, 9).text(4, "one").text(4, "two").flag(5);
    put.raw(6, bytes_of("no NUL")).id(7, 1);
    Attributes attributes(put.bytes(), spec);
    EXPECT_EQ(attributes.u32(1), 7u);
    EXPECT_EQ(attributes.uint(2), 1ULL << 33);
    EXPECT_EQ(attributes.uint(3), 9u);
    EXPECT_EQ(attributes.texts(4), (std::vector<std::string>{"one", "two"}));
    EXPECT_TRUE(attributes.flag(5));
    EXPECT_FALSE(attributes.flag(8));
    EXPECT_EQ(attributes.text(6), "no NUL");
    EXPECT_EQ(attributes.binary(7, 16).size(), 16u);
    EXPECT_EQ(attributes.opt_u32(8), std::nullopt);
    EXPECT_EQ(attributes.opt_s32(1), 7);
}

TEST(Attributes, WrongSizes) {
    auto wrong = [](std::size_t size) { return Put().raw(2, Bytes(size)).bytes(); };
    for (std::size_t size : {0, 1, 3, 5, 8})
        EXPECT_NE(decode_error(wrong(size), [](const Attributes& a) { a.u32(2); }).find("'two'"),
                  std::string::npos);
    for (std::size_t size : {0, 1, 3, 5, 7, 9, 16})
        EXPECT_NE(decode_error(wrong(size), [](const Attributes& a) { a.uint(2); }).find("4 or 8"),
                  std::string::npos);
    for (std::size_t size : {0, 27, 29})
        EXPECT_NE(
            decode_error(wrong(size), [](const Attributes& a) { a.binary(2, 28); }).find("28"),
            std::string::npos);
    auto text = Put().raw(2, Bytes{std::byte{'a'}, std::byte{0}, std::byte{'b'}}).bytes();
    EXPECT_NE(decode_error(text, [](const Attributes& a) { a.text(2); }).find("NUL"),
              std::string::npos);
}

TEST(Attributes, Missing) {
    EXPECT_EQ(decode_error({}, [](const Attributes& a) { a.u32(2); }),
              "thing: attribute 'two' is missing");
    EXPECT_EQ(decode_error({}, [](const Attributes& a) { a.text(1); }),
              "thing: attribute 'one' is missing");
    EXPECT_EQ(decode_error({}, [](const Attributes& a) { a.uint(3); }),
              "thing: attribute 'three' is missing");
}

TEST(Attributes, CutAnywhere) {
    auto whole = Put().u32(1, 7).text(4, "text").u64(2, 8).bytes();
    for (std::size_t size = 0; size < whole.size(); size++) {
        Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        // At a border it is shorter and valid; else it must be refused.
        bool border =
            size == 0 || size == 8 || size == 20 || size == 17 || size == 18 || size == 19;
        auto error = decode_error(cut, [](const Attributes&) {});
        EXPECT_EQ(error, border ? "no error" : "thing: an attribute is cut off") << size;
    }
}

TEST(Attributes, LengthThatLies) {
    for (int wrong : {0, 1, 3, 9, 0xffff}) {
        auto length = static_cast<std::uint16_t>(wrong);
        auto bytes = Put().u32(1, 7).bytes();
        std::memcpy(bytes.data(), &length, 2);
        EXPECT_EQ(decode_error(bytes, [](const Attributes&) {}), "thing: an attribute is cut off");
    }
}

Message request() {
    Message message(client_id, NLM_F_REQUEST | NLM_F_ACK, 1, 1, spec);
    message.u32(1, 5).text(3, "abc");
    return message;
}

// What an exchange says to these datagrams.
std::string told(std::deque<Bytes> datagrams) {
    Exchange exchange(std::make_unique<CannedTransport>(std::move(datagrams)));
    try {
        return std::to_string(exchange.request(request()).size()) + " replies";
    } catch (const DecodeError& error) {
        return std::string("decode: ") + error.what();
    } catch (const KernelError& error) {
        return "errno " + std::to_string(error.error()) + ": " + error.why();
    }
}

Bytes ack(std::int32_t error = 0, std::uint16_t flags = NLM_F_CAPPED, const Bytes& rest = {}) {
    Bytes payload(4);
    std::memcpy(payload.data(), &error, 4);
    append(payload, Bytes(16));
    append(payload, rest);
    return netlink_message(NLMSG_ERROR, flags, 1, payload);
}

TEST(Exchange, Acknowledged) {
    auto reply = netlink_message(client_id, 0, 1, genl_payload(1, Put().u32(1, 1).bytes()));
    EXPECT_EQ(told({ack()}), "0 replies");
    EXPECT_EQ(told({reply, ack()}), "1 replies");
    auto both = reply;
    append(both, ack());
    EXPECT_EQ(told({both}), "1 replies");
}

TEST(Exchange, IgnoresOtherSequences) {
    auto old = netlink_message(client_id, 0, 77, genl_payload(1, {}));
    EXPECT_EQ(told({old, ack()}), "0 replies");
    auto old_error = netlink_message(NLMSG_ERROR, 0, 77, Bytes(20, std::byte{0xff}));
    EXPECT_EQ(told({old_error, ack()}), "0 replies");
}

TEST(Exchange, Refused) {
    EXPECT_EQ(told({ack(-ENOENT)}), "errno 2: No such file or directory");
    auto tlvs = static_cast<std::uint16_t>(NLM_F_CAPPED | NLM_F_ACK_TLVS);
    EXPECT_EQ(told({ack(-EINVAL, tlvs, Put().text(NLMSGERR_ATTR_MSG, "bad size").bytes())}),
              "errno 22: bad size");
    auto at = Put().text(NLMSGERR_ATTR_MSG, "bad").u32(NLMSGERR_ATTR_OFFS, 28);
    EXPECT_EQ(told({ack(-EINVAL, tlvs, at.bytes())}), "errno 22: bad (attribute 'three')");
    EXPECT_EQ(told({ack(-EINVAL, tlvs, Put().u32(NLMSGERR_ATTR_OFFS, 20).bytes())}),
              "errno 22: Invalid argument (attribute 'one')");
    EXPECT_EQ(told({ack(-EINVAL, tlvs, Put().u32(NLMSGERR_ATTR_MISS_TYPE, 2).bytes())}),
              "errno 22: Invalid argument (attribute 'two')");
    // An offset of nowhere is no reason to say nothing.
    EXPECT_EQ(told({ack(-EINVAL, tlvs, Put().u32(NLMSGERR_ATTR_OFFS, 9999).bytes())}),
              "errno 22: Invalid argument");
}

TEST(Exchange, RefusedByAKernelWithoutCap) {
    // The whole request comes back between the header and the attributes.
    auto message = request();
    auto sent = Bytes(message.bytes().begin(), message.bytes().end());
    Bytes payload(4);
    std::int32_t error = -EBUSY;
    std::memcpy(payload.data(), &error, 4);
    append(payload, sent);
    append(payload, Put().text(NLMSGERR_ATTR_MSG, "it is open").bytes());
    EXPECT_EQ(told({netlink_message(NLMSG_ERROR, NLM_F_ACK_TLVS, 1, payload)}),
              "errno 16: it is open");
}

TEST(Exchange, CutOff) {
    EXPECT_EQ(told({Bytes(3)}), "decode: a netlink message is cut off");
    EXPECT_EQ(told({Bytes(16)}), "decode: a netlink message is cut off");
    auto longer = ack();
    longer.resize(longer.size() - 4);
    EXPECT_EQ(told({longer}), "decode: a netlink message is cut off");
    EXPECT_EQ(told({netlink_message(NLMSG_ERROR, 0, 1, Bytes(8))}),
              "decode: a netlink acknowledgement is cut off");
    EXPECT_EQ(told({netlink_message(client_id, 0, 1, Bytes(2))}),
              "decode: a netlink message has no header");
    auto tlvs = static_cast<std::uint16_t>(NLM_F_CAPPED | NLM_F_ACK_TLVS);
    EXPECT_EQ(told({ack(-EINVAL, tlvs, Bytes(2))}),
              "decode: extended acknowledgement: an attribute is cut off");
    // A request that claims to be longer than the message it came back in.
    Bytes payload(20);
    std::int32_t error = -EINVAL;
    std::uint32_t length = 0xfffffff0;
    std::memcpy(payload.data(), &error, 4);
    std::memcpy(payload.data() + 4, &length, 4);
    EXPECT_EQ(told({netlink_message(NLMSG_ERROR, NLM_F_ACK_TLVS, 1, payload)}),
              "decode: a netlink acknowledgement is cut off");
}

TEST(Exchange, EndsWithTheTransport) {
    EXPECT_EQ(told({}), "errno 4: Interrupted system call");
}

TEST(Exchange, EveryCutOfAValidAnswerIsHandled) {
    auto whole =
        netlink_message(client_id, 0, 1, genl_payload(1, Put().u32(1, 1).text(3, "abc").bytes()));
    append(whole, ack(-EINVAL, NLM_F_CAPPED | NLM_F_ACK_TLVS,
                      Put().text(NLMSGERR_ATTR_MSG, "bad").bytes()));
    for (std::size_t size = 0; size < whole.size(); size++) {
        Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_NE(told({cut}), "errno 22: bad") << size;
    }
    EXPECT_EQ(told({whole}), "errno 22: bad");
}

Message dump_request() {
    return Message(client_id, NLM_F_REQUEST | NLM_F_DUMP, 1, 1, spec);
}

TEST(Dump, ReadsAgainWhenItChanged) {
    FakeKernel kernel;
    int calls = 0;
    kernel.load_client([&](const Seen&) {
        calls++;
        Answer answer;
        answer.replies = {Put().u32(1, 1), Put().u32(1, 2), Put().u32(1, 3)};
        answer.interrupted = calls < 3;
        return answer;
    });
    Exchange exchange(kernel.open(NETLINK_GENERIC));
    EXPECT_EQ(exchange.dump(dump_request()).size(), 3u);
    EXPECT_EQ(calls, 3);
}

TEST(Dump, GivesUpWhenItAlwaysChanges) {
    FakeKernel kernel;
    kernel.load_client([&](const Seen&) {
        Answer answer;
        answer.interrupted = true;
        return answer;
    });
    Exchange exchange(kernel.open(NETLINK_GENERIC));
    EXPECT_THROW(exchange.dump(dump_request()), KernelError);
}

TEST(Dump, ErrorAtItsEnd) {
    Bytes payload(4);
    std::int32_t error = -ENOMEM;
    std::memcpy(payload.data(), &error, 4);
    append(payload, Put().text(NLMSGERR_ATTR_MSG, "no room").bytes());
    Exchange exchange(std::make_unique<CannedTransport>(
        std::deque<Bytes>{netlink_message(NLMSG_DONE, NLM_F_MULTI | NLM_F_ACK_TLVS, 1, payload)}));
    try {
        exchange.dump(dump_request());
        ADD_FAILURE() << "no error";
    } catch (const KernelError& caught) {
        EXPECT_EQ(caught.error(), ENOMEM);
        EXPECT_EQ(caught.text(), "no room");
    }
}

TEST(Family, FoundAndNot) {
    FakeKernel kernel;
    kernel.load_client([](const Seen&) { return Answer(); });
    Genl genl(kernel.open(NETLINK_GENERIC));
    auto family = genl.find_family("rblk-client");
    ASSERT_TRUE(family);
    EXPECT_EQ(family->id, client_id);
    EXPECT_EQ(family->version, 1u);
    EXPECT_EQ(family->groups.at("events"), client_group);
    EXPECT_FALSE(genl.find_family("rblk-server"));
    EXPECT_TRUE(kernel.named.empty());
    EXPECT_TRUE(genl.load_family("rblk-client"));
    EXPECT_FALSE(genl.load_family("rblk-server"));
    EXPECT_EQ(kernel.named.size(), 2u);
}

TEST(Rdma, MemoryRegistration) {
    FakeKernel kernel;
    kernel.load_rdma([](const Seen& request) {
        EXPECT_EQ(request.family, (5 << 10) + 1);
        Answer answer;
        answer.replies = {Put().u32(1, 0).text(2, "rxe0").u64(4, 0x221c36),
                          Put().u32(1, 1).text(2, "old0").u64(4, 0x1c36), Put().u32(1, 2)};
        return answer;
    });
    Exchange exchange(kernel.open(NETLINK_RDMA));
    auto devices = rdma_memory_registration(exchange);
    EXPECT_EQ(devices, (std::map<std::string, bool>{{"rxe0", true}, {"old0", false}}));
}

// The real socket, against the family that every kernel has.
class RealSocket : public ::testing::Test {
protected:
    void SetUp() override {
        try {
            open_netlink(NETLINK_GENERIC);
        } catch (const Error& error) {
            GTEST_SKIP() << error.what();
        }
    }
};

TEST_F(RealSocket, FindsTheController) {
    Genl genl(open_netlink(NETLINK_GENERIC));
    auto found = genl.find_family("nlctrl");
    ASSERT_TRUE(found);
    EXPECT_EQ(found->id, controller_id);
    EXPECT_TRUE(found->groups.count("notify"));
    auto loaded = genl.load_family("nlctrl");
    ASSERT_TRUE(loaded);
    EXPECT_EQ(loaded->id, controller_id);
    EXPECT_FALSE(genl.load_family("rblk-no-such"));
}

TEST_F(RealSocket, RefusalOfTheKernel) {
    Genl genl(open_netlink(NETLINK_GENERIC));
    constexpr std::array<std::string_view, 2> controller_names = {"family-id", "family-name"};
    Message message(GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_ACK, CTRL_CMD_GETFAMILY, 1,
                    {"family", controller_names});
    // A family-id has two bytes.
    message.binary(CTRL_ATTR_FAMILY_ID, Bytes(1));
    try {
        genl.request(std::move(message));
        ADD_FAILURE() << "no error";
    } catch (const KernelError& error) {
        EXPECT_NE(error.error(), 0);
        EXPECT_EQ(error.attribute(), "family-id");
        EXPECT_FALSE(error.text().empty());
    }
}

TEST_F(RealSocket, SignalEndsTheWait) {
    Genl genl(open_netlink(NETLINK_GENERIC));
    genl.join(genl.find_family("nlctrl")->groups.at("notify"));
    genl.stop_on_signals();
    raise(SIGTERM);
    EXPECT_FALSE(genl.events());
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    // It is still pending and would end the tests.
    timespec none{};
    EXPECT_EQ(sigtimedwait(&set, nullptr, &none), SIGTERM);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

}  // namespace
}  // namespace rblk::test
