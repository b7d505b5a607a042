"""The magic in a real kernel, in a student's folder: what is shown, and that nothing of it runs in the kernel."""

import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from engine.handout import write_handout
from engine.intake import take_in
from engine.notebook import cells_of

ROOT = Path(__file__).resolve().parents[2]

RIGHT = """import numpy as np

def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)"""
WRONG = """%%proofmark
def softmax(x, axis=-1):
    print("<script>alert(1)</script>")
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)"""
CELLS = (
    "%load_ext proofmark",
    RIGHT,
    "1 / 0",
    "%proofmark attention.softmax",
    WRONG,
    "import sys; sorted({'hypothesis', 'checks', 'engine.pipeline'} & set(sys.modules))",
    "%proofmark attention.sofmax",
    "%%proofmark\nweight = 3",
    "%%proofmark\ncausal_mask = lambda n: undefined",
    "%proofmark",
)


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Run the notebook once, in a handout, with a kernel of this interpreter that knows no other folder of ours."""
    home = tmp_path_factory.mktemp("student") / "homework"
    write_handout(home)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    monkeypatch = pytest.MonkeyPatch()
    monkeypatch.setenv("JUPYTER_PATH", str(_kernel(tmp_path_factory.mktemp("kernels"))))
    NotebookClient(
        notebook, timeout=300, kernel_name="ours", allow_errors=True, resources={"metadata": {"path": str(home)}}
    ).execute()
    monkeypatch.undo()
    return [cell.outputs for cell in notebook.cells]


def _kernel(folder):
    """Describe a kernel that runs this very interpreter, whatever kernels the machine has."""
    place = folder / "kernels" / "ours"
    place.mkdir(parents=True)
    words = ", ".join(f'"{word}"' for word in (sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"))
    (place / "kernel.json").write_text(
        f'{{"argv": [{words}], "display_name": "ours", "language": "python"}}', encoding="utf-8"
    )
    return folder


def shown(outputs, number):
    (output,) = [each for each in outputs[number] if each.output_type == "display_data"]
    return output.data["text/plain"], output.data["text/html"]


def test_a_right_function_is_told_to_hold(outputs):
    text, html = shown(outputs, 3)
    assert "attention.softmax   held for" in text
    assert "All 6 checks held." in text
    assert "All 6 checks held." in html
    assert "attention.softmax" in html


def test_a_cell_is_run_and_its_functions_are_checked_with_what_was_run_before(outputs):
    text, html = shown(outputs, 4)
    assert "softmax(np.array([[0.0, 1250.0]]))" in text
    assert "5 of 6 checks held." in text
    assert "softmax(np.array([[0.0, 1250.0]]))\ngave      [[0.0, np.nan]]" in html
    assert "Hint:" in html


def test_what_a_student_wrote_is_escaped_and_the_html_is_well_formed(outputs):
    _, html = shown(outputs, 4)
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert _tags(html) >= {"table", "details", "pre"}
    assert not _tags(html) & {"script", "link", "img", "iframe"}


def test_the_grader_does_not_run_in_the_kernel(outputs):
    (output,) = outputs[5]
    assert output.data["text/plain"] == "[]"


def test_a_wrong_name_is_one_sentence(outputs):
    said = [each.get("text") or each.get("evalue") for each in outputs[6]]
    assert "no module, item or check is called 'attention.sofmax'; did you mean attention.softmax" in "".join(said)
    assert "defines no function that is asked for" in "".join(str(dict(each)) for each in outputs[7])


def test_without_a_name_all_that_is_begun_is_checked(outputs):
    text, _ = shown(outputs, 9)
    assert "attention.softmax       broken, 5 of 6 held" in text
    assert "attention.causal_mask   raised" in text
    assert "name 'undefined' is not defined" in text
    assert "Not begun: " in text


def test_cells_keep_their_numbers_and_those_that_define_nothing_are_left_out():
    history = ["", "%load_ext proofmark", RIGHT, "print(softmax)", RIGHT, "for i in range(9): pass", "%proofmark"]
    assert cells_of(history) == ["", "", "", "", RIGHT, "", ""]


def test_a_notebook_with_the_magic_can_be_handed_in(tmp_path):
    cells = [nbformat.v4.new_code_cell(cell) for cell in ("import numpy as np", WRONG)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "alice.ipynb")
    ((source,),) = [submission.sources for submission in take_in([tmp_path / "alice.ipynb"])]
    assert source.cells[1].startswith("pass  # %%proofmark\ndef softmax(")


def _tags(html):
    """Return the tags of a page, each of which must be closed in order."""
    seen, opened = set(), []

    class Tags(HTMLParser):
        def handle_starttag(self, tag, attrs):
            seen.add(tag)
            opened.append(tag)

        def handle_endtag(self, tag):
            assert opened.pop() == tag

    Tags().feed(html)
    assert opened == []
    return seen
