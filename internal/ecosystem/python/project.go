package python

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/safetext"
)

// project holds the package requirements of a folder with manifests.
type project struct {
	dir     string
	name    string
	files   map[string][]byte // manifests: path → text
	extras  map[string][]string
	groups  map[string][]any
	lines   []string // requirements of every task, and those of test groups
	lists   []string // requirements lists that a manifest names
	folders []string // folders of the tree that it depends on
	wanted  map[string]bool
	loose   map[string]bool // lines of tox, nox, setup.py and builds, which a lock file may lack
}

// projectFiles lists the manifests with the package requirements of a project.
var projectFiles = []string{"pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "noxfile.py", "Pipfile"}

// maxLines limits the packages of one project, because each is searched in its manifests.
const maxLines = 5000

// readManifests reads the manifests of a folder.
func readManifests(sources ecosystem.Sources, dir string) (*project, error) {
	p := &project{dir: dir, files: map[string][]byte{}, extras: map[string][]string{}, groups: map[string][]any{},
		wanted: map[string]bool{}, loose: map[string]bool{}}
	for _, name := range projectFiles {
		file := path.Join(dir, name)
		if !sources.HasFile(file) {
			continue
		}
		text, err := ecosystem.ReadText(sources, file)
		if err != nil {
			return nil, err
		}
		if len(text) > ecosystem.MaxManifest {
			sources.AddNote("%s is not read: it is larger than 1 MiB", file)
			continue
		}
		p.files[file] = text
	}
	textOf := func(name string) string { return string(p.files[path.Join(dir, name)]) }
	pyproject, err := readPyproject([]byte(textOf("pyproject.toml")))
	if err != nil {
		sources.AddNote("%s cannot be read: %s", path.Join(dir, "pyproject.toml"),
			safetext.Cut(safetext.StripLine(err.Error()), 60))
	}
	cfg, _ := readINI(textOf("setup.cfg"))
	p.readSetup(cfg, newSource(textOf("setup.py")))
	p.addLoose(nil, slices.Concat(append(slices.Collect(maps.Values(p.extras)), p.lines)...))
	of := len(p.lines)
	p.readPyproject(pyproject)
	for _, line := range slices.Concat(append(slices.Collect(maps.Values(pyproject.Project.Optional)), p.lines[of:])...) {
		delete(p.loose, line)
	}
	wish := readToxTable(pyproject.Tool.Tox)
	wish.addWish(readToxFile(textOf("tox.ini")).wish)
	wish.addWish(readNoxFile(textOf("noxfile.py")).wish)
	needs := extensionNeeds(textOf("setup.py"), pyproject)
	p.addLoose(slices.Concat(append(slices.Collect(maps.Values(p.extras)), p.lines)...),
		append(slices.Clone(wish.lines), needs...))
	p.lines = append(p.lines, needs...)
	p.wantTests(wish)
	if more := len(p.lines) - maxLines; more > 0 {
		sources.AddNote("%s asks for %d more packages than the %d that are looked at", path.Join(dir, projectFiles[0]),
			more, maxLines)
		p.lines = p.lines[:maxLines]
	}
	return p, nil
}

// addLoose adds lines as loose ones, except those in known.
func (p *project) addLoose(known, lines []string) {
	has := make(map[string]bool, len(known))
	for _, line := range known {
		has[line] = true
	}
	for _, line := range lines {
		if !has[line] {
			p.loose[line] = true
		}
	}
}

// readSetup reads the manifests of setuptools.
func (p *project) readSetup(cfg iniFile, setup *source) {
	p.name = canonicalName(strings.TrimSpace(cfg["metadata"]["name"]))
	for _, key := range []string{"install_requires", "tests_require"} {
		p.addSetupLines("", splitLines(cfg["options"][key]))
		p.lines = append(p.lines, setup.readArgument(key)...)
	}
	for extra, value := range cfg["options.extras_require"] {
		p.addSetupLines(canonicalName(extra), splitLines(value))
	}
	for extra, lines := range setup.readTable("extras_require") {
		p.extras[canonicalName(extra)] = append(p.extras[canonicalName(extra)], lines...)
	}
	if names := setup.readArgument("name"); p.name == "" && len(names) == 1 {
		p.name = canonicalName(names[0])
	}
}

// addSetupLines adds the lines of a setup.cfg value. A line may also name files that hold the requirements.
func (p *project) addSetupLines(extra string, lines []string) {
	for _, line := range lines {
		if files, ok := strings.CutPrefix(line, "file:"); ok {
			for f := range strings.SplitSeq(files, ",") {
				p.addList(extra, strings.TrimSpace(f))
			}
			continue
		}
		for one := range strings.SplitSeq(line, ";;") {
			p.addLine(extra, one)
		}
	}
}

func (p *project) addLine(extra, line string) {
	if extra == "" {
		p.lines = append(p.lines, line)
		return
	}
	p.extras[extra] = append(p.extras[extra], line)
}

// addList adds a requirements list that a manifest names, if it has no extra or one for tests.
func (p *project) addList(extra, file string) {
	if extra == "" || isForTests(extra, nil) {
		p.lists = append(p.lists, path.Join(p.dir, file))
	}
}

// readPyproject reads a pyproject.toml, including the tables of each tool.
func (p *project) readPyproject(m pyproject) {
	p.name = canonicalName(firstText(m.Project.Name, m.Tool.Poetry.Name, p.name))
	p.lines = slices.Concat(p.lines, m.Project.Dependencies, m.Tool.UV.Dev, m.Tool.Flit.Metadata.Requires)
	for _, set := range []map[string][]string{m.Project.Optional, m.Tool.Flit.Metadata.Extra} {
		for extra, lines := range set {
			p.extras[canonicalName(extra)] = append(p.extras[canonicalName(extra)], lines...)
		}
	}
	for group, lines := range m.Groups {
		p.groups[canonicalName(group)] = lines
	}
	for group, lines := range m.Tool.PDM.Dev {
		for _, l := range lines {
			p.groups[canonicalName(group)] = append(p.groups[canonicalName(group)], l)
		}
	}
	for extra, value := range m.Tool.Setuptools.Dynamic {
		switch t, _ := value.(map[string]any); extra {
		case "dependencies":
			for _, f := range textsOf(t["file"]) {
				p.addList("", f)
			}
		case "optional-dependencies":
			for name, one := range t {
				t, _ := one.(map[string]any)
				for _, f := range textsOf(t["file"]) {
					p.addList(canonicalName(name), f)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Tool.Hatch.Envs)) {
		env := m.Tool.Hatch.Envs[name]
		if lines := append(slices.Clone(env.Dependencies), env.Extra...); name == "default" || name == "hatch-test" ||
			isForTests(name, lines) {
			p.lines = append(p.lines, lines...)
			p.wantGroups(env.Features, env.Groups)
		}
	}
	p.readPoetry(m)
}

func firstText(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func (p *project) readPoetry(m pyproject) {
	wanted := map[string]bool{}
	for extra, names := range m.Tool.Poetry.Extras {
		if isForTests(extra, names) {
			for _, n := range names {
				wanted[canonicalName(n)] = true
			}
		}
	}
	optional := func(name string) bool { return wanted[name] }
	sets := []map[string]any{m.Tool.Poetry.Dependencies, m.Tool.Poetry.Dev}
	for _, g := range slices.Sorted(maps.Keys(m.Tool.Poetry.Group)) {
		if set := m.Tool.Poetry.Group[g].Dependencies; isForTests(g, slices.Collect(maps.Keys(set))) {
			sets = append(sets, set)
		}
	}
	for _, set := range sets {
		lines, folders := poetryLines(set, optional)
		p.lines = append(p.lines, lines...)
		for _, f := range folders {
			p.addFolder(f)
		}
	}
}

// addFolder adds a folder of the tree that the project depends on. It ignores folders outside of the tree.
func (p *project) addFolder(folder string) {
	if to := path.Join(p.dir, folder); filepath.IsLocal(to) && ecosystem.IsPlainPath(to) {
		p.folders = append(p.folders, to)
	}
}

// wantTests adds the extras and groups for tests, and the test requirements in tox and nox.
func (p *project) wantTests(w wish) {
	for _, e := range slices.Sorted(maps.Keys(p.extras)) {
		if isForTests(e, p.extras[e]) {
			p.wantGroups([]string{e}, nil)
		}
	}
	for _, g := range slices.Sorted(maps.Keys(p.groups)) {
		if isForTests(g, textsOf(p.groups[g])) {
			p.wantGroups(nil, []string{g})
		}
	}
	for _, f := range w.lists {
		p.addList("", f)
	}
	p.lines = append(p.lines, w.lines...)
	p.wantGroups(w.extras, w.groups)
	for i := 0; i < len(p.lines); i++ { // own[test] also adds the lines of its extra, which are then checked too
		if r, ok := parseRequirement(p.lines[i]); ok && p.isOwn(p.lines[i]) {
			p.wantGroups(r.extras, nil)
		}
	}
	p.lines = slices.DeleteFunc(p.lines, p.isOwn)
}

// wantGroups adds the lines of extras and groups. It adds each of them only once.
func (p *project) wantGroups(extras, groups []string) {
	for _, e := range extras {
		if e = canonicalName(e); !p.wanted["extra "+e] {
			p.wanted["extra "+e] = true
			p.lines = append(p.lines, p.extras[e]...)
		}
	}
	for _, g := range groups {
		if g = canonicalName(g); p.wanted["group "+g] {
			continue
		}
		p.wanted["group "+g] = true
		p.lines = append(p.lines, textsOf(p.groups[g])...)
		for _, l := range p.groups[g] {
			if t, ok := l.(map[string]any); ok {
				p.wantGroups(nil, textsOf(t["include-group"]))
			}
		}
	}
}

// isOwn reports whether a line names the project itself, with or without extras.
func (p *project) isOwn(line string) bool {
	r, ok := parseRequirement(line)
	return ok && r.name == p.name && p.name != ""
}
