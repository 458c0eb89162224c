"""The command that writes documents from stored results: report."""

from pathlib import Path
from typing import Annotated

import typer

from leaps.cli.app import JsonOption, app, err, out, print_json


@app.command()
def report(
    results: Annotated[
        Path, typer.Option("--results", metavar="DIR", help="Folder of stored results.")
    ] = Path("results"),
    to: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the documents. Default: docs.")
    ] = None,
    readme: Annotated[
        Path | None,
        typer.Option("--readme", metavar="FILE", help="README file whose marked parts are updated."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="List files that are not up to date, and write nothing.")
    ] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Include quick runs, to try the layout. Needs --out.")
    ] = False,
    json_: JsonOption = False,
) -> None:
    """Write documents with the stored results beside the reported ones.

    Writes reproduction.md and claims.md, with a chart for each table and the paper's figures as SVG, all from
    stored results. Quick runs are left out.
    For instance:

      leaps report
      leaps report --readme README.md --check
    """
    from leaps.experiments.report.contents import gather
    from leaps.experiments.report.documents import PAGE, documents_of, environments_document, write
    from leaps.experiments.report.wording import unexplained_lines
    from leaps.experiments.store import Store

    if quick and (to is None or readme is not None):
        raise ValueError("--quick: expected --out and no --readme, so that it is not mistaken for the report")
    store = Store(results, only_read=True)
    try:
        contents = gather(store, quick=quick)
    finally:
        for file in store.aside:
            err.print(f"could not be read, and is left out: {file}", markup=False, soft_wrap=True)
    folder = to or Path("docs")
    documents = documents_of(contents, folder, readme)
    if (folder / PAGE).is_file():
        documents.append(environments_document(store, folder / PAGE))
    outdated = [str(document.file) for document in documents if not document.up_to_date]
    if not check:
        write(documents)
    unexplained = unexplained_lines(contents)
    if json_:
        print_json(
            {
                "experiments": contents.experiments,
                "files": [str(document.file) for document in documents],
                "outdated": outdated,
                "written": not check,
                "left_out": contents.left_out,
                "unexplained": unexplained,
            }
        )
    else:
        for document in documents if not check else []:
            out.print(str(document.file), markup=False, soft_wrap=True)
        if contents.left_out:
            out.print(
                f"results left out (quick runs, or trainings that others started from): {contents.left_out}"
            )
        if unexplained:
            out.print(
                f"entries that are not explained yet, listed at the end of the report: {len(unexplained)}"
            )
        for name in outdated if check else []:
            out.print(f"not up to date: {name}", markup=False, soft_wrap=True, style="red")
    if check and outdated:
        raise typer.Exit(1)
