# SPDX-License-Identifier: GPL-2.0
"""What can go wrong in the lab."""


class LabError(RuntimeError):
    """The lab could not do what was asked; the text says why."""


class NodeDead(LabError):
    """A node's machine ended or its agent stopped answering."""


class CommandError(LabError):
    """A command in a node ended with an exit code other than 0."""

    def __init__(self, node, command, result):
        self.node = node
        self.command = command
        self.result = result
        text = f"{node}: '{command}' ended with {result.code}"
        for name in ("stdout", "stderr"):
            output = getattr(result, name).strip()
            if output:
                text += f"\n{name}: {output[-4000:]}"
        super().__init__(text)
