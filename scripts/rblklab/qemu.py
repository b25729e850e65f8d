# SPDX-License-Identifier: GPL-2.0
"""Nodes that are QEMU machines."""
import io
import json
import socket

from . import accel, initramfs
from .errors import LabError, NodeDead
from .links import MTU
from .node import Node
from .rundir import TOP


class QemuNode(Node):
    """A QEMU machine with two CPUs and the host's root over 9p."""
    boot_limit = 150.0
    first_poll = 0.02
    slowest_poll = 0.3
    agent_port = "virtio-serial"
    cpus = 2
    monitor: socket.socket | None = None
    _answers: io.BufferedReader | None = None

    def start(self) -> None:
        self.monitor, theirs = socket.socketpair()
        self.monitor.settimeout(10)
        with theirs:
            self.machine_fds = [theirs.fileno()]
            super().start()
        self._answers = None

    def stop(self) -> None:
        super().stop()
        if self.monitor:
            self.monitor.close()

    # By the monitor, since that stops the guest's clocks too: after a signal the guest would
    # see its CPUs stuck for all that time, and say so.
    def _halt(self) -> None:
        self._tell("stop")

    def _go_on(self) -> None:
        self._tell("cont")

    def _tell(self, command: str) -> None:
        """Have the monitor execute COMMAND; return when that is done."""
        if not self._answers:
            self._answers = self.monitor.makefile("rb")
            self._tell("qmp_capabilities")
        try:
            self.monitor.sendall(json.dumps({"execute": command}).encode() + b"\n")
            answer = {}
            while "return" not in answer:  # there is a greeting, and there are events
                answer = json.loads(self._answers.readline())
                if "error" in answer:
                    raise LabError(f"{self}: the monitor refuses '{command}': {answer['error']}")
        except (OSError, ValueError) as err:
            self.check_alive()
            raise NodeDead(f"{self}: the monitor does not answer: {err}") from err

    def extra_environment(self) -> dict[str, str]:
        # A share of its own, uncached: modules and tool rebuilt after the boot are seen
        return {"RBLK_TOP_TAG": "top"}

    def command_line(self, agent_fd: int) -> list[str]:
        first_root = self.run_state.folder / f"initramfs-{self.kernel.kind}"
        if not first_root.exists():
            initramfs.build(self.kernel, first_root)
        # The AML of QEMU's ACPI tables takes seconds to interpret in a debug kernel under TCG;
        # without ACPI the second CPU comes from the MP table, which lists one CPU a socket.
        # The kernel's look at the timer counts on a host that has time for it just then
        boot = ["console=ttyS0", "loglevel=5", "acpi=off", "no_timer_check", "panic=-1", "net.ifnames=0", "random.trust_cpu=on",
                "no_hash_pointers", "kunit.enable=1", *self.boot_options, f"rblk_init={self.init_script()}"]
        command = [
            "qemu-system-x86_64", *accel.choose(self.run_state, self.kernel.image, first_root),
            "-M", "pc", "-smp", f"{self.cpus},sockets={self.cpus}", "-m", str(self.memory), "-nodefaults", "-display", "none", "-no-reboot",
            "-serial", f"file:{self.console.path}", "-kernel", str(self.kernel.image), "-initrd", str(first_root),
            "-append", " ".join(boot),
            "-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap",
            "-device", "virtio-9p-pci,fsdev=root,mount_tag=root",
            "-fsdev", f"local,id=top,path={TOP},security_model=none,readonly=on,multidevs=remap",
            "-device", "virtio-9p-pci,fsdev=top,mount_tag=top",
            "-chardev", f"socket,id=monitor,fd={self.machine_fds[0]}", "-mon", "chardev=monitor,mode=control",
            "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=agent,fd={agent_fd}",
            "-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0",
        ]
        for port in self.ports:
            command += ["-netdev", f"dgram,id={port.name},local.type=fd,local.str={port.fd}",
                        "-device", f"virtio-net-pci,netdev={port.name},mac={port.mac},host_mtu={MTU}"]
        return command
