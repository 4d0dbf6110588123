// The types of the site's scripts; `make lint` checks the scripts against them.

interface Point { x: number; y: number }
interface Sizes {
  width: number; widest: number; room: number; height: number
  across: number; between: number; lane: number
}
interface Layout {
  width: number
  height: number
  corners: Map<string, Point>
  widths: Map<string, number>
  /** By `source target`, each of which has no blank. */
  routes: Map<string, Point[]>
}

/** A neighbour of a box; see `catalog/explorer/boxes.py` for the flags. */
interface Link extends Span { side: 0 | 1; to: string; flags: number; tasks: string[] }
/** The day from which on it is there, counted from the first one, and one more than the day on
 * which it is gone; 0 where it is not. */
interface Span { since: number; until: number }
interface Box extends Span {
  id: string; name: string; place: string; platform: string; sort: string; shape: string
  wanted: number; owner: string; tags: string[]; flags: number; links: Link[]
  /** Views that only pass it on, by name. */
  views: string[]
}
interface Folder { id: string; name: string; note: string; datasets: number; x: number; y: number; width: number }
interface Opening { boxes: string[]; folders: Folder[]; links: [number, number, number][] }

interface ColumnName { name: string; slug: string }
/** `own` is empty for the rows of the box, `from` for those of the source. */
interface ColumnSource { source: string; task: string; own: string; from: string; kind: number }
interface Columns { names: ColumnName[]; sources: ColumnSource[] }

/** What the explorer shows: all of it is in the address. */
interface State {
  start: string
  up: number
  down: number
  /** Columns whose way is lit: `amount` of the start, `spark/raw/orders:amount` of another box. */
  columns: string[]
  /** Boxes that were opened outward: `id>` downstream, `<id` upstream; folders by their id. */
  opened: string[]
  unfolded: string[]
  /** Boxes whose views are shown. */
  views: string[]
  hidden: string[]
  /** The two boxes between which paths are shown. */
  path: string[]
  tasks: boolean
  control: boolean
  inferred: boolean
  deleted: boolean
  /** The day whose graph is shown, `2026-10-01`; empty for all that is known now. */
  date: string
  /** Empty: by schema where all boxes are too small to read. */
  fold: "" | "nothing" | "schema" | "owner"
  filters: Record<Facet, string[]>
}
type Facet = "platform" | "schema" | "owner" | "tag" | "kind" | "evidence"

/** A box in the view: of a dataset or task, or a number of them folded into one. */
interface Shown {
  id: string; name: string; note: string; shape: string; wanted: number; title: string
  failed: boolean; gone: boolean
  /** Neighbours that are not shown. */
  up: number; down: number
  box: Box | null
  /** What a folded box stands for. */
  members: string[]
  folder: Folder | null
  /** Of a view that only passes it on: the table. */
  of?: string
}
interface Arrow { source: string; target: string; flags: number; both: boolean }
interface View {
  boxes: Map<string, Shown>
  arrows: Arrow[]
  /** There was more than can be shown. */
  cut: boolean
  /** Positions of folders that were computed at build time. */
  fixed: Map<string, Point & { width: number }> | null
  /** The folders of the opening view that are shown open. */
  opened: string[]
  /** The boxes on the paths between two, where these are asked for. */
  way: Set<string> | null
}

interface Walk {
  datasets: Map<string, Box>
  ends: Set<string>
  state: State
  add(ids: Iterable<string>): Promise<Box[]>
  addTasks(): Promise<void>
  datasetsBeside(box: Box, side: number): string[]
  view(): View
}

interface Data {
  opening(): Promise<Opening>
  box(id: string): Promise<Box | undefined>
  boxes(ids: Iterable<string>): Promise<Map<string, Box>>
  /** The boxes below a folder. */
  inside(folder: string): Promise<Box[]>
  columns(id: string): Promise<Columns>
  /** Columns that are loaded already. */
  loadedColumns(id: string): Columns | undefined
}
interface Placed { x: number; y: number; width: number }
interface Scene {
  view: View
  places: Map<string, Placed>
  routes: Map<string, Point[]>
}
interface Lit { id: string; slug: string }
interface LitWay { lines: ColumnLine[]; columns: Map<string, Set<string>> }
interface ColumnLine { source: string; from: string; target: string; own: string; task: string; kind: number }

interface NameFound { kind: string; name: string; path: string; platform?: string; owner?: string; note?: string }

/** Left, top, right, bottom. */
type Rectangle = [number, number, number, number]

interface Camera {
  x: number; y: number; scale: number
  moveTo(x: number, y: number, scale: number): void
  zoom(factor: number, at?: Point): void
  /** A rectangle can be read where all of it is in sight. */
  fits(rectangle: Rectangle): boolean
  fit(rectangle: Rectangle): void
  /** Fit a rectangle, but no smaller than can be read: as much of it as there is room for. */
  read(rectangle: Rectangle, about: Rectangle): void
  /** Bring a rectangle of the scene into sight, with as little movement as possible. */
  reveal(rectangle: Rectangle): void
}

/** What a person can do to a box. */
interface Actions {
  select(id: string): void
  open(id: string, side: 0 | 1): void
  enter(folder: string): void
  unfold(id: string): void
  /** Show the views that only pass a table on, or fold them. */
  views(id: string): void
  light(lit: Lit | null): void
  start(id: string): void
  hide(id: string): void
  path(id: string): void
  /** Paths from the chosen box to this one. */
  join(id: string): void
  column(id: string, slug: string): void
  change(change: Partial<State>, tidy?: boolean): void
}

interface Explore {
  layout(
    nodes: Iterable<string>, edges: Iterable<readonly [string, string]>, sizes: Sizes,
    wanted?: Map<string, number>,
  ): Layout
  take(name: string, content: any): void
  data(folder: string): Data
  EVIDENCE: string[]
  readState(hash: string): State
  writeState(state: State): string
  /** The column that the address lights. */
  litBy(state: State): Lit | null
  /** `missing`: it is what the address names and is not there. */
  message(state: State, unfiltered: View, view: View, look: Look, fresh: number): { text: string; missing: boolean }
  /** The state with the ids of what is written in other spellings. */
  spelled(state: State, data: Data): Promise<State>
  /** In the middle of the drawing: what was not found, and names like it. */
  nothing(frame: HTMLElement, choose: (id: string) => void): { show(text: string, name: string): Promise<void> }
  walk(state: State, data: Data, isReadable: (view: View) => boolean): Promise<View>
  allows(link: Link, state: State): boolean
  /** The first and the last day of the lineage, `2026-10-01`; null where there are not two. */
  days: [string, string] | null
  /** The number of a day; -1 where the state has none. */
  dayOf(state: State): number
  /** The date of a day's number. */
  dateOf(day: number): string
  /** A date for people: `1 October 2026`. */
  dateInWords(date: string): string
  /** It was there on the day of the state, or is now; what is gone is where that is asked for. */
  isThere(one: Span & { flags: number }, gone: number, state: State): boolean
  hasEnded(one: Span & { flags: number }, gone: number, state: State): boolean
  dateControl(actions: ToolbarActions): { menu: Node[]; show(state: State): string }
  folded(view: View, state: State): View
  withViews(view: View, state: State): View
  filtered(view: View, state: State): View
  facets(view: View): Record<Facet, Map<string, number>>
  between(from: string, to: string, state: State, data: Data): Promise<Set<string>>
  way(state: State, data: Data): Promise<Set<string> | null>
  SIZES: Sizes
  placed(view: View, old: Scene | null, tidy: boolean): Scene
  shift(scene: Scene, open: Map<string, number>, x: number, y: number, right?: number): number
  overview(state: State, data: Data, isReadable: (view: View) => boolean): Promise<View>
  newWalk(state: State, data: Data): Walk
  lineStyle(kind: number): "direct" | "inferred" | "indirect"
  openHeights(view: View, state: State, look: Look): Map<string, number>
  columnRows(shown: Shown, columns: Columns | undefined, look: Look, box: number, fonts: string): SVGElement
  rowMiddle(scene: Scene, open: Map<string, number>, look: Look, id: string, slug: string): number
  /** The id of a page's box, from its path in the site. */
  idOf(path: string): string
  pageOf(id: string): string
  bounds(scene: Scene, open: Map<string, number>, ids?: string[]): Rectangle
  anyInSight(scene: Scene, camera: Camera, frame: HTMLElement, ids: string[]): boolean
  events(frame: HTMLElement, actions: Actions, current: () => { scene: Scene | null; selected: string }): void
  keys(frame: HTMLElement, actions: ToolbarActions, scene: () => Scene | null): void
  curve(route: Point[]): string
  svg(name: string, attributes?: Record<string, string | number | boolean>, ...children: (Node | string)[]): SVGElement
  html(name: string, attributes?: Record<string, any>, ...children: (Node | string)[]): HTMLElement
  shortened(text: string, room: number, font: string): string
  canvas(frame: HTMLElement): Canvas
  columnWay(lit: Lit, view: View, data: Data): LitWay
  camera(frame: HTMLElement, layer: HTMLElement): Camera
  panel(root: HTMLElement, actions: Actions): Panel
  toolbar(root: HTMLElement, actions: ToolbarActions, search: HTMLElement): Toolbar
  search(choose: (id: string, column: string) => void, entries: () => NameFound[]): HTMLElement
  picture(canvas: SVGSVGElement): { text: string; width: number; height: number }
  save(canvas: SVGSVGElement, kind: "svg" | "png", name: string): Promise<void>
  /** For tests: the running explorer. */
  running?: { state: State; scene: Scene | null; idle(): Promise<void> }
}
interface Canvas {
  layer: SVGSVGElement
  /** What the camera moves. */
  sheet: HTMLElement
  draw(scene: Scene, state: State, look: Look): void
  focus(id: string): void
}
interface Look {
  selected: string
  path: Set<string> | null
  lit: Lit | null
  way: LitWay | null
  columns: Map<string, Columns>
}
interface Panel { show(shown: Shown | null, state: State, view: View, look: Look): void }
interface ToolbarActions extends Actions {
  tidy(): void
  fit(): void
  zoom(factor: number): void
  save(kind: "svg" | "png"): void
  home(): void
  focus(id: string): void
}
interface Toolbar { show(state: State, view: View): void; say(text: string): void }

interface Graft {
  /** The relative path from the page to the site's root. */
  root?: string
  names?: {
    find(query: string, options?: { kind?: string; limit?: number }): Promise<NameFound[]>
    near(query: string, limit: number): Promise<NameFound[]>
    words(name: string): string[]
  }
  explore: Explore
}
declare var graft: Graft
