# SPDX-License-Identifier: GPL-2.0
"""A run: its own folder, and the processes that must end with it."""
import atexit
import os
import pathlib
import re
import signal
import subprocess
import time

TOP = pathlib.Path(__file__).resolve().parents[2]
KEEP_RUNS = 20


class Run:
    """A folder for logs, and every process started for this run.

    A process dies with the run in three ways: close(), also called at exit;
    SIGTERM, turned into an exit; and the death signal the kernel sends when
    this interpreter is killed. Only processes started here are ever touched.
    """

    def __init__(self, base: pathlib.Path | None = None):
        base = base or TOP / "build" / "runs"
        base.mkdir(parents=True, exist_ok=True)
        drop_old_runs(base)
        stamp = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        number = 0
        while True:
            self.folder = base / (stamp + (f"-{number}" if number else ""))
            try:
                self.folder.mkdir()
                break
            except FileExistsError:
                number += 1
        self.processes: list[subprocess.Popen] = []
        atexit.register(self.close)
        end_on_sigterm()

    def start(self, command: list[str], **kwargs) -> subprocess.Popen:
        """Start COMMAND in a process group of its own, bound to this process.

        The death signal follows the *thread* that started the process: call
        this from a thread that lives as long as the process should.
        """
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *command],
                                   start_new_session=True, stdin=subprocess.DEVNULL, **kwargs)
        self.processes.append(process)
        return process

    def stop(self, process: subprocess.Popen, patience: float = 3) -> None:
        """End PROCESS and whatever it left in its group."""
        if process.poll() is None and patience:
            process.terminate()
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait(10)
        if process in self.processes:
            self.processes.remove(process)

    def close(self) -> None:
        """End every process of the run. May be called more than once."""
        for process in list(self.processes):
            self.stop(process, patience=0)
        atexit.unregister(self.close)


def end_on_sigterm() -> None:
    """Let SIGTERM end the interpreter by way of its exit handlers."""
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, lambda *_: exit_now())


def exit_now() -> None:
    raise SystemExit(128 + signal.SIGTERM)


def drop_old_runs(base: pathlib.Path) -> None:
    """Keep the newest run folders only, so that build/ does not grow for ever."""
    runs = sorted(path for path in base.iterdir() if path.is_dir() and re.fullmatch(r"\d{8}-\d{6}-\d+(-\d+)?", path.name))
    for path in runs[:-KEEP_RUNS]:
        if pathlib.Path("/proc", path.name.split("-")[2]).exists():
            continue  # it is still running
        subprocess.run(["rm", "-rf", "--one-file-system", str(path)], check=False)
