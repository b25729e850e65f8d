// SPDX-License-Identifier: GPL-2.0
#include "control.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace relay {

namespace {

using Json = nlohmann::json;

constexpr double kLongest = 600000;  // ms
constexpr std::uint64_t kMostBytes = 1'000'000'000'000;

class Bad : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// The members of an order, each asked for once. done() says what nobody asked for.
class Order {
public:
    explicit Order(std::string_view text) : object_(Json::parse(text, nullptr, false)) {
        if (object_.is_discarded()) throw Bad("this is not JSON");
        if (!object_.is_object()) throw Bad("an order is an object");
    }

    std::optional<bool> flag(const char* name) {
        const auto* value = find(name);
        if (value && !value->is_boolean()) throw Bad(said(name) + " is true or false");
        return value ? std::optional(value->get<bool>()) : std::nullopt;
    }

    std::optional<double> number(const char* name, double most) {
        const auto* value = find(name);
        if (!value) return std::nullopt;
        if (!value->is_number() || value->get<double>() < 0 || value->get<double>() > most)
            throw Bad(said(name) + " is a number from 0 to " + Json(most).dump());
        return value->get<double>();
    }

    std::optional<std::uint64_t> whole(const char* name, std::uint64_t least, std::uint64_t most) {
        const auto* value = find(name);
        if (!value) return std::nullopt;
        if (!value->is_number_unsigned() || value->get<std::uint64_t>() < least ||
            value->get<std::uint64_t>() > most)
            throw Bad(said(name) + " is a whole number from " + std::to_string(least) + " to " +
                      std::to_string(most));
        return value->get<std::uint64_t>();
    }

    std::optional<std::string> text(const char* name) {
        const auto* value = find(name);
        if (value && (!value->is_string() || value->get_ref<const std::string&>().empty()))
            throw Bad(said(name) + " is a text");
        return value ? std::optional(value->get<std::string>()) : std::nullopt;
    }

    void done() const {
        for (const auto& [name, value] : object_.items())
            if (!known_.contains(name)) throw Bad("nothing is called '" + name + "' here");
    }

private:
    static std::string said(const char* name) { return "'" + std::string(name) + "'"; }

    const Json* find(const char* name) {
        known_.insert(name);
        const auto found = object_.find(name);
        return found == object_.end() ? nullptr : &*found;
    }

    Json object_;
    std::set<std::string, std::less<>> known_;
};

template <class Value>
Value needed(std::optional<Value> value, const char* name) {
    if (!value) throw Bad("'" + std::string(name) + "' is missing");
    return *value;
}

std::optional<std::uint64_t> some_link(const Switch& network, Order& order) {
    constexpr std::uint64_t kAny = std::numeric_limits<std::uint32_t>::max();
    const auto link = order.whole("link", 0, kAny);
    const auto& ports = network.ports();
    if (link &&
        std::none_of(ports.begin(), ports.end(), [&](auto& port) { return port->link == *link; }))
        throw Bad("no link " + std::to_string(*link));
    return link;
}

// Those that the order is about.
std::vector<Port*> targets(const Switch& network, Order& order) {
    constexpr std::uint64_t kAny = std::numeric_limits<std::uint32_t>::max();
    const auto link = some_link(network, order);
    const auto node = order.whole("node", 0, kAny);
    std::vector<Port*> found;
    for (const auto& port : network.ports())
        if ((!link || port->link == *link) && (!node || port->node == *node))
            found.push_back(port.get());
    if (found.empty())
        throw Bad("no node " + std::to_string(*node) +
                  (link ? " on link " + std::to_string(*link) : ""));
    return found;
}

template <class Value, class Target>
void change(Target& target, const std::optional<Value>& value) {
    if (value) target = static_cast<Target>(*value);
}

void change(Duration& target, const std::optional<double>& ms) {
    if (ms)
        target =
            std::chrono::duration_cast<Duration>(std::chrono::duration<double, std::milli>(*ms));
}

Json set(Switch& network, Order& order) {
    const auto ports = targets(network, order);
    const auto cut = order.flag("cut");
    const auto drop = order.number("drop", 1), duplicate = order.number("duplicate", 1);
    const auto reorder = order.number("reorder", 1),
               reorder_ms = order.number("reorder_ms", kLongest);
    const auto delay = order.number("delay", kLongest), jitter = order.number("jitter", kLongest);
    const auto rate = order.whole("rate", 0, kMostBytes),
               queue = order.whole("queue", 1, kMostBytes);
    order.done();
    for (auto* port : ports) {
        auto& rules = port->rules;
        change(rules.cut, cut);
        change(rules.drop, drop);
        change(rules.duplicate, duplicate);
        change(rules.reorder, reorder);
        change(rules.reorder_by, reorder_ms);
        change(rules.delay, delay);
        change(rules.jitter, jitter);
        change(rules.rate, rate);
        change(rules.queue, queue);
    }
    return Json::object();
}

Json hold(Switch& network, Order& order) {
    const auto ports = targets(network, order);
    const auto limit = order.whole("limit", 1, kMostKept);
    order.done();
    for (auto* port : ports) network.hold(*port, limit.value_or(kMostKept));
    return Json::object();
}

Json release(Switch& network, Order& order) {
    const auto ports = targets(network, order);
    order.done();
    std::size_t frames = 0;
    for (auto* port : ports) frames += network.release(*port);
    return {{"frames", frames}};
}

Json heal(Switch& network, Order& order) {
    const auto ports = targets(network, order);
    const auto discard = order.flag("discard");
    order.done();
    std::size_t frames = 0;
    for (auto* port : ports) frames += network.heal(*port, discard.value_or(false));
    return {{"frames", frames}};
}

Json counters(Switch& network, Order& order) {
    const auto ports = targets(network, order);
    order.done();
    auto list = Json::array();
    for (const auto* port : ports) {
        const auto& count = port->counters;
        list.push_back({{"link", port->link},
                        {"node", port->node},
                        {"frames", count.frames},
                        {"bytes", count.bytes},
                        {"dropped", count.dropped},
                        {"duplicated", count.duplicated},
                        {"delayed", count.delayed},
                        {"reordered", count.reordered},
                        {"held", count.held},
                        {"overflowed", count.overflowed},
                        {"waiting", Switch::waiting(*port)},
                        {"holding", Switch::holding(*port)}});
    }
    return {{"ports", list}};
}

Json capture(Switch& network, Order& order) {
    const auto link = static_cast<unsigned>(needed(some_link(network, order), "link"));
    const auto file = needed(order.text("file"), "file");
    order.done();
    if (network.captures.contains(link))
        throw Bad("link " + std::to_string(link) + " is captured already");
    try {
        network.captures.emplace(link, Capture(file));
    } catch (const std::system_error& error) {
        throw Bad(error.what());
    }
    return Json::object();
}

Json capture_end(Switch& network, Order& order) {
    const auto link = some_link(network, order);
    order.done();
    if (link && !network.captures.contains(static_cast<unsigned>(*link)))
        throw Bad("link " + std::to_string(*link) + " is not captured");
    std::uint64_t frames = 0;
    std::string cause;
    std::erase_if(network.captures, [&](const auto& item) {
        if (link && item.first != *link) return false;
        frames += item.second.frames();
        if (const auto error = item.second.error())
            cause = "the capture of link " + std::to_string(item.first) +
                    " is not whole: " + std::generic_category().message(error);
        return true;
    });
    if (!cause.empty()) throw Bad(cause);
    return {{"frames", frames}};
}

Json seed(Switch& network, Order& order) {
    constexpr auto kAny = std::numeric_limits<std::uint64_t>::max();
    const auto number = needed(order.whole("seed", 0, kAny), "seed");
    order.done();
    network.reseed(number);
    return Json::object();
}

using Work = Json (*)(Switch&, Order&);
constexpr std::pair<std::string_view, Work> kOrders[] = {
    {"set", set},           {"hold", hold},       {"release", release},         {"heal", heal},
    {"counters", counters}, {"capture", capture}, {"capture-end", capture_end}, {"seed", seed},
};

}  // namespace

std::string refusal(const std::string& why) {
    return Json{{"error", why}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string answer(Switch& network, std::string_view text) {
    try {
        Order order(text);
        const auto name = needed(order.text("do"), "do");
        const auto* found =
            std::ranges::find(kOrders, name, [](const auto& item) { return item.first; });
        if (found == std::end(kOrders)) throw Bad("no order is called '" + name + "'");
        auto result = found->second(network, order);
        result["ok"] = true;
        return result.dump();
    } catch (const Bad& bad) {
        return refusal(bad.what());
    }
}

}  // namespace relay
