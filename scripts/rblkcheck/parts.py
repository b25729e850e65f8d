# SPDX-License-Identifier: GPL-2.0
"""The parts of 'make check', in their order."""
import dataclasses
import os
import pathlib

TOP = pathlib.Path(__file__).resolve().parents[2]
OUT = TOP / "build" / "check"
PYTHON = "/usr/bin/python3"
KERNELS = ("lockdep", "safety")
JOBS = str(os.cpu_count() or 1)


@dataclasses.dataclass(frozen=True)
class Part:
    """Commands that run one after the other until one fails.

    A part that needs a failed one cannot run. One with tests has to write
    OUT/NAME.xml, and fails if no test is in it.
    """
    name: str
    title: str
    timeout: float
    commands: tuple[tuple[str, ...], ...]
    needs: tuple[str, ...] = ()
    tests: bool = False
    kernel: str = ""
    default: bool = True

    @property
    def junit(self) -> pathlib.Path:
        return OUT / f"{self.name}.xml"


def junit(name: str) -> str:
    return str(OUT / f"{name}.xml")


def script(name: str, *words: str) -> tuple[str, ...]:
    return (str(TOP / "scripts" / name), *words)


def pytest(name: str, *words: str) -> tuple[str, ...]:
    return (PYTHON, "-m", "pytest", "-v", "--tb=short", "-rs", "-p", "no:cacheprovider", f"--rootdir={TOP}",
            "-o", "junit_family=xunit2", "-o", "junit_logging=system-out", f"--junit-xml={junit(name)}", *words)


def kernel(kind: str) -> Part:
    return Part(f"kernel-{kind}", f"the {kind} kernel", 45 * 60, (script("build-kernel", kind),), ("packages",),
                kernel="" if kind == "stock" else kind)


def scenarios(kind: str) -> Part:
    name = f"vm-{kind}"
    return Part(name, f"KUnit and scenarios on the {kind} kernel", 70 * 60,
                (pytest(name, "tests/vm", "--kernel", kind),), (f"kernel-{kind}", "tool-build"), tests=True, kernel=kind)


def waiting(kind: str) -> Part:
    name = f"wait-{kind}"
    return Part(name, f"scenarios that mostly wait, on the {kind} kernel", 60 * 60,
                (pytest(name, "tests/vm/waiting", "--kernel", kind),), (f"kernel-{kind}", "tool-build"), tests=True, kernel=kind)


def kunit(kind: str) -> Part:
    name = f"kunit-{kind}"
    return Part(name, f"KUnit on the {kind} kernel", 10 * 60, (pytest(name, "tests/vm/test_kunit.py", "--kernel", kind),),
                (f"kernel-{kind}",), tests=True, kernel=kind, default=False)


def cmake(folder: str, *words: str) -> tuple[str, ...]:
    return ("cmake", "-S", "tools/rblk", "-B", folder, *words)


PARTS = (
    Part("packages", "what building and testing needs", 20 * 60, (script("install-packages"),)),
    *(kernel(kind) for kind in (*KERNELS, "stock")),
    Part("modules", "the modules, out of tree, for the stock kernel", 10 * 60, (script("build-modules", "stock"),), ("kernel-stock",)),
    Part("lint", "static checks", 15 * 60, (script("lint", "--junit", junit("lint")),), ("packages",), tests=True),
    Part("lint-selftest", "static checks find planted faults", 10 * 60,
         (script("lint", "--selftest", "--junit", junit("lint-selftest")),), ("packages",), tests=True),
    Part("tool-build", "the control tool", 15 * 60, (cmake("build/tools"), ("cmake", "--build", "build/tools", "--target", "rblk", "-j", JOBS)),
         ("packages",)),
    # A build of its own: warnings are errors and the sanitizers watch
    Part("tool-tests", "unit tests of the control tool", 20 * 60,
         (cmake("build/tools-check", "-DCMAKE_BUILD_TYPE=Debug", "-DRBLK_TOOL_WERROR=ON", "-DRBLK_TOOL_SANITIZE=ON"),
          ("cmake", "--build", "build/tools-check", "-j", JOBS),
          ("ctest", "--test-dir", "build/tools-check", "-j", JOBS, "--timeout", "60", "--no-tests=error", "--output-on-failure",
           "--output-junit", junit("tool-tests"))),
         ("packages",), tests=True),
    Part("lab", "unit tests of the lab and of this runner", 10 * 60, (pytest("lab", "tests/lab", "tests/check"),), ("packages",), tests=True),
    *(kunit(kind) for kind in KERNELS),
    *(scenarios(kind) for kind in KERNELS),
    *(waiting(kind) for kind in reversed(KERNELS)),  # the one that computes less begins first
)

# Parts that may run at the same time: by the first word of their names. What waits runs beside what works.
TOGETHER = (("vm", "wait"), ("kunit",))


def chosen(only: list[str], kernels: list[str]) -> list[Part]:
    """The parts that a person asked for: 'vm' means vm-lockdep and vm-safety."""
    def wanted(part: Part) -> bool:
        if part.kernel and kernels and part.kernel not in kernels:
            return False
        if not only:
            return part.default
        return any(part.name == word or part.name.startswith(word + "-") for word in only)

    unknown = [word for word in only if not any(part.name == word or part.name.startswith(word + "-") for part in PARTS)]
    if unknown:
        raise ValueError(f"no part is called {', '.join(unknown)}; there are: {', '.join(part.name for part in PARTS)}")
    return [part for part in PARTS if wanted(part)]


def grouped(some: list[Part], parallel: bool) -> list[list[Part]]:
    """SOME in their order; what may run at the same time is a group."""
    def company(part: Part) -> tuple[str, ...]:
        return next((words for words in TOGETHER if part.name.partition("-")[0] in words), ())

    groups: list[list[Part]] = []
    for part in some:
        if parallel and groups and company(part) and company(part) == company(groups[-1][0]):
            groups[-1].append(part)
        else:
            groups.append([part])
    return groups
