# SPDX-License-Identifier: GPL-2.0
"""What rblk is compared with, set up on the same nodes."""
import time

from .errors import LabError
from .node import Node

NVMET = "/sys/kernel/config/nvmet"
NQN = "nqn.2026-11.rblk:beside"


def nvme(target: Node, host: Node, address: str, mib: int, *options: str) -> str:
    """nvmet over a RAM disk at TARGET, which listens on ADDRESS, connected from HOST: the host's device, filled once."""
    target.run("modprobe brd rd_nr=1 rd_size=%d && modprobe nvmet-rdma && modprobe configfs || true" % (mib * 1024))
    target.run(f"mountpoint -q /sys/kernel/config || mount -t configfs none /sys/kernel/config; "
               f"cd {NVMET} && mkdir subsystems/{NQN} && cd subsystems/{NQN} && echo 1 > attr_allow_any_host && "
               f"mkdir namespaces/1 && echo /dev/ram0 > namespaces/1/device_path && echo 1 > namespaces/1/enable && "
               f"cd {NVMET} && mkdir ports/1 && cd ports/1 && echo rdma > addr_trtype && echo ipv4 > addr_adrfam && "
               f"echo {address} > addr_traddr && echo 4420 > addr_trsvcid && "
               f"ln -s {NVMET}/subsystems/{NQN} subsystems/{NQN}")
    host.run("modprobe nvme-rdma")
    host.run(["nvme", "connect", "-t", "rdma", "-a", address, "-s", "4420", "-n", NQN, *options], timeout=60)
    for _ in range(50):
        names = host.run("ls /dev | grep -x 'nvme[0-9]*n1' || true").stdout.split()
        if names:
            # Filled, as exported memory is: an empty RAM disk answers without a page.
            host.run(f"dd if=/dev/zero of=/dev/{names[0]} bs=1M count={mib} oflag=direct status=none", timeout=120)
            return f"/dev/{names[0]}"
        time.sleep(0.2)
    raise LabError("nvme connect made no disk")
