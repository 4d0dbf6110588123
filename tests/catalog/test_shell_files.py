"""The parts that all pages share: moved into files, one for each content."""

from __future__ import annotations

from dbt_graft.catalog.shell_files import slim_page

ICON = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><path d="M0 0h1"/></svg>'


def test_icons_and_scripts_are_files() -> None:
    html, files = slim_page(
        f"<head></head>{ICON}<script>a=1</script>\n<script>b=2</script>{ICON}", "../", str
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
    html, files = slim_page(config, "../", str)
    assert (
        '<script id="__config" type="application/json">{"base": ".."}</script><script src="' in html
    )
    [script] = files.values()
    assert "tags" in script


def test_style_sheets_and_own_scripts_are_one_file_each_in_their_order() -> None:
    site = {
        "assets/stylesheets/main.css": "a{}/*# sourceMappingURL=main.css.map */",
        "styles/own.css": "b{}",
        "scripts/one.js": "one()",
        "scripts/two.js": "two()",
    }
    links = "".join(f'<link rel="stylesheet" href="../{path}">' for path in [*site][:2])
    scripts = "".join(f'<script src="../{path}"></script>' for path in [*site][2:])
    html, files = slim_page(f"<head>{links}</head><body>{scripts}</body>", "../", site.__getitem__)
    assert list(files.values()) == ["a{}\nb{}", "one();\ntwo()"]
    assert [f'="../{path}"' in html for path in files] == [True, True]
    assert not any(path in html for path in site)


def test_the_menu_of_a_phone_is_put_there_by_a_script() -> None:
    menu = '<nav class="md-nav md-nav--primary"><a href="../tasks/">Tasks</a></nav>'
    html, files = slim_page(f'<div class="md-sidebar__inner">{menu}</div>', "../", str)
    assert "Tasks" not in html
    [script] = files.values()
    assert "Tasks" in script
