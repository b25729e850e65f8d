# SPDX-License-Identifier: GPL-2.0
"""The small first root of a QEMU node: busybox, and the way to the host's root."""
import lzma
import pathlib
import shutil
import subprocess

from .errors import LabError
from .kernels import Kernel

NEEDED = ("virtio_pci", "9pnet_virtio", "9p")

INIT = """#!/bin/busybox sh
# Mount the host's root read-only over 9p and go on there.
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t devtmpfs dev /dev 2>/dev/null
for word in $(/bin/busybox cat /proc/cmdline); do
	case $word in
	rblk_init=*) next=${{word#rblk_init=}} ;;
	esac
done
if [ "$next" = probe ]; then
	echo rblk-probe-ok
	/bin/busybox reboot -f
fi
{insmods}
/bin/busybox mount -t 9p -o ro,trans=virtio,version=9p2000.L,cache=loose,msize=262144 root /root ||
	/bin/busybox reboot -f
exec /bin/busybox switch_root /root "$next"
"""


def build(kernel: Kernel, target: pathlib.Path) -> pathlib.Path:
    """Write an initramfs for KERNEL to TARGET."""
    busybox = shutil.which("busybox")
    if not busybox:
        raise LabError("busybox is not installed; run 'scripts/install-packages'")
    if b"ld-linux" in pathlib.Path(busybox).read_bytes()[:4096]:
        raise LabError(f"{busybox} is not static; install busybox-static ('scripts/install-packages')")
    files = {"bin/busybox": (0o755, pathlib.Path(busybox).read_bytes())}
    insmods = []
    for path in module_files(kernel, NEEDED):
        name = path.name.split(".ko")[0] + ".ko"
        files[f"modules/{name}"] = (0o644, read_module(path))
        insmods.append(f"/bin/busybox insmod /modules/{name}")
    files["init"] = (0o755, INIT.format(insmods="\n".join(insmods)).encode())
    target.write_bytes(cpio(["bin", "modules", "proc", "dev", "root"], files))
    return target


def module_files(kernel: Kernel, names: tuple[str, ...]) -> list[pathlib.Path]:
    """The files of the named modules after those they depend on; built-in ones have none."""
    depends = {}
    for line in (kernel.modules / "modules.dep").read_text().splitlines():
        path, _, rest = line.partition(":")
        depends[path] = rest.split()
    by_name = {path.rsplit("/", 1)[-1].split(".ko")[0].replace("-", "_"): path for path in depends}
    wanted: list[str] = []
    for name in names:
        path = by_name.get(name)
        if path:
            # modules.dep lists the nearest first; the farthest has to be loaded first
            for part in [*reversed(depends[path]), path]:
                if part not in wanted:
                    wanted.append(part)
    return [kernel.modules / path for path in wanted]


def read_module(path: pathlib.Path) -> bytes:
    data = path.read_bytes()
    if path.suffix == ".xz":
        return lzma.decompress(data)
    if path.suffix == ".zst":
        return subprocess.run(["zstd", "-dc", str(path)], check=True, capture_output=True).stdout
    return data


def cpio(folders: list[str], files: dict[str, tuple[int, bytes]]) -> bytes:
    """A 'newc' archive. Not compressed: it never leaves memory, and a slow CPU reads it."""
    out = bytearray()
    entries = [(name, 0o40755, b"") for name in folders]
    entries += [(name, 0o100000 | mode, data) for name, (mode, data) in files.items()]
    entries.append(("TRAILER!!!", 0, b""))
    for number, (name, mode, data) in enumerate(entries, 1):
        raw = name.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0)
        out += b"070701" + b"".join(b"%08X" % field for field in fields) + raw
        out += b"\0" * (-len(out) % 4)
        out += data
        out += b"\0" * (-len(out) % 4)
    return bytes(out)
