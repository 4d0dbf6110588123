"""The command `graft serve`: the published site on this machine, built again when inputs change."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click

from dbt_graft.analysis.render.phrases import join_names
from dbt_graft.graft.commands.command import config_option, load_config
from dbt_graft.graft.project.config import Config, find, load
from dbt_graft.graft.steps.served_site import HOST, SiteVersion, check_site, site_server, subpath
from dbt_graft.lineage.errors import GraftError

_SHOWN = 3


@click.command(
    epilog="\b\nExamples: graft build && graft serve --port 8080\n          graft serve --watch"
)
@config_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port of this machine; 0 for any that is free.",
)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    metavar="NAME",
    help="A name of this machine beside localhost, behind a proxy or a tunnel; requests for others "
    "are refused. May be given again.",
)
@click.option(
    "--watch",
    is_flag=True,
    help="Build the site, and again whenever graft.yml, dbt's artifacts or a log changes; open "
    "pages load themselves again.",
)
def serve(config_path: Path | None, port: int, allowed_hosts: tuple[str, ...], watch: bool) -> None:
    """Show the published site on this machine, until Ctrl-C.

    Pages lie below the path of `site.url`, as they will be when published. Nobody else can reach
    them: to publish, copy the folder to a web server.
    """
    config = load_config(config_path)
    site, version = Path(config.path(config.site.out)), SiteVersion() if watch else None
    file = config_path or find(Path())
    build = [sys.executable, "-m", "dbt_graft", "build", "--config", str(file)]
    if not watch:
        check_site(site)
    # The port first: a build takes longer than to find it taken.
    with site_server(site, config.site.url, port, version, allowed_hosts) as server:
        if watch and not (site / "index.html").is_file():
            _run(build)
            check_site(site)
        address = f"http://{HOST}:{server.server_port}{subpath(config.site.url)}"
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        try:
            click.echo(f"{address}  (Ctrl-C ends it)")
            if version:
                _rebuild(config, file, build, version)
            serving.join()
        except KeyboardInterrupt:
            server.shutdown()
            click.echo()


def _rebuild(config: Config, file: Path, build: Sequence[str], version: SiteVersion) -> None:
    """Build the site whenever its inputs change, one build at a time, until Ctrl-C."""
    from dbt_graft.catalog.build import design_folder
    from dbt_graft.graft.steps.watching import changed_files, inputs, next_files

    # The design is an input of those who change it.
    build_inputs = inputs(config, file, design_folder())
    before = build_inputs.files()
    while True:
        if _run(build):
            version.increase()
        now = next_files(build_inputs, before)
        shown = [str(path) for path in changed_files(before, now)]
        click.echo(f"changed: {join_names(shown, _SHOWN)}", err=True)
        with suppress(GraftError):  # the build shows it; the inputs are those of before
            build_inputs = inputs(load(file), file, design_folder())
        before = build_inputs.files()


def _run(build: Sequence[str]) -> bool:
    """Build in a process of its own: Spark and the memory of a build end with it."""
    return subprocess.run(build, stdout=subprocess.DEVNULL, check=False).returncode == 0
