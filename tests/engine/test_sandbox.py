"""Behind bubblewrap the same attempts fail, and the zygote itself sees an almost empty machine."""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine import sandbox
from engine.worker.lockdown import kernel_support
from tests.engine import test_lockdown as lockdown

# In an empty root most of what a worker looks for is not even there.
DENIED_OR_ABSENT = lockdown.DENIED | {errno.ENOENT, errno.EROFS, errno.EXDEV}


@pytest.fixture(params=lockdown.USERS)
def behind_bubblewrap(request: pytest.FixtureRequest) -> dict[str, Any]:
    if sandbox.probe() is not sandbox.Tier.BUBBLEWRAP:
        pytest.skip(f"bubblewrap does not work here: the best tier is {sandbox.probe()}")
    return lockdown.outcomes(request.param, sandbox.Tier.BUBBLEWRAP)


@pytest.mark.parametrize("attempt", lockdown.HOSTILE)
def test_is_denied(behind_bubblewrap: dict[str, Any], attempt: str) -> None:
    kind, what, number = [*behind_bubblewrap["attempts"][attempt], None][:3]
    assert kind == "raised", f"{attempt}: {what}"
    assert number in DENIED_OR_ABSENT, f"{attempt}: {what} {number}"


@pytest.mark.parametrize("attempt", lockdown.HONEST, ids=lambda attempt: attempt.__name__)
def test_still_works(behind_bubblewrap: dict[str, Any], attempt: lockdown.Attempt) -> None:
    assert behind_bubblewrap["attempts"][attempt.__name__] == ["value", lockdown.HONEST[attempt]]


@pytest.mark.parametrize("attempt", lockdown.BOUNDED, ids=lambda attempt: attempt.__name__)
def test_is_ended_by_its_limit(behind_bubblewrap: dict[str, Any], attempt: lockdown.Attempt) -> None:
    assert behind_bubblewrap["attempts"][attempt.__name__] == lockdown.BOUNDED[attempt]


def test_nothing_of_ours_is_mounted_but_the_worker(behind_bubblewrap: dict[str, Any]) -> None:
    visible = {Path(path).relative_to(sandbox.ROOT).as_posix() for path in behind_bubblewrap["view"]["project"]}
    ours = {path for path in visible if not path.startswith(".")}
    assert ours == {"engine/__init__.py", "engine/worker"}


def test_the_machine_is_out_of_sight(behind_bubblewrap: dict[str, Any]) -> None:
    view = behind_bubblewrap["view"]
    assert not {"home", "var", "run", "srv", "mnt", "boot", "opt"} & set(view["root"])
    assert view["proc"] == ["cpuinfo"]
    assert view["interfaces"] == ["lo"]
    assert view["pid"] < 10


def test_the_environment_is_only_ours(behind_bubblewrap: dict[str, Any]) -> None:
    environment = behind_bubblewrap["view"]["environment"]
    assert {**environment, **sandbox.zygote_environment()} == environment
    # bwrap and CPython's locale coercion add these.
    assert set(environment) - set(sandbox.zygote_environment()) <= {"PWD", "LC_CTYPE"}


def test_the_root_is_read_only_and_tmp_is_bounded(behind_bubblewrap: dict[str, Any]) -> None:
    view = behind_bubblewrap["view"]
    assert view["writes root"] in {"EROFS", "EACCES"}
    assert view["writes tmp"] == "done"
    assert view["floods tmp"] == "ENOSPC"


def test_an_inherited_descriptor_stays_open(behind_bubblewrap: dict[str, Any]) -> None:
    assert behind_bubblewrap["descriptor"] == "from inside"


def test_nothing_complains_on_stderr(behind_bubblewrap: dict[str, Any]) -> None:
    assert not behind_bubblewrap["complaints"]


def test_the_project_is_not_readable() -> None:
    """Nor a folder around it; the packages of a virtual environment inside it are."""
    packages = [Path(entry).resolve() for entry in sys.path if entry.endswith("-packages")]
    for path in sandbox.readable_paths():
        real = Path(path).resolve()
        assert path.endswith("/") or not sandbox.ROOT.is_relative_to(real), path
        if real.is_relative_to(sandbox.ROOT):
            inside_packages = any(real.is_relative_to(folder) for folder in packages)
            assert inside_packages or real.name == "pyvenv.cfg", path


PLAIN_INSTALL = """
import json, os, sys
sys.path[:0] = sys.argv[1:]
from engine import sandbox
from engine.worker.lockdown import Limits, Lockdown
readable = sandbox.readable_paths()
lockdown = Lockdown(readable)
if os.fork() == 0:
    lockdown.enter(Limits(1 << 30, 10, 1 << 20, 64))
    results = []
    import honest_package
    results.append(honest_package.value)
    for path in ("reference/secret.py", "engine/sandbox.py", "checks/secret.py", "linked/secret.py"):
        try:
            results.append(open(os.path.join(sys.argv[1], path)).read())
        except PermissionError:
            results.append("denied")
    print(json.dumps(results), flush=True)
    os._exit(0)
os.wait()
"""


def test_a_plain_install_hides_our_packages_among_the_others(tmp_path: Path) -> None:
    """`pip install proofmark` puts the reference beside NumPy."""
    missing = kernel_support()
    if missing:
        pytest.skip(missing)
    packages = tmp_path / "site-packages"
    shutil.copytree(sandbox.ROOT / "engine", packages / "engine")
    for name in ("reference", "honest_package"):
        (packages / name).mkdir()
    (packages / "reference" / "secret.py").write_text("answer = 42")
    (packages / "honest_package" / "__init__.py").write_text("value = 'imported'")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "secret.py").write_text("answer = 42")
    (packages / "checks").symlink_to(tmp_path / "elsewhere")
    (packages / "linked").symlink_to(tmp_path / "elsewhere")
    command = [sys.executable, "-I", "-c", PLAIN_INSTALL, str(packages), *sys.path]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == ["imported", "denied", "denied", "denied", "denied"]


def test_only_bubblewrap_wraps_the_interpreter() -> None:
    for tier in (sandbox.Tier.KERNEL, sandbox.Tier.NONE):
        assert sandbox.zygote_command(tier, ["-V"], sandbox.ROOT) == [sys.executable, "-V"]
