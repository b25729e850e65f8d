# SPDX-License-Identifier: GPL-2.0
"""IPv4, IPv6 and link-local addresses, names and ports."""
import pytest

from rblklab import fio, rblk


def check_map(rig, listen, server):
    rig.server("listen", "add", listen)
    device = rig.client.map(server, "disk")
    fio.verify(rig.b, device, bs="4k", size="512k", iodepth=8)
    rig.client.unmap(device)
    rig.server("listen", "remove", listen)


@pytest.fixture
def loaded(nodes):
    nodes.load()
    nodes.server.export("disk", "8M")
    return nodes


def test_ipv6(loaded):
    address = loaded.a.ports[0].ipv6
    check_map(loaded, address, address)


def test_ipv6_with_port(loaded):
    address = loaded.a.ports[0].ipv6
    check_map(loaded, f"[{address}]:7999", f"[{address}]:7999")


def test_ipv4_with_port(loaded):
    check_map(loaded, f"{loaded.address}:7999", f"{loaded.address}:7999")


def test_link_local_with_scope(loaded):
    address = loaded.a.ports[0].link_local
    check_map(loaded, address, address)


def test_host_name(loaded):
    check_map(loaded, loaded.address, loaded.a.name)


@pytest.mark.parametrize("wildcard", ["0.0.0.0", "::"])
def test_any_address_of_a_family(loaded, wildcard):
    port = loaded.a.ports[0]
    check_map(loaded, wildcard, port.ipv4 if wildcard == "0.0.0.0" else port.ipv6)


def test_any_address_is_any_of_both_families(loaded):
    port = loaded.a.ports[0]
    loaded.server.listen("any")
    taken = loaded.server("listen", "add", "0.0.0.0", check=False)
    assert taken.code == rblk.BUSY, "the wildcard of IPv6 has the port of IPv4 too"
    for address in (port.ipv4, port.ipv6, port.link_local):
        device = loaded.client.map(address, "disk")
        loaded.client.unmap(device)


def test_two_listeners_and_their_list(loaded):
    port = loaded.a.ports[0]
    loaded.server.listen(port.ipv4)
    loaded.server.listen(port.ipv6)
    listeners = loaded.server.json("listen", "list")["listeners"]
    assert {(item["addr"], item["port"], item["state"]) for item in listeners} == {
        (port.ipv4, 7471, "listening"), (port.ipv6, 7471, "listening")}
