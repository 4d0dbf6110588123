// A tour through a dbt docs page, run in the page: every page, tab, tree, search and selection; of
// data tests of a kind the first of a model and the first of a source, or each.
// Returns a map: place -> text shown there.
async (eachTest) => {
  const root = document.documentElement;
  const injector = angular.element(root).injector();
  const service = (name) => injector.get(name);
  const stable = () => new Promise((done) => angular.getTestability(root).whenStable(done));
  const drawn = () => new Promise((done) => setTimeout(done, 0));
  const project = await new Promise((done) => service("project").ready(done));
  const seen = {};
  const text = (selector) =>
    [...document.querySelectorAll(selector)].map((found) => found.innerText).join("\n");
  const shown = (element) => element.offsetParent !== null;

  const visit = async (state, params) => {
    const place = `${state} ${Object.values(params)}`;
    await service("$state").go(state, params);
    await stable();
    await drawn();
    for (const row of document.querySelectorAll(".app-content tr[ng-click]")) row.click();
    seen[place] = text(".app-content");
    const tabs = ".app-content a[ng-click^=setSelected], .app-content a[ng-click^=setType]";
    for (const tab of document.querySelectorAll(tabs)) {
      tab.click();
      seen[`${place}: ${tab.innerText}`] = tab.closest(".panel").innerText;
    }
  };

  const kinds = new Set();
  const isLikeAnother = ({ resource_type, name }) => {
    const [kind] = name.match(/^(source_)?(not_null|unique|accepted_values|relationships)?/);
    return resource_type === "test" && kinds.size === kinds.add(kind).size;
  };
  for (const node of Object.values(project.nodes)) {
    if (!eachTest && isLikeAnother(node)) continue;
    if (service("$state").get(`dbt.${node.resource_type}`)) {
      await visit(`dbt.${node.resource_type}`, { unique_id: node.unique_id });
    }
  }
  for (const id of Object.keys(project.macros)) await visit("dbt.macro", { unique_id: id });
  for (const source of new Set(Object.values(project.sources).map((node) => node.source_name))) {
    await visit("dbt.source_list", { source });
  }
  await visit("dbt.overview", {});
  for (const name of new Set(Object.values(project.nodes).map((node) => node.package_name))) {
    await visit("dbt.project_overview", { project_name: name });
  }

  for (const tab of document.querySelectorAll(".switch-label")) {
    tab.click();
    const opened = new Set();
    const closed = () =>
      [...document.querySelectorAll(".menu a:not(.active)[ng-click^=onFolderClick]")].find(
        (line) => shown(line) && !opened.has(line),
      );
    for (let line = closed(); line; line = closed()) {
      opened.add(line);
      line.click();
      await stable();
    }
    await stable();
    seen[`tree ${tab.innerText.trim()}`] = text(".app-menu");
  }

  const input = document.getElementById("search");
  input.focus();
  for (const query of ["orders", "order_id", "select customer", "daily", "€", "to_eur", "finance"]) {
    input.value = query;
    input.dispatchEvent(new Event("input"));
    input.dispatchEvent(new Event("change"));
    await stable();
    for (const more of document.querySelectorAll(".results a[ng-click]")) {
      if (shown(more)) more.click();
    }
    seen[`search ${query}`] = text(".results");
    for (const box of document.querySelectorAll("input[ng-model^=checkboxStatus]")) {
      box.click();
      await stable();
      seen[`search ${query}: ${box.id}`] = text(".results");
      box.click();
      await stable();
    }
  }

  const graph = service("graph");
  const selector = service("selectorService");
  seen.options = JSON.stringify(selector.options);
  const selections = [
    "", "1+orders+1", "+orders+", "@stg_orders", "+orders", "orders+2", "tag:daily",
    "source:raw", "source:raw.exchange_rates+", "+exposure:revenue_dashboard", "group:sales",
    "path:models/marts", "file:orders.sql", "package:shop", "shop.marts", "config.materialized:table",
    "config.severity:ERROR", "config.enabled:1", "config.tags:staging", "test_type:singular",
    "test_name:not_null", "orders,tag:daily", "orders customers", "unit_test:*",
  ];
  for (const include of selections) {
    selector.selection.dirty.include = include;
    graph.updateGraph(selector.updateSelection());
    await stable();
    seen[`graph ${include}`] = graph.graph.elements
      .map(({ group, data }) =>
        group === "edges"
          ? `${data.source} -> ${data.target}`
          : `${data.id} ${data.label} ${data.node_color} ${data.hidden}`,
      )
      .sort()
      .join("\n");
  }
  return seen;
}
