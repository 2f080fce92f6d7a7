package python

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/safetext"
)

const venv = "/opt/venv"

// says is how pip fails.
var says = ecosystem.Words{
	Permanent: []string{
		"ERROR: No matching distribution", "ERROR: Could not find a version", "ERROR: Invalid requirement", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES",
		"ERROR: ResolutionImpossible", "ERROR: Cannot install",
	},
	Telling: []string{"ERROR:"},
}

// Installs are a layer of wheels, in an environment of their own that sees
// Debian's packages too, and the path to modules in src. A package without a wheel
// would run its set-up: it is refused.
func (e Ecosystem) Installs(s ecosystem.Sources) ([]ecosystem.Install, error) {
	r, err := readRequirements(s)
	if err != nil {
		return nil, err
	}
	var out []ecosystem.Install
	if len(r.lines) > 0 {
		out = append(out, r.wheels())
	}
	if len(r.sources) > 0 {
		out = append(out, ecosystem.Install{
			Layer: "pypath", Why: "modules in " + strings.Join(r.sources, ", "), What: "the path to modules in src", Inputs: r.sources,
			Collector: func() ecosystem.Collector { return pathFile{s.Places(), r.sources} },
		})
	}
	return out, nil
}

// wheels is the layer of what the lists name.
func (r *requirements) wheels() ecosystem.Install {
	from := strings.Join(r.from, ", ")
	failure := "the Python packages of " + from + " cannot be installed"
	fix := "check that `pip install --only-binary :all:` works with these files for Python " + debianVersion + " and `pip config get global.index-url` answers; or go on without them, with container.deps: off: what needs them stays red"
	return ecosystem.Install{
		Layer: "pip", Why: "the Python packages of " + from, What: from, Registry: ecosystem.PyPI, Remote: true, Locks: r.locks, Says: says,
		Inputs: slices.Concat(r.lines, []string{"constraints"}, r.constraints),
		Stage: []ecosystem.StagedFile{
			{Path: "requirements.txt", Text: []byte(strings.Join(r.lines, "\n") + "\n")},
			{Path: "constraints.txt", Text: []byte(strings.Join(r.constraints, "\n") + "\n")},
		},
		Steps: []ecosystem.Step{
			{Dir: ".", Command: "python3 -m venv --system-site-packages --without-pip " + venv, Progress: "making an environment for Python packages", Failure: failure, Fix: fix},
			{
				Dir: ".", Progress: "installing the Python packages of " + from, Failure: failure, Fix: fix,
				Command: "python3 -m pip --python " + venv + "/bin/python install -q --only-binary :all: --no-compile --no-warn-script-location -c constraints.txt -r requirements.txt",
				Env: map[string]string{
					"PIP_CONFIG_FILE": "/dev/null", "PIP_INDEX_URL": r.s.Places().Registry + "/pypi/simple/", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1",
					"PIP_CACHE_DIR": "/tmp/pip", "PIP_RETRIES": "1",
				},
			},
			// Times of files in a layer mean nothing: compiled files must not be judged
			// by them.
			{Dir: ".", Command: venv + "/bin/python -m compileall -q --invalidation-mode unchecked-hash " + venv + "/lib || true", Progress: "compiling the Python packages", Failure: failure, Fix: fix},
		},
		From: venv, Collector: func() ecosystem.Collector { return venvCollector{} },
		Env: ecosystem.Env{Set: map[string]string{"VIRTUAL_ENV": venv}, Path: venv + "/bin"},
	}
}

// venvCollector copies an environment to where it was made: it names its own place.
type venvCollector struct{}

// Place keeps an entry where it is, less links to elsewhere.
func (venvCollector) Place(e ecosystem.Entry) (ecosystem.Entry, bool) {
	ok := filepath.IsLocal(e.Path) && (e.Link == "" || e.Link == "lib" || strings.HasPrefix(e.Link, "python") || strings.HasPrefix(e.Link, "/usr/bin/python"))
	return ecosystem.Entry{Path: path.Join(venv, e.Path), Link: e.Link}, ok
}

// Files are none.
func (venvCollector) Files() []ecosystem.ImageFile { return nil }

// pathFile makes a project's own modules importable where they lie in a src
// directory, as an editable installation would.
type pathFile struct {
	places ecosystem.Places
	dirs   []string
}

// Place has none: nothing runs for this layer.
func (pathFile) Place(ecosystem.Entry) (_ ecosystem.Entry, ok bool) { return }

// Files is the list of the directories.
func (f pathFile) Files() []ecosystem.ImageFile {
	var text strings.Builder
	for _, d := range f.dirs {
		text.WriteString(path.Join(f.places.Workspace, d) + "\n")
	}
	return []ecosystem.ImageFile{{Path: "usr/local/lib/python" + debianVersion + "/dist-packages/company-project.pth", Text: []byte(text.String())}}
}

var (
	// registryLineRE is a line that names a package of the registry. Options,
	// folders and addresses are none.
	registryLineRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*\s*(\[[A-Za-z0-9._,\s-]*\])?\s*([(=<>!~;].*)?$`)
	includeRE      = regexp.MustCompile(`^(-r|--requirement|-c|--constraint)[\s=]+(\S+)`)
	hashOptionRE   = regexp.MustCompile(`\s*--hash=\S+`)
	// devGroups are the groups of dependencies that working on a project needs.
	devGroups = []string{"dev", "develop", "development", "lint", "test", "testing", "tests"}
)

// requirements are what a tree asks pip to install: lines, and the versions that
// lock files of other tools pin where one of them is wanted.
type requirements struct {
	s           ecosystem.Sources
	lines       []string
	constraints []string
	locks       map[string][]byte // path → content, for the policy
	from        []string          // files that the lines are from
	sources     []string          // directories of the tree that modules are imported from
	seen        map[string]bool
	skipped     []string // lines that are left out, bounded
}

// readRequirements reads the lists of a tree.
func readRequirements(s ecosystem.Sources) (*requirements, error) {
	r := &requirements{s: s, locks: map[string][]byte{}, seen: map[string]bool{}}
	var lists, projects []string
	for _, name := range s.Files() {
		dir, base := path.Dir(name), path.Base(name)
		if !ecosystem.IsPlainPath(dir) || !ecosystem.IsPlainPath(base) || !ecosystem.HasOwnLocks(dir) {
			continue
		}
		if ok, _ := path.Match("*requirements*.txt", base); ok || path.Base(dir) == "requirements" && path.Ext(base) == ".txt" {
			lists = append(lists, name)
		}
		if slices.Contains([]string{"pyproject.toml", "setup.py", "setup.cfg"}, base) && !slices.Contains(projects, dir) {
			projects = append(projects, dir)
		}
	}
	for _, name := range ecosystem.LimitProjects(s, lists, "lists of requirements are installed") {
		if err := r.readList(name, false, 0); err != nil {
			return r, err
		}
	}
	for _, dir := range projects {
		if err := r.readProject(dir); err != nil {
			return r, err
		}
		src := path.Join(dir, "src")
		if slices.ContainsFunc(s.Files(), func(name string) bool { return strings.HasPrefix(name, src+"/") && strings.HasSuffix(name, ".py") }) {
			r.sources = append(r.sources, src)
		}
	}
	for _, left := range r.skipped {
		s.AddNote("%s is not installed: only packages of the registry are", left)
	}
	// Digests are checked by pip for all lines or for none.
	if slices.ContainsFunc(r.lines, func(l string) bool { return !strings.Contains(l, "--hash=") }) {
		for i, l := range r.lines {
			r.lines[i] = strings.TrimSpace(hashOptionRE.ReplaceAllString(l, ""))
		}
	}
	r.lines, r.constraints = uniqueStrings(r.lines), uniqueStrings(r.constraints)
	return r, nil
}

func uniqueStrings(all []string) []string {
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(s string) bool {
		again := seen[s]
		seen[s] = true
		return again
	})
}

func (r *requirements) noteSkipped(file, line string) {
	if len(r.skipped) < 5 {
		r.skipped = append(r.skipped, fmt.Sprintf("%q of %s", safetext.Cut(safetext.StripLine(line), 60), file))
	}
}

// readList reads one list of requirements, or of constraints, and those that it
// includes.
func (r *requirements) readList(name string, constrains bool, depth int) error {
	if r.seen[name] || depth > 8 || !r.s.HasFile(name) {
		return nil
	}
	r.seen[name] = true
	text, err := ecosystem.ReadText(r.s, name)
	if err != nil {
		return err
	}
	r.locks[name] = text
	found := false
	joined := strings.ReplaceAll(strings.ReplaceAll(string(text), "\r", ""), "\\\n", " ")
	for line := range strings.SplitSeq(joined, "\n") {
		line, _, _ = strings.Cut(" "+line, " #")
		line = strings.Join(strings.Fields(line), " ")
		bare := strings.TrimSpace(hashOptionRE.ReplaceAllString(line, ""))
		if m := includeRE.FindStringSubmatch(line); m != nil {
			if to := path.Join(path.Dir(name), m[2]); filepath.IsLocal(to) {
				if err := r.readList(to, constrains || strings.HasPrefix(m[1], "-c") || m[1] == "--constraint", depth+1); err != nil {
					return err
				}
			}
			continue
		}
		switch {
		case bare == "" || strings.HasPrefix(bare, "#"):
		case bare == "-e ." || bare == "." || strings.HasPrefix(bare, "-e .["): // the project itself lies in the tree
		case strings.HasPrefix(bare, "--") || strings.HasPrefix(bare, "-i ") || strings.HasPrefix(bare, "-f "): // where from is the operator's choice
		case !registryLineRE.MatchString(bare):
			r.noteSkipped(name, bare)
		case constrains:
			r.constraints = append(r.constraints, bare)
		default:
			found = true
			r.lines = append(r.lines, line)
		}
	}
	if found {
		r.from = append(r.from, name)
	}
	return nil
}

// readProject reads what a pyproject.toml asks for, and the versions that a lock
// file beside it pins.
func (r *requirements) readProject(dir string) error {
	name := path.Join(dir, "pyproject.toml")
	if !r.s.HasFile(name) {
		return nil
	}
	text, err := ecosystem.ReadText(r.s, name)
	if err != nil {
		return err
	}
	var m pyproject
	if err := ecosystem.ReadTOML(text, &m); err != nil {
		r.s.AddNote("%s cannot be read: %s", name, safetext.Cut(safetext.StripLine(err.Error()), 60))
		return nil
	}
	kept := 0
	for _, l := range m.wanted() {
		l = strings.Join(strings.Fields(l), " ")
		if !registryLineRE.MatchString(l) {
			r.noteSkipped(name, l)
			continue
		}
		kept++
		r.lines = append(r.lines, l)
	}
	if kept == 0 {
		return nil
	}
	r.locks[name] = text
	r.from = append(r.from, name)
	return r.readPins(dir)
}

// wanted are the requirements of a project and of working on it.
func (m *pyproject) wanted() []string {
	lines := slices.Clone(m.Project.Dependencies)
	for _, g := range devGroups {
		lines = append(lines, m.Project.Optional[g]...)
		for _, l := range m.Groups[g] {
			if s, ok := l.(string); ok {
				lines = append(lines, s)
			}
		}
	}
	named := []map[string]any{m.Tool.Poetry.Dependencies, m.Tool.Poetry.Dev}
	for _, g := range slices.Sorted(maps.Keys(m.Tool.Poetry.Group)) {
		named = append(named, m.Tool.Poetry.Group[g].Dependencies)
	}
	for _, set := range named {
		for _, n := range slices.Sorted(maps.Keys(set)) {
			if _, isTable := set[n].(map[string]any); n != "python" && !isTable {
				lines = append(lines, n)
			}
		}
	}
	return lines
}

// readPins reads the versions that a project's own tool has locked.
func (r *requirements) readPins(dir string) error {
	for _, lock := range []string{"uv.lock", "poetry.lock", "pdm.lock", "pylock.toml"} {
		name := path.Join(dir, lock)
		if !r.s.HasFile(name) {
			continue
		}
		text, err := ecosystem.ReadText(r.s, name)
		if err != nil {
			return err
		}
		r.locks[name] = text
		found, err := parseTOMLLock(text)
		if err != nil {
			r.s.AddNote("%s cannot be read: %v", name, err)
		}
		found = slices.DeleteFunc(found, func(d company.Dependency) bool { return checkName(d.Name, d.Version) != nil })
		slices.SortFunc(found, func(a, b company.Dependency) int { return strings.Compare(a.String(), b.String()) })
		found = slices.Compact(found)
		versions := map[string]int{}
		for _, d := range found {
			versions[d.Name]++
		}
		for _, d := range found {
			if versions[d.Name] == 1 && d.Version != "" { // else it depends on the platform which one
				r.constraints = append(r.constraints, d.Name+"=="+d.Version)
			}
		}
		return nil
	}
	r.s.AddNote("%s has no lock file: the image has the versions that the registry gave when it was made", path.Join(dir, "pyproject.toml"))
	return nil
}
