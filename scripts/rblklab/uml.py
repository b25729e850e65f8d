# SPDX-License-Identifier: GPL-2.0
"""Nodes that are User Mode Linux processes."""
from .links import MTU
from .node import Node


class UmlNode(Node):
    """A UML kernel with one CPU and the host's root over hostfs."""
    boot_limit = 60.0
    agent_port = "/dev/tty1"

    def command_line(self, agent_fd: int) -> list[str]:
        # With 'con=null' the console goes to standard error only, which machine.log would take
        command = [
            "sh", "-c", 'exec "$0" "$@" >"$RBLK_CONSOLE" 2>&1',
            str(self.kernel.image), f"mem={self.memory}M", "rootfstype=hostfs", "rootflags=/", "ro",
            f"umid={self.name}", f"uml_dir={self.folder}", f"init={self.init_script()}",
            "con0=null,fd:1", f"con1=fd:{agent_fd}", "con=null", "loglevel=5", "panic=-1", "no_hash_pointers",
            "kunit.enable=1", "kasan_multi_shot",  # report every fault, not only the first
        ]
        command += [f"vec{port.link}:transport=fd,fd={port.fd},depth=128,mtu={MTU},mac={port.mac}" for port in self.ports]
        command += self.boot_options
        return ["env", f"RBLK_CONSOLE={self.console.path}", "TMPDIR=/dev/shm", *command]
