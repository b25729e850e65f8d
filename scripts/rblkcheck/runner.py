# SPDX-License-Identifier: GPL-2.0
"""Running the parts: bounded in time, all output kept, every test counted."""
import concurrent.futures
import dataclasses
import os
import signal
import subprocess
import threading
import time

from . import results
from .parts import OUT, TOP, Part

# How a part is ended, and how long each step is given. Interrupted, pytest still
# ends its nodes and writes down the tests that it has run.
STEPS = ((signal.SIGINT, 60.0), (signal.SIGTERM, 10.0), (signal.SIGKILL, 10.0))
ENDED = "ended with"


@dataclasses.dataclass
class Outcome:
    """How a part ended. A part without tests of its own counts only when it fails."""
    part: Part
    verdict: str = "ok"
    seconds: float = 0.0
    tests: results.Tests = dataclasses.field(default_factory=results.Tests)

    @property
    def good(self) -> bool:
        return not self.tests.failed


class Runner:
    """Runs parts and keeps their outcomes."""

    def __init__(self, interactive: bool):
        self.interactive = interactive
        self.outcomes: list[Outcome] = []
        self._printing = threading.Lock()
        self._running: set[subprocess.Popen] = set()
        self._stopping = False
        OUT.mkdir(parents=True, exist_ok=True)

    def say(self, text: str) -> None:
        with self._printing:
            print(text, flush=True)

    def run(self, groups: list[list[Part]]) -> list[Outcome]:
        """Run groups one after the other, the parts of a group at the same time.

        One more than there are processors, since some wait most of the time; with more, nodes that get too
        little time are slow beyond all proportion.
        """
        for group in groups:
            with concurrent.futures.ThreadPoolExecutor(min(len(group), (os.cpu_count() or 1) + 1)) as pool:
                waiting = [pool.submit(self._part, part, len(group) > 1) for part in group]
                try:
                    concurrent.futures.wait(waiting)
                except BaseException:
                    self._stop_all()
                    raise
                self.outcomes += [done.result() for done in waiting]
        return self.outcomes

    # -- one part

    def _part(self, part: Part, tagged: bool) -> Outcome:
        outcome = Outcome(part)
        broken = [done.part.name for done in self.outcomes if done.part.name in part.needs and not done.good]
        if broken:
            outcome.verdict = f"NOT RUN: {', '.join(broken)} failed"
            outcome.tests.fail(f"{part.name}: not run")
            self.say(f"== {part.name}: {outcome.verdict}")
            return outcome
        self.say(f"== {part.name}: {part.title}")
        part.junit.unlink(missing_ok=True)
        began = time.monotonic()
        problem = self._commands(part, began + part.timeout, f"{part.name}| " if tagged else "   ")
        outcome.seconds = time.monotonic() - began
        self._judge(outcome, problem)
        self.say(f"== {part.name}: {outcome.verdict}, {outcome.seconds:.0f} s" + (f", {outcome.tests.text()}" if part.tests else ""))
        return outcome

    def _judge(self, outcome: Outcome, problem: str) -> None:
        """A part that failed counts as a failure even when all of its tests that are known passed."""
        part = outcome.part
        if part.tests:
            outcome.tests = results.read(part.junit)
            if not problem and not outcome.tests.total:
                problem = "no test ran"
        # An exit code that its failed tests explain is no failure more
        if problem and not (outcome.tests.failed and ENDED in problem):
            outcome.tests.fail(f"{part.name}: {problem}")
        if not outcome.good:
            outcome.verdict = f"FAILED ({problem or 'tests failed'})"

    def _commands(self, part: Part, deadline: float, prefix: str) -> str:
        """Run a part's commands; what went wrong, or nothing."""
        with open(OUT / f"{part.name}.log", "w", encoding="utf-8") as log:
            for command in part.commands:
                if self._stopping:
                    return "interrupted"
                problem = self._command(part, command, deadline, prefix, log)
                if problem:
                    return problem
        return ""

    def _command(self, part: Part, command: tuple[str, ...], deadline: float, prefix: str, log) -> str:
        # In a session of its own nothing can ask a question at the terminal: only
        # a person who installs packages may be asked, by sudo.
        asks = self.interactive and part.name == "packages"
        env = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES")}
        env.update(PYTHONDONTWRITEBYTECODE="1", PYTHONUNBUFFERED="1", DEBIAN_FRONTEND="noninteractive")
        try:
            process = subprocess.Popen(command, cwd=TOP, env=env, stdin=None if asks else subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=not asks)
        except OSError as err:
            return f"{command[0]}: {err.strerror}"
        self._running.add(process)
        late = threading.Event()

        def end() -> None:
            late.set()
            self._end(process, group=not asks)

        timer = threading.Timer(max(1.0, deadline - time.monotonic()), end)
        timer.start()
        try:
            for line in process.stdout:
                log.write(line)
                log.flush()
                self.say(prefix + line.rstrip("\n"))
            process.wait()
        finally:
            timer.cancel()
            self._running.discard(process)
        if late.is_set():
            return f"still running after {part.timeout / 60:.0f} minutes"
        if self._stopping:
            return "interrupted"
        return f"{os.path.basename(command[0])} {ENDED} {process.returncode}" if process.returncode else ""

    def _end(self, process: subprocess.Popen, group: bool = True) -> None:
        """Ask a part's processes to end, then end them. The lab's nodes end with the pytest that started them."""
        for number, patience in STEPS:
            try:
                if group:
                    os.killpg(process.pid, number)
                else:
                    process.send_signal(number)
            except ProcessLookupError:
                return
            try:
                process.wait(patience)
            except subprocess.TimeoutExpired:
                continue

    def _stop_all(self) -> None:
        self._stopping = True
        for process in list(self._running):
            self._end(process)
