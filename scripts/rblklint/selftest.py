# SPDX-License-Identifier: GPL-2.0
"""The negative control: a small project without a fault passes, and a fault is found by its check."""
import pathlib
import shutil
import tempfile
import time

from . import checks
from .checks import Result
from .project import Project, run

TOP = pathlib.Path(__file__).resolve().parents[2]
SPDX = "SPDX-License-Identifier: GPL-2.0"
# Taken as they are: the licences, the formatting rules, and the netlink code with its generator
TAKEN = ("LICENSES/", "tools/rblk/.clang-format", "scripts/regen-netlink", "scripts/build-kernel", "Documentation/netlink/",
         "include/uapi/", "ulp/client/netlink_gen.", "ulp/server/netlink_gen.")

CLEAN = {
    "Kbuild": f"""# {SPDX}
ccflags-y += -I$(src)/include
rblk-core-y := ulp/core.o
obj-m += rblk-core.o
""",
    "include/rblk/thing.h": f"""/* {SPDX} */
#ifndef _RBLK_THING_H
#define _RBLK_THING_H

#include <linux/types.h>

/**
 * struct rblk_thing - something on the wire
 * @size: bytes
 */
struct rblk_thing {{
	__le32 size;
}};

u32 rblk_thing_size(const struct rblk_thing *thing);

#endif /* _RBLK_THING_H */
""",
    "ulp/core.c": f"""// {SPDX}
/* A module. */
#include <linux/module.h>
#include <rblk/thing.h>

/**
 * rblk_thing_size - the size of a thing
 * @thing: the thing
 *
 * Context: Any.
 * Return: bytes.
 */
u32 rblk_thing_size(const struct rblk_thing *thing)
{{
	return le32_to_cpu(thing->size);
}}
EXPORT_SYMBOL_GPL(rblk_thing_size);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("a module");
""",
    "scripts/run": f"#!/bin/bash\n# {SPDX}\nset -eu\necho \"$1\"\n",
    "scripts/look.py": f"# {SPDX}\nimport sys\nprint(sys.argv)\n",
    "tools/rblk/src/main.cpp": f"// {SPDX}\nint main() {{\n    return 0;\n}}\n",
    "README.md": f"<!-- {SPDX} -->\n# A project\n",
}

# check: (file, what is put at its end, a word that the finding must have)
FAULTS = {
    "build": ("ulp/core.c", "\nstatic const int planted_unused = 1;\n", "planted_unused"),
    "checkpatch": ("ulp/core.c", "\nstatic int planted_style( int x ){ return (x) ; }\n", "SPACING"),
    "sparse": ("ulp/core.c", "\nstatic int __maybe_unused planted_endian(struct rblk_thing *t)\n{\n\treturn t->size + 1;\n}\n",
               "restricted __le32"),
    "kernel-doc": ("include/rblk/thing.h", "\n/**\n * struct planted_doc - one member is not described\n */\nstruct planted_doc {\n\tint x;\n};\n",
                   "planted_doc"),
    "function-docs": ("ulp/core.c", "\nint planted_bare(void)\n{\n\treturn 0;\n}\n", "planted_bare() has no kernel-doc"),
    "shellcheck": ("scripts/run", "rm $2\n", "SC2086"),
    "python": ("scripts/broken.py", f"# {SPDX}\nif True print()\n", "broken.py"),
    "pyflakes": ("scripts/look.py", "import json\n", "'json' imported but unused"),
    "clang-format": ("tools/rblk/src/main.cpp", "int   planted ;\n", "main.cpp"),
    "netlink": ("ulp/client/netlink_gen.c", "/* planted */\n", "netlink_gen.c is not what its spec gives"),
    "spdx": ("scripts/bare.txt", "planted\n", "bare.txt"),
    "licences": ("scripts/other.txt", "# SPDX-License-Identifier: Planted-1.0\n", "Planted-1.0"),
    "length": ("scripts/long.txt", f"# {SPDX}\n" + 800 * "x\n", "long.txt: 801 lines"),
    "whitespace": ("README.md", "planted \n", "README.md:3"),
    "codespell": ("README.md", "rec" + "ieve\n", "rec" + "ieve"),
    "machine": ("README.md", "in /wo" + "rk/shop\n", "README.md:5"),
}


def write(folder: pathlib.Path) -> None:
    """A small project without a fault."""
    for name in Project(TOP).files:
        if name.startswith(TAKEN):
            place = folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, place)
    for name, text in CLEAN.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


def lint(folder: pathlib.Path) -> dict[str, Result]:
    """Run every check on the project in FOLDER."""
    run(["git", "-C", folder, "init", "-q"])
    run(["git", "-C", folder, "add", "-A"])
    return {result.name: result for result in checks.run_all(Project(folder), [], lambda result: None)}


def run_all() -> list[Result]:
    """Plant all faults at once; one result for the clean project, and one for each check."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rblk-lint-") as name:
        folder = pathlib.Path(name)
        write(folder)
        clean = lint(folder)
        for target, text, _ in FAULTS.values():
            with open(folder / target, "a", encoding="utf-8") as out:
                out.write(text)
        faulty = lint(folder)
    results = [Result("a clean project", [f"{result.name}: {line}" for result in clean.values() for line in result.found],
                      seconds=time.monotonic() - began)]
    for check in checks.CHECKS:
        results.append(judge(check.name, faulty[check.name]))
    for result in results:
        checks.show(result)
    return results


def judge(name: str, seen: Result) -> Result:
    """A check passes when it found the fault that was made for it."""
    result = Result(f"planted: {name}", [], seen.skipped, seen.seconds)
    if name not in FAULTS:
        result.found = ["no fault is planted for this check"]
    elif not seen.skipped and not any(FAULTS[name][2] in line for line in seen.found):
        result.found = [f"the fault was not found; wanted '{FAULTS[name][2]}' in:", *(seen.found or ["nothing"])]
    return result
