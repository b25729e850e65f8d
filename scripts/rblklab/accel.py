# SPDX-License-Identifier: GPL-2.0
"""How QEMU runs a guest here: KVM if a boot proves that it works, else TCG."""
import os
import pathlib
import subprocess
import time

from .rundir import Run

TCG = ["-accel", "tcg,thread=multi", "-cpu", "max"]
KVM = ["-accel", "kvm", "-cpu", "host"]
FIRST_OUTPUT = 4.0
WHOLE_BOOT = 20.0


def choose(run: Run, image: pathlib.Path, initramfs: pathlib.Path) -> list[str]:
    """QEMU's options for the accelerator. One probe per run.

    /dev/kvm opening says nothing: nested or emulated KVM may accept a VM and
    then never run it. So a guest has to reach user space within seconds.
    RBLK_ACCEL=kvm|tcg decides without a probe.
    """
    forced = os.environ.get("RBLK_ACCEL")
    if forced:
        return KVM if forced == "kvm" else TCG
    verdict = run.folder / "accel"
    if not verdict.exists():
        verdict.write_text("kvm\n" if kvm_works(run, image, initramfs) else "tcg\n")
    return KVM if verdict.read_text().strip() == "kvm" else TCG


def kvm_works(run: Run, image: pathlib.Path, initramfs: pathlib.Path) -> bool:
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    log = run.folder / "kvm-probe.log"
    process = run.start(
        ["qemu-system-x86_64", *KVM, "-M", "pc", "-m", "512", "-nodefaults", "-display", "none", "-no-reboot",
         "-serial", f"file:{log}", "-kernel", str(image), "-initrd", str(initramfs),
         "-append", "console=ttyS0 earlyprintk=serial acpi=off panic=-1 rblk_init=probe"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    begin = time.monotonic()
    try:
        while time.monotonic() - begin < WHOLE_BOOT:
            text = log.read_bytes() if log.exists() else b""
            if b"rblk-probe-ok" in text:
                return True
            if process.poll() is not None:
                return b"rblk-probe-ok" in log.read_bytes() if log.exists() else False
            if b"Linux version" not in text and time.monotonic() - begin > FIRST_OUTPUT:
                return False
            time.sleep(0.05)
        return False
    finally:
        run.stop(process, patience=0)
