"""The parts that all pages share: moved into files, one for each content."""

from __future__ import annotations

from dbt_graft.catalog.shell_files import slimmed

ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M0 0h1"/></svg>'


def test_icons_and_scripts_are_files() -> None:
    html, files = slimmed(
        f"<head></head>{ICON}<script>a=1</script>\n<script>b=2</script>{ICON}", "../"
    )
    assert html.count('<svg class="graft-icon-0"></svg>') == 2
    assert "<script>" not in html
    scripts = [text for path, text in files.items() if path.endswith(".js")]
    styles = [text for path, text in files.items() if path.endswith(".css")]
    assert scripts == ["a=1\nb=2"]
    assert len(styles) == 1
    assert "M0 0h1" in styles[0]
    assert all(f'"../{path}"' in html for path in files)


def test_settings_that_pages_share_are_a_file_and_the_base_is_the_pages_own() -> None:
    config = '<script id="__config" type="application/json">{"base": "..", "tags": null}</script>'
    html, files = slimmed(config, "../")
    assert (
        '<script id="__config" type="application/json">{"base": ".."}</script><script src="' in html
    )
    [script] = files.values()
    assert "tags" in script
