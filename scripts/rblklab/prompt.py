# SPDX-License-Identifier: GPL-2.0
"""A person's prompt to the nodes of a lab."""
import cmd
import os
import sys
import threading
import time

from . import splat
from .errors import LabError
from .lab import Lab
from .node import Node

HELP = """\
  A COMMAND...    run a command in node A (B, C... likewise); Ctrl-C stops it
  all COMMAND...  run it in every node, one after the other
  bg A COMMAND... start it and go on; its output appears when it ends
  load [A|B...]   insmod rblk-core, rblk-server and rblk-client of this checkout
  console A       the end of a node's console
  scan            kernel reports on any console
  nodes           names, addresses, RDMA devices
  quit            end the nodes

  'rblk' in a command is this checkout's tool. Each command is a shell of its own."""


class Prompt(cmd.Cmd):
    """Reads lines and runs them in nodes."""
    prompt = "lab> "

    def __init__(self, lab: Lab):
        super().__init__()
        self.lab = lab
        self.by_letter = {node.name[-1]: node for node in lab.nodes}
        self.failed = False  # the last line ended with an error
        self.marks = {node.name: 0 for node in lab.nodes}
        self.intro = f"{len(lab.nodes)} nodes of kernel {lab.kernel.release} ({lab.kernel.kind}), up in {lab.boot_seconds:.1f} s.\n" \
                     f"Logs: {os.path.relpath(lab.run.folder)}\n{HELP}\n"

    def node(self, letter: str) -> Node | None:
        return self.by_letter.get(letter.removeprefix("node").upper())

    def run_in(self, node: Node, command: str) -> None:
        process = node.spawn(f'PATH="$RBLK_TOP/build/tools:$PATH"; {command}')
        try:
            result = process.wait(timeout=3600, check=False)
        except KeyboardInterrupt:
            process.kill()
            print("^C")
            return
        show(result)
        self.failed = result.code != 0

    def default(self, line: str) -> None:
        if line == "EOF":
            return self.do_quit("")
        letter, _, command = line.strip().partition(" ")
        node = self.node(letter)
        if node is None or not command.strip():
            self.failed = True
            print(f"no command '{letter}'; 'help' shows what there is")
            return None
        return self.run_in(node, command)

    def do_all(self, line: str) -> None:
        for node in self.lab.nodes:
            print(f"-- {node}")
            self.run_in(node, line)

    def do_bg(self, line: str) -> None:
        letter, _, command = line.strip().partition(" ")
        node = self.node(letter)
        if node is None or not command:
            print("bg A COMMAND...")
            return
        process = node.spawn(f'PATH="$RBLK_TOP/build/tools:$PATH"; {command}')
        threading.Thread(target=announce, args=(process,), daemon=True).start()

    def do_load(self, line: str) -> None:
        for node in [self.node(word) for word in line.split()] or self.lab.nodes:
            if node:
                node.insmod("rblk-core", "rblk-server", "rblk-client")

    def do_console(self, line: str) -> None:
        node = self.node(line.strip())
        print(node.tail() if node else "console A")

    def do_scan(self, _line: str) -> None:
        for node in self.lab.nodes:
            for report in splat.judge(splat.find(node.console.text()), node.kernel.kind, node.kernel.release):
                print(f"-- {node}\n{report}")

    def do_nodes(self, _line: str) -> None:
        for node in self.lab.nodes:
            for port in node.ports:
                print(f"{node.name[-1]}  {node}  {port.name}  {port.ipv4}  {port.ipv6}  {port.link_local}  {node.rdma_name(port.link)}")

    def do_help(self, _arg: str) -> None:
        print(HELP)

    def do_quit(self, _line: str) -> bool:
        return True

    def emptyline(self) -> bool:
        return False

    def postcmd(self, stop: bool, line: str) -> bool:
        """Say at once when a kernel complains."""
        for node in self.lab.nodes:
            bad = splat.judge(splat.find(node.console.text(self.marks[node.name])), node.kernel.kind, node.kernel.release)
            if bad:
                self.failed = True
                print(f"!! {node}'s kernel reports: {bad[0].title}; 'scan' shows it")
            self.marks[node.name] = node.console.mark()
        return stop

    def onecmd(self, line: str) -> bool:
        try:
            return super().onecmd(line)
        except LabError as err:
            print(err)
            self.failed = True
            return False


def show(result) -> None:
    sys.stdout.write(result.stdout)
    sys.stdout.write(result.stderr)
    sys.stdout.flush()
    if result.code:
        print(f"(exit code {result.code})")


def announce(process) -> None:
    while process.poll() is None:
        time.sleep(0.2)
    print(f"\n-- {process.node}: '{process.command.partition('; ')[2]}' has ended")
    show(process.result)
