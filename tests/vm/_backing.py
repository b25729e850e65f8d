# SPDX-License-Identifier: GPL-2.0
"""Block devices of a node to be exported; their modules leave with the scenario."""
import shlex

NULLB = "/sys/kernel/config/nullb/rblk"


class Backing:
    """A block device of NODE."""

    def __init__(self, node, kind: str, mib: int = 64):
        self.node, self.kind = node, kind
        self.path = getattr(self, f"_make_{kind.partition('-')[0]}")(mib)
        self.name = self.path.removeprefix("/dev/")

    def _make_brd(self, mib: int) -> str:
        self.node.run(f"modprobe brd rd_nr=1 rd_size={mib * 1024}")
        return "/dev/ram0"

    def _make_null(self, mib: int) -> str:
        """Of memory; with -4k of larger blocks, and with -cache of a write cache."""
        words = {"memory_backed": 1, "size": mib, "blocksize": 4096 if "-4k" in self.kind else 512, "discard": 1,
                 "cache_size": 8 if "-cache" in self.kind else 0, "completion_nsec": 0, "irqmode": 0}
        settings = " && ".join(f"echo {value} > {NULLB}/{name}" for name, value in words.items())
        self.node.run(f"modprobe null_blk nr_devices=0 && (mountpoint -q /sys/kernel/config || "
                      f"mount -t configfs none /sys/kernel/config) && mkdir {NULLB} && {settings} && echo 1 > {NULLB}/power")
        return "/dev/" + self._null_name()

    def _null_name(self) -> str:
        return next(name for name in self.node.run("ls /sys/block").stdout.split()
                    if name.startswith("nullb") or name == "rblk")

    def _make_loop(self, mib: int) -> str:
        self.node.run(f"mkdir -p /run/backing && (mountpoint -q /run/backing || mount -t tmpfs none /run/backing) && "
                      f"truncate -s {mib}M /run/backing/file")
        return self.node.run("losetup --show -f /run/backing/file").stdout.strip()

    def sha(self, offset: int, length: int) -> str:
        """Of what the device has there, not of a page cache."""
        return self.node.run(f"dd if={self.path} bs=64k iflag=direct,skip_bytes,count_bytes skip={offset} count={length} "
                             "status=none | sha256sum").stdout.split()[0]

    def flushes(self) -> int:
        return int(self.node.read(f"/sys/block/{self.name}/stat").split()[15])

    def limit(self, name: str) -> str:
        return self.node.read(f"/sys/block/{self.name}/queue/{name}").strip()

    def vanish(self) -> None:
        """As if it was pulled out."""
        assert self.kind.startswith("null")
        self.node.run(f"echo 0 > {NULLB}/power")

    def remove(self) -> None:
        """Whoever closes a device in the kernel is a moment late."""
        how = {"brd": "rmmod brd", "loop": f"losetup -d {shlex.quote(self.path)}; umount /run/backing"}
        step = how.get(self.kind, f"{{ [ ! -d {NULLB} ] || rmdir {NULLB}; }} && rmmod null_blk")
        self.node.run(f"for i in $(seq 50); do {{ {step}; }} 2>/run/backing.log && exit 0; sleep 0.1; done; "
                      "cat /run/backing.log >&2; exit 1")
